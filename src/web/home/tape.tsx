/** A tape of the newest trades, which moves only when there are any. */
import { shortAda } from '../format.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { routeHash } from '../route.ts';

/** As many as a column beside the table has room for, where the screen is wide; or a row. */
const isColumn = matchMedia('(min-width: 1920px)').matches;
/** More often is faster than one reads. */
const OPTIONS = { limit: isColumn ? 40 : 14, maxHz: 1 };

export function Tape() {
  const { client } = usePage();
  const followed = useMirror('tape', () => client.newestTrades(OPTIONS), []).value;
  return (
    <ol class="ticker-tape" aria-label={t.home.tape}>
      {followed?.mirror.state?.map(({ id, asset, ticker, side, quoteAmount }) => (
        <li key={`${asset} ${id}`}>
          <a href={routeHash({ at: 'token', asset })} tabIndex={-1}>
            <bdi class="cut">{ticker}</bdi>
            <span class={side === 'buy' ? 'up' : 'down'}>
              {side === 'buy' ? '▲' : '▼'} {shortAda(quoteAmount)}
            </span>
          </a>
        </li>
      ))}
    </ol>
  );
}
