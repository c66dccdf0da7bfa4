/**
 * The stored form of a bar: tab-separated text, the same on every node, because it is what the
 * state hash covers. Trade ids hold no control characters (the ingest refuses them).
 */
import type { Bar } from './bar.ts';
import type { Trade } from './trade.ts';

const FIELDS = 20;
/** A trade stands in many bars and many before-images: its text is made once. */
const texts = new WeakMap<Trade, string>();

export function encodeBar(bar: Bar): string {
  const { open, high, low, close } = bar;
  const first = `${tradeText(open)}\t${tradeText(high)}`;
  const last = `${tradeText(low)}\t${tradeText(close)}`;
  const sums = `${bar.quoteVolume}\t${bar.baseVolume}\t${bar.trades}`;
  return `${first}\t${last}\t${sums}\t${bar.final ? 1 : 0}`;
}

/** Throws `SyntaxError`, as JSON and BigInt do, when the text is not a bar: the row is damaged. */
export function decodeBar(startMs: number, text: string): Bar {
  const fields = text.split('\t');
  check(fields.length === FIELDS, `a stored bar has ${FIELDS} fields: ${text}`);
  const open = tradeAt(fields, 0);
  const close = tradeAt(fields, 12);
  const trades = Number(fieldAt(fields, 18));
  const final = fieldAt(fields, 19);
  check(Number.isSafeInteger(trades), 'a stored bar has an integer number of trades');
  check(final === '0' || final === '1', 'a stored bar is final or not');
  return {
    startMs,
    open,
    high: tradeAt(fields, 4),
    low: tradeAt(fields, 8),
    close,
    quoteVolume: BigInt(fieldAt(fields, 16)),
    baseVolume: BigInt(fieldAt(fields, 17)),
    trades,
    final: final === '1',
  };
}

function tradeText(trade: Trade): string {
  let text = texts.get(trade);
  if (text === undefined) {
    text = `${trade.timeMs}\t${trade.id}\t${trade.baseAmount}\t${trade.quoteAmount}`;
    texts.set(trade, text);
  }
  return text;
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

function fieldAt(fields: readonly string[], index: number): string {
  const field = fields[index];
  check(field !== undefined && field !== '', `stored field ${index} is present`);
  return field;
}

function check(condition: unknown, expected: string): asserts condition {
  if (!condition) throw new SyntaxError(expected);
}
