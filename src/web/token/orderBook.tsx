/**
 * The amounts that the pool trades at each price: a picture of its depth, and a ladder of prices
 * around spot. Open orders are marks in the picture and a line below: they are no liquidity for
 * takers.
 */

import type { OrderBook as Book } from '../../client/index.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { Panel } from '../components/panel.tsx';
import { money, shortMoney } from '../fiat.ts';
import { columnPrice, localized, short } from '../format.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';

/** Levels of each side that are written down, those nearest to spot. */
const LEVELS = 5;
const PLACES = Array.from({ length: LEVELS }, (_, index) => index);
/** Levels of each side in the picture. */
const DRAWN = 40;

const fourDigits = (price: string) => columnPrice(price, 4);

type Level = Book['asks'][number];
type Kind = 'ask' | 'bid';

export function OrderBook({ asset }: { readonly asset: string }) {
  const { client } = usePage();
  const followed = useMirror('book', () => client.watchOrderBook(asset), [asset]).value;
  const book = followed?.mirror.state ?? null;
  const [asks, bids] = [book?.asks ?? [], book?.bids ?? []];
  const most = largestTotal(asks.slice(0, LEVELS), bids.slice(0, LEVELS));
  const rowOf = (kind: Kind, side: readonly Level[], place: number, none: string) => (
    <LevelRow
      key={`${kind} ${place}`}
      kind={kind}
      level={side[place] ?? null}
      most={most}
      // Words take the place of a row, so that nothing jumps.
      none={place === 0 && book !== null ? none : ''}
    />
  );
  return (
    <Panel class="depth" title={t.token.book} side={book === null ? null : <Waiting book={book} />}>
      {book === null ? <div class="depth-picture" /> : <Picture book={book} />}
      <div class="book-head" aria-hidden="true">
        <span>{t.token.bookPrice}</span>
        <span>{t.token.tokens}</span>
        <span>{t.token.bookTotal}</span>
      </div>
      <ol class="book" aria-label={t.token.book}>
        {/* Counted from the spot price outwards, so the asks are reversed. */}
        {PLACES.toReversed().map((place) => rowOf('ask', asks, place, t.token.noSells))}
        <li class="spot">
          {book === null ? '' : t.token.poolPrice({ price: money(book.spot, fourDigits) })}
        </li>
        {PLACES.map((place) => rowOf('bid', bids, place, t.token.noBuys))}
      </ol>
      {followed?.error ? <ErrorBox error={followed.error} /> : null}
    </Panel>
  );
}

function Waiting({ book: { limits, pending } }: { readonly book: Book }) {
  const waiting = [...limits.buys, ...limits.sells].reduce((sum, { orders }) => sum + orders, 0);
  const filling = pending.buys + pending.sells;
  return <span class="side">{t.token.bookCounts({ filling, waiting })}</span>;
}

function largestTotal(...sides: readonly (readonly Level[])[]): bigint {
  return sides
    .flat()
    .reduce((most, { total }) => (BigInt(total) > most ? BigInt(total) : most), 1n);
}

interface LevelRowProps {
  readonly kind: Kind;
  readonly level: Level | null;
  readonly most: bigint;
  readonly none: string;
}

function LevelRow({ kind, level, most, none }: LevelRowProps) {
  if (level === null) {
    return (
      <li class={`level ${kind}`}>
        <span class="dim">{none}</span>
      </li>
    );
  }
  const { price, amount, total } = level;
  return (
    <li
      class={`level ${kind}`}
      title={t.token.adaEach({ price: localized(price) })}
      style={{ '--depth': `${(BigInt(total) * 100n) / most}%` }}
    >
      <span class={kind === 'ask' ? 'down' : 'up'}>{money(price, fourDigits)}</span>
      <span class="num">{short(amount)}</span>
      <span class="num">{shortMoney(formatPrice(BigInt(total), 1n))}</span>
    </li>
  );
}

const [WIDTH, HEIGHT] = [400, 90];

/** Lovelace up to each price, from spot in the middle to both sides; limit orders are marks. */
function Picture({ book }: { readonly book: Book }) {
  const asks = book.asks.slice(0, DRAWN);
  const bids = book.bids.slice(0, DRAWN);
  const spot = Number(book.spot);
  const prices = [...asks, ...bids].map(({ price }) => Math.abs(Number(price) - spot));
  const reach = Math.max(...prices, spot / 1_000);
  const most = Number(largestTotal(asks, bids));
  const x = (price: number) => (WIDTH * (1 + (price - spot) / reach)) / 2;
  const y = (total: string) => HEIGHT - (Number(total) / most) * (HEIGHT - 8);
  const area = (side: readonly Level[]) => {
    const [first] = side;
    if (first === undefined) return '';
    const steps = side.map(
      ({ price, total }) => `H${x(Number(price)).toFixed(1)}V${y(total).toFixed(1)}`,
    );
    const last = x(Number(side.at(-1)?.price)).toFixed(1);
    return `M${x(spot).toFixed(1)} ${HEIGHT}${steps.join('')}L${last} ${HEIGHT}Z`;
  };
  const marks = (
    [
      ['ask', book.limits.sells],
      ['bid', book.limits.buys],
    ] as const
  ).flatMap(([kind, levels]) =>
    levels
      .map(({ price, orders }) => ({ kind, at: x(Number(price)), price, orders }))
      .filter(({ at }) => at >= 0 && at <= WIDTH),
  );
  return (
    <svg
      class="depth-picture"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={t.token.depthPicture}
    >
      <path class="bid" d={area(bids)} />
      <path class="ask" d={area(asks)} />
      <line class="spot" x1={WIDTH / 2} x2={WIDTH / 2} y1="0" y2={HEIGHT} />
      {marks.map(({ kind, at, price, orders }) => (
        <line
          key={`${kind} ${price}`}
          class={`mark ${kind}`}
          x1={at}
          x2={at}
          y1={HEIGHT - 14}
          y2={HEIGHT}
        >
          <title>{t.token.limitMark({ orders, price: localized(price) })}</title>
        </line>
      ))}
    </svg>
  );
}
