/** Large shares of the tokens outside the pool, as badges; nothing where none is large. */
import type { Ticker } from '../../client/types.ts';
import { shortPercent } from '../format.ts';
import { t } from '../messages.ts';
import { cautionsOf } from '../trust.ts';
import { Icon } from './icon.tsx';

/**
 * `isShort`: one badge, in whole percent; its title names all. In a narrow row the stylesheet hides
 * the sign and keeps the word.
 */
export function TrustBadges({ ticker, isShort = false }: { ticker: Ticker; isShort?: boolean }) {
  const all = cautionsOf(ticker);
  if (all.length === 0) return null;
  const { badges, base } = t.trust;
  const shown = isShort ? all.slice(0, 1) : all;
  const title = all.map(({ share, percent }) => `${badges[share]} ${shortPercent(percent)}%`);
  return (
    <span class="badges" title={`${title.join(' · ')}. ${base}`}>
      {shown.map(({ share, percent }) => (
        <span key={share} class="badge">
          <Icon name="caution" />
          {badges[share]} {isShort ? percent.replace(/\..*/, '') : shortPercent(percent)}%
        </span>
      ))}
    </span>
  );
}
