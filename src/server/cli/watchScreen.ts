/**
 * Renders the market as lines of text: a list of pools, or one token with its bars and orders.
 * Pure. Removes control characters from names: a name must not move the cursor.
 */

import sliceAnsi from 'slice-ansi';
import stringWidth from 'string-width';
import type { OrdersState, PriceBar } from '../../client/index.ts';
import type { ConnectionState } from '../../client/socket/connection.ts';
import type {
  ApiOrder,
  LiquidityPoolInfo,
  Ticker,
  TokenInsightsAnswer,
} from '../../client/types.ts';
import { counted } from '../../engine/runtime/counted.ts';
import { ada, age, cut, ends, grouped, short, shortPrice } from '../../web/format.ts';
import { statusText } from '../../web/token/orderStatus.ts';
import { TRUST_LINES, trustLines } from './trustLines.ts';

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  /** The user's wall clock. */
  readonly nowMs: number;
  /** Colours are escape sequences, which not every output shows. */
  readonly isColoured: boolean;
}

export const GAP = '  ';
const MIN_COLUMNS = 40;
/** Lines around the tables. */
const LIST_FRAME = 5;
const TOKEN_FRAME = 12 + TRUST_LINES;
const SHOWN_BARS = 8;
/** Rows of the candles, if the screen has room for them. */
const CANDLE_ROWS = 10;
const ROWS_WITH_CANDLES = 34;

/** `tickers`: in the order of the list. */
export function listScreen(
  list: string,
  tickers: readonly Ticker[],
  status: string,
  screen: Screen,
) {
  const room = Math.max(1, screen.rows - LIST_FRAME);
  const rows = tickers
    .slice(0, room)
    .map((each, index) => [
      String(index + 1),
      plain(each.ticker),
      plain(each.name),
      each.marketCap === null ? '' : `${grouped(cut(each.marketCap, 0))} ₳`,
      changeText(each.change24h ?? undefined, screen),
      each.graduated === true ? 'graduated' : percentText(each.progress),
      `${grouped(cut(each.volume24h, 0))} ₳`,
      each.holders === null ? '' : grouped(String(each.holders)),
      percentText(each.top10Percent),
      percentText(each.authorPercent),
      percentText(each.snipersPercent),
      each.lastTradeTime === null ? '' : age(screen.nowMs / 1000 - each.lastTradeTime),
    ]);
  const empty = tickers.length === 0 ? ['', 'Nothing here yet.'] : [];
  const [left, right] = [false, true];
  const alignment = [right, left, left, ...Array.from({ length: 9 }, () => right)];
  return fit(
    [
      `upcurve${GAP}${list}${GAP}(shares: of the supply outside the pool)`,
      '',
      ...table([HEADS, ...rows], alignment),
      ...empty,
      '',
      status,
    ],
    screen,
  );
}

/** Shares are of the supply outside the pool. */
const HEADS = [
  ...['#', 'ticker', 'name', 'market cap', '24h', 'curve', 'volume 24h', 'holders', 'top 10'],
  ...['author', 'snipers', 'last'],
];

function percentText(percent: string | null): string {
  return percent === null ? '' : `${percent} %`;
}

/** Green where it rose, red where it fell. */
export function changeText(percent: string | undefined, { isColoured }: Screen): string {
  if (percent === undefined) return '';
  const fell = percent.startsWith('-');
  const text = `${fell ? '' : '+'}${cut(percent, 1)} %`;
  return isColoured ? `${fell ? RED : GREEN}${text}${PLAIN}` : text;
}

interface Token {
  /** null: the server knows no such token. */
  readonly pool: LiquidityPoolInfo | null;
  /** Percent in 24 hours. */
  readonly change: string | undefined;
  /** null: not known yet. */
  readonly insights: TokenInsightsAnswer | null;
  /** Oldest first. */
  readonly bars: readonly PriceBar[];
  readonly orders: OrdersState;
}

export function tokenScreen(
  { pool, change, insights, bars, orders }: Token,
  status: string,
  screen: Screen,
) {
  if (pool === null) return fit(['', 'The server knows no such token, yet.', '', status], screen);
  const { info, metrics } = pool;
  const last = bars.at(-1);
  const rise = change === undefined ? '' : `${GAP}${changeText(change, screen)} in 24h`;
  const price = last === undefined ? '' : `${GAP}${last.close} ₳${rise}`;
  const cap = `market cap ${ada(metrics.marketCap, 0)}`;
  const figures = [cap, `curve ${progressOf(pool.pool)}`, `volume ${ada(metrics.totalVolumeAda)}`];
  const newest = bars.slice(-SHOWN_BARS).reverse();
  const span = bars.slice(-Math.max(MIN_COLUMNS, screen.columns));
  const chart =
    screen.rows >= ROWS_WITH_CANDLES
      ? candles(span, CANDLE_ROWS, screen.isColoured)
      : [sparkline(span.map(({ close }) => close))];
  const room = Math.max(1, screen.rows - TOKEN_FRAME - newest.length - chart.length);
  const shown = [...orders.mempool, ...orders.ledger].slice(0, room);
  const head = [
    `${plain(info.ticker)}${GAP}${plain(info.name)}${price}`,
    [...figures, counted(metrics.totalTxCount, 'trade')].join(GAP),
    ...trustLines(insights),
    '',
  ];
  const below = fit(
    [
      '',
      ...table([['minute', 'open', 'high', 'low', 'close', 'volume'], ...newest.map(barRow)]),
      '',
      ...table([['order', 'offers', 'gets', 'state', 'placed', 'id'], ...shown.map(row)]),
      '',
      status,
    ],
    { ...screen, rows: Math.max(1, screen.rows - head.length - chart.length) },
  );
  return [...fit([...head, ...chart], screen), ...below];

  function row(order: ApiOrder): string[] {
    const isBuy = order.from === '.';
    const offers = isBuy ? ada(order.fromAmount) : short(order.fromAmount);
    const gets = isBuy ? short(order.toAmount) : ada(order.toAmount);
    const placed = age(screen.nowMs / 1000 - order.timestamp);
    const side = isBuy ? 'buy' : 'sell';
    const name = screen.isColoured ? `${isBuy ? GREEN : RED}${side}${PLAIN}` : side;
    return [name, offers, gets, statusText(order).name, placed, ends(order.entityId, 4)];
  }
}

