/**
 * The stored form of a bar: tab-separated text, the same on every node, because `--verify` compares
 * digests of the rows. Trade ids hold no control characters (the ingest refuses them).
 */
import type { Bar, PoolRange } from './bar.ts';
import type { Ratio } from './ratio.ts';
import type { Trade } from './trade.ts';

/** Fields of a pair without a pool; with a pool, the pool's range replaces one of these. */
const FIELDS = 21;
const POOL_FIELDS = 25;
const TRADE_FIELDS = 4;
const NO_POOL = '-';
/** A trade stands in several bars that are written together: its text is made once. */
const KEPT_TEXTS = 8;
const kept: { readonly trade: Trade; readonly text: string }[] = [];
let oldest = 0;

export function encodeBar(bar: Bar): string {
  const { open, high, low, close } = bar;
  const first = `${tradeText(open)}\t${tradeText(high)}`;
  const last = `${tradeText(low)}\t${tradeText(close)}`;
  const sums = `${bar.quoteVolume}\t${bar.baseVolume}\t${bar.trades}`;
  return `${first}\t${last}\t${sums}\t${poolText(bar.pool)}\t${bar.final ? 1 : 0}`;
}

/** Throws `SyntaxError`, as JSON and BigInt do, when the text is not a bar: the row is damaged. */
export function decodeBar(startMs: number, text: string): Bar {
  const fields = text.split('\t');
  const isOfPool = fields.length === POOL_FIELDS;
  check(
    isOfPool || fields.length === FIELDS,
    `a stored bar has ${FIELDS} or ${POOL_FIELDS} fields`,
  );
  const open = tradeAt(fields, 0);
  const close = isSameTrade(fields, 12, 0) ? open : tradeAt(fields, 12);
  const endAt = (index: number) =>
    isSameTrade(fields, index, 0)
      ? open
      : isSameTrade(fields, index, 12)
        ? close
        : tradeAt(fields, index);
  const trades = Number(fieldAt(fields, 18));
  const final = fieldAt(fields, fields.length - 1);
  check(Number.isSafeInteger(trades), 'a stored bar has an integer number of trades');
  check(final === '0' || final === '1', 'a stored bar is final or not');
  return {
    startMs,
    open,
    high: endAt(4),
    low: endAt(8),
    close,
    quoteVolume: BigInt(fieldAt(fields, 16)),
    baseVolume: BigInt(fieldAt(fields, 17)),
    trades,
    pool: isOfPool ? poolAt(fields, trades) : noPoolAt(fields),
    final: final === '1',
  };
}

function tradeText(trade: Trade): string {
  for (const known of kept) if (known.trade === trade) return known.text;
  const text = `${trade.timeMs}\t${trade.id}\t${trade.baseAmount}\t${trade.quoteAmount}`;
  kept[oldest] = { trade, text };
  oldest = (oldest + 1) % KEPT_TEXTS;
  return text;
}

function poolText(pool: PoolRange | null): string {
  if (pool === null) return NO_POOL;
  const { buys, open, high, low, close } = pool;
  const ends = `${ratioText(open)}\t${endText(high, pool)}`;
  return `${buys}\t${ends}\t${endText(low, pool)}\t${ratioText(close)}`;
}

/** Mostly the high and the low are the open and the close. */
function endText(end: Ratio, { open, close }: PoolRange): string {
  if (isSame(end, open)) return OPEN;
  return isSame(end, close) ? CLOSE : ratioText(end);
}

function isSame(a: Ratio, b: Ratio): boolean {
  return a.numerator === b.numerator && a.denominator === b.denominator;
}

const OPEN = 'o';
const CLOSE = 'c';

function ratioText({ numerator, denominator }: Ratio): string {
  return `${numerator}/${denominator}`;
}

function poolAt(fields: readonly string[], trades: number): PoolRange {
  const buys = Number(fieldAt(fields, 19));
  check(Number.isSafeInteger(buys) && buys >= 0 && buys <= trades, 'a stored bar counts its buys');
  const open = ratioOf(fieldAt(fields, 20));
  const close = ratioOf(fieldAt(fields, 23));
  const end = (text: string) => (text === OPEN ? open : text === CLOSE ? close : ratioOf(text));
  return { buys, open, high: end(fieldAt(fields, 21)), low: end(fieldAt(fields, 22)), close };
}

function noPoolAt(fields: readonly string[]): null {
  check(fieldAt(fields, 19) === NO_POOL, 'a stored bar is of a pool or of none');
  return null;
}

function ratioOf(text: string): Ratio {
  const [numerator = '', denominator = '', more] = text.split('/');
  check(numerator !== '' && denominator !== '' && more === undefined, 'a stored spot is a ratio');
  const ratio = { numerator: BigInt(numerator), denominator: BigInt(denominator) };
  check(ratio.denominator > 0n, 'a stored spot is a ratio of something');
  return ratio;
}

function tradeAt(fields: readonly string[], index: number): Trade {
  const timeMs = Number(fieldAt(fields, index));
  check(Number.isSafeInteger(timeMs), 'a stored trade has an integer time');
  return {
    timeMs,
    id: fieldAt(fields, index + 1),
    baseAmount: BigInt(fieldAt(fields, index + 2)),
    quoteAmount: BigInt(fieldAt(fields, index + 3)),
  };
}

/** A bar of few trades has one of them in several places: it is read, and shown, once. */
function isSameTrade(fields: readonly string[], index: number, known: number): boolean {
  for (let at = 0; at < TRADE_FIELDS; at += 1) {
    if (fields[index + at] !== fields[known + at]) return false;
  }
  return true;
}

function fieldAt(fields: readonly string[], index: number): string {
  const field = fields[index];
  check(field !== undefined && field !== '', `stored field ${index} is present`);
  return field;
}

function check(condition: unknown, expected: string): asserts condition {
  if (!condition) throw new SyntaxError(expected);
}
