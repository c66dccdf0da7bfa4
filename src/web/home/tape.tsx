/** A tape of the newest trades, which moves only when there are any. */
import { shortAda } from '../format.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { routeHash } from '../route.ts';

/** More of them, or more often, is faster than one reads. */
const OPTIONS = { limit: 14, maxHz: 1 };

export function Tape() {
  const { client } = usePage();
  const followed = useMirror('tape', () => client.newestTrades(OPTIONS), []).value;
  return (
    <ol class="ticker-tape" aria-label={t.home.tape}>
      {followed?.mirror.state?.map(({ id, asset, ticker, side, quoteAmount }) => (
        <li key={`${asset} ${id}`}>
          <a href={routeHash({ at: 'token', asset })} tabIndex={-1}>
            <bdi>{ticker}</bdi>
            <span class={side === 'buy' ? 'up' : 'down'}>
              {side === 'buy' ? '▲' : '▼'} {shortAda(quoteAmount)}
            </span>
          </a>
        </li>
      ))}
    </ol>
  );
}
