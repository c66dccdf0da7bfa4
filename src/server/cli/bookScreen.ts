/** Renders an order book as lines of text: asks above spot, bids below, limit orders beside. */

import type { LiquidityPoolInfo, OrderBook, TokenInsightsAnswer } from '../../client/types.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { counted } from '../../engine/runtime/counted.ts';
import { ada, grouped, short } from '../../web/format.ts';
import { TRUST_LINES, trustLines } from './trustLines.ts';
import { fit, GAP, GREEN, PLAIN, plain, RED, type Screen, table } from './watchScreen.ts';

interface ShownBook {
  readonly info: LiquidityPoolInfo['info'] | null;
  /** null: the server knows no such token. */
  readonly book: OrderBook | null;
  /** null: not known yet. */
  readonly insights: TokenInsightsAnswer | null;
}

/** Lines around the levels. */
const FRAME = 9 + TRUST_LINES;
const MAX_LEVELS = 20;
const MAX_LIMITS = 3;
const BAR_COLUMNS = 20;

export function bookScreen(
  { info, book, insights }: ShownBook,
  status: string,
  screen: Screen,
): string[] {
  if (info === null || book === null) {
    return fit(['', 'The server knows no such token, yet.', '', status], screen);
  }
  const room = Math.floor((screen.rows - FRAME - 2 * MAX_LIMITS) / 2);
  const levels = Math.min(MAX_LEVELS, Math.max(1, room));
  const [asks, bids] = [book.asks.slice(0, levels), book.bids.slice(0, levels)];
  const most = [...asks, ...bids].reduce((sum, { total }) => max(sum, BigInt(total)), 1n);
  const cells = ({ price, amount, total }: OrderBook['asks'][number]) => [
    price,
    grouped(amount),
    grouped(formatPrice(BigInt(total), 1n)),
    '█'.repeat(Number((BigInt(total) * BigInt(BAR_COLUMNS)) / most)),
  ];
  const rows = [...asks.toReversed(), ...bids].map(cells);
  const lines = table([['price', 'tokens', 'total ADA', ''], ...rows], [true, true, true, false]);
  const [heads = '', ...drawn] = lines.map((line) => line.trimEnd());
  const { limits, pending } = book;
  const filling = [`${pending.buys} buys`, ada(pending.buyLovelace), `${pending.sells} sells`];
  const limitLines = [
    ...limits.sells.slice(0, MAX_LIMITS).map((level) => `sell${GAP}${limitText(level)}`),
    ...limits.buys.slice(0, MAX_LIMITS).map((level) => `buy ${GAP}${limitText(level)}`),
  ];
  const coloured = drawn.map((line, index) => {
    if (!screen.isColoured) return line;
    return `${index < asks.length ? RED : GREEN}${line}${PLAIN}`;
  });
  const title = `${plain(info.ticker)}${GAP}${plain(info.name)}${GAP}${book.spot} ₳`;
  const below = [
    '',
    `being filled${GAP}${filling.join(GAP)}${GAP}${short(pending.sellTokens)}`,
    ...(limitLines.length === 0 ? ['no limit orders'] : ['limit orders', ...limitLines]),
    '',
    status,
  ];
  const spot = `${GAP}spot ${book.spot}`;
  const [above, under] = [coloured.slice(0, asks.length), coloured.slice(asks.length)];
  return fit(
    [title, ...trustLines(insights), '', heads, ...above, spot, ...under, ...below],
    screen,
  );
}

function limitText({ price, amount, orders }: OrderBook['limits']['buys'][number]): string {
  return `${price}${GAP}${grouped(amount)} tokens${GAP}${counted(orders, 'order')}`;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
