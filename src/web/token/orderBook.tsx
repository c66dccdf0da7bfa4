/** Open orders by their worst price, sellers above and buyers below the price of the pool. */
import { ErrorBox } from '../components/errorBox.tsx';
import { Panel } from '../components/panel.tsx';
import { money } from '../fiat.ts';
import { localized, short, subscriptZeros } from '../format.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';

/** Levels of each side; the nearest to the spot price. */
const LEVELS = 4;
const PLACES = Array.from({ length: LEVELS }, (_, index) => index);

const sixDigits = (price: string) => subscriptZeros(price, 6);

type Level = readonly [price: string, tokens: string];

export function OrderBook({ asset }: { readonly asset: string }) {
  const { client } = usePage();
  const followed = useMirror('book', () => client.orderBook(asset), [asset]).value;
  const book = followed?.mirror.state ?? null;
  const asks = book?.asks ?? [];
  const bids = book?.bids ?? [];
  const most = largest([...asks.slice(0, LEVELS), ...bids.slice(0, LEVELS)]);
  return (
    <Panel
      class="depth"
      title={t.token.book}
      side={
        <span class="side">{t.token.bookCounts({ asks: asks.length, bids: bids.length })}</span>
      }
    >
      <div class="book-head" aria-hidden="true">
        <span>{t.token.worstPrice}</span>
        <span>{t.token.tokens}</span>
      </div>
      <ol class="book" aria-label={t.token.book}>
        {/* Counted from the spot price outwards, so the sellers are reversed. */}
        {PLACES.toReversed().map((place) => (
          <LevelRow
            key={`ask ${place}`}
            kind="ask"
            level={asks[place] ?? null}
            most={most}
            // Orders come and go with the blocks: words take the place of a row, nothing jumps.
            none={place === 0 && book !== null ? t.token.noSells : ''}
          />
        ))}
        <li class="spot">
          {book === null ? '' : t.token.poolPrice({ price: money(book.spot, sixDigits) })}
        </li>
        {PLACES.map((place) => (
          <LevelRow
            key={`bid ${place}`}
            kind="bid"
            level={bids[place] ?? null}
            most={most}
            none={place === 0 && book !== null ? t.token.noBuys : ''}
          />
        ))}
      </ol>
      {followed?.error ? <ErrorBox error={followed.error} /> : null}
    </Panel>
  );
}

function largest(levels: readonly Level[]): bigint {
  return levels.reduce((most, [, tokens]) => (BigInt(tokens) > most ? BigInt(tokens) : most), 1n);
}

interface LevelRowProps {
  readonly kind: 'ask' | 'bid';
  readonly level: Level | null;
  readonly most: bigint;
  readonly none: string;
}

function LevelRow({ kind, level, most, none }: LevelRowProps) {
  if (level === null) {
    return (
      <li class={`level ${kind}`}>
        <span class="dim">{none}</span>
        <span class="num" />
      </li>
    );
  }
  const [price, tokens] = level;
  return (
    <li
      class={`level ${kind}`}
      title={t.token.adaEach({ price: localized(price) })}
      style={{ '--depth': `${(BigInt(tokens) * 100n) / most}%` }}
    >
      <span class={kind === 'ask' ? 'down' : 'up'}>{money(price, sixDigits)}</span>
      <span class="num">{short(tokens)}</span>
    </li>
  );
}