/** One line: state of the connection and age of the data. */
export function statusLine({ is, node, tip, retryAtMs, why }: ConnectionState, nowMs: number) {
  const state = is === 'open' ? 'live' : is;
  const lag = tip?.lagMs === null || tip === null ? '' : `${GAP}tip ${age(tip.lagMs / 1000)} ago`;
  const wait = retryAtMs === null ? '' : `${GAP}next try in ${age((retryAtMs - nowMs) / 1000)}`;
  return `${state}${GAP}${plain(node)}${lag}${wait}${why === null ? '' : `${GAP}${plain(why)}`}`;
}

const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** A bar a column: `│` from low to high, a block from open to close, hollow where it rose. */
export function candles(bars: readonly PriceBar[], rows: number, isColoured: boolean): string[] {
  const lows = bars.map(({ low }) => units(low));
  const highs = bars.map(({ high }) => units(high));
  const least = lows.reduce((a, b) => (b < a ? b : a), lows[0] ?? 0n);
  const range = highs.reduce((a, b) => (b > a ? b : a), least) - least;
  const top = BigInt(rows - 1);
  const rowOf = (decimal: string) =>
    range === 0n ? 0 : Number(((units(decimal) - least) * top + range / 2n) / range);
  const columns = bars.map(({ open, high, low, close }) => {
    const [first, last] = [rowOf(open), rowOf(close)];
    return {
      rises: units(close) >= units(open),
      ...{ from: rowOf(low), to: rowOf(high) },
      ...{ bottom: Math.min(first, last), top: Math.max(first, last) },
    };
  });
  return Array.from({ length: rows }, (_, index) => {
    const at = rows - 1 - index;
    const cells = columns.map(({ rises, from, to, bottom, top }) => {
      if (at < from || at > to) return ' ';
      const cell = at < bottom || at > top ? '│' : rises ? '░' : '█';
      return isColoured ? `${rises ? GREEN : RED}${cell}${PLAIN}` : cell;
    });
    return cells.join('').trimEnd();
  });
}

export const GREEN = '\x1b[32m';
export const RED = '\x1b[31m';
export const PLAIN = '\x1b[39m';

/** Decimals as blocks between the lowest and the highest value. */
export function sparkline(decimals: readonly string[]): string {
  const values = decimals.map(units);
  const [first = 0n] = values;
  const least = values.reduce((a, b) => (b < a ? b : a), first);
  const range = values.reduce((a, b) => (b > a ? b : a), first) - least;
  const top = BigInt(BLOCKS.length - 1);
  return values
    .map((value) => BLOCKS[range === 0n ? 0 : Number(((value - least) * top) / range)])
    .join('');
}

const DIGITS = 18;

function units(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, '0'));
}

function barRow({ time, open, high, low, close, volume }: PriceBar): string[] {
  const minute = new Date(time * 1000).toISOString().slice(11, 16);
  return [minute, ...[open, high, low, close].map((price) => shortPrice(price)), vol(volume)];
}

function vol(volume: string): string {
  return grouped(cut(volume, 2));
}

function progressOf({ x, adaCapThreshold, cpmmPoolId }: LiquidityPoolInfo['pool']): string {
  if (cpmmPoolId !== null) return 'graduated';
  const hundredths = (BigInt(x.amount) * 10_000n) / BigInt(adaCapThreshold);
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')} %`;
}

export function plain(text: string): string {
  return text.replaceAll(/\p{C}/gu, ' ').trim();
}

/** Columns as wide on a terminal as their widest cell; `right`: aligned to the right. */
export function table(
  rows: readonly (readonly string[])[],
  right: readonly boolean[] = [],
): string[] {
  const heads = rows[0] ?? [];
  const widths = heads.map((_, at) => Math.max(...rows.map((row) => stringWidth(row[at] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, at) => {
        const space = ' '.repeat((widths[at] ?? 0) - stringWidth(cell));
        return right[at] === true ? space + cell : cell + space;
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** Cuts lines to the columns of the screen: some characters take two, colours none. */
export function fit(lines: readonly string[], { columns, rows }: Screen): string[] {
  const width = Math.max(MIN_COLUMNS, columns);
  return lines.slice(0, rows).map((line) => sliceAnsi(line, 0, width));
}
