/** Feed lines of a few pairs, for tests that care about time and order and not about prices. */
interface LineOptions {
  readonly id: string;
  readonly timeMs: number;
  readonly pair?: number;
  readonly base?: number;
  readonly quote?: number;
  readonly baseDecimals?: number;
}

export function pairOf(pair: number): string {
  return `${baseOf(pair)}_.`;
}

function baseOf(pair: number): string {
  return `${String(pair).repeat(56)}.`;
}

export function tradeLine(options: LineOptions): string {
  const { id, timeMs, pair = 1, base = 1, quote = 1, baseDecimals = 0 } = options;
  return JSON.stringify({
    id,
    timeMs,
    base: baseOf(pair),
    quote: '.',
    baseDecimals,
    quoteDecimals: 6,
    baseAmount: String(base),
    quoteAmount: String(quote),
  });
}

/** `count` trades of `pairs` pairs in turn, `everyMs` apart. */
export function manyLines(count: number, fromMs: number, everyMs: number, pairs = 3): string[] {
  return Array.from({ length: count }, (_, index) =>
    tradeLine({
      id: String(fromMs + index),
      timeMs: fromMs + index * everyMs,
      pair: index % pairs,
      base: 1 + (index % 7),
      quote: 1 + ((index * 13) % 11),
    }),
  );
}

export function rollbackTo(toMs: number): string {
  return JSON.stringify({ rollbackToMs: toMs });
}
