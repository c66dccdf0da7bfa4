/** Synthetic trades for benches: a seeded random walk of price, spread over `pairs` pairs. */
import {
  NO_HASH,
  type SealedEntry,
  sealEntry,
  type TradeEvent,
} from '../../src/engine/log/entry.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';

export const QUOTE = '.';
const MINUTE_MS = 60_000;
export const START_MS = 1_700_000_000_000;

export interface Timed {
  readonly atMs: number;
  readonly trade: TradeEvent;
}

/** The asset id of a pair's base. */
export function assetOf(pair: number): string {
  return `${pair.toString(16).padStart(56, '0')}.544f4b454e`;
}

/** Lines of a feed: moments at a fixed distance, with one trade of every pair in each. */
export class PairWalk {
  readonly #rng = seededRng(1);
  #id = 10_000_000;
  #timeMs = START_MS;
  #price = 2_545_182;

  /** Time of the newest lines. */
  get timeMs(): number {
    return this.#timeMs;
  }

  /** A feed that ended has ended its minute, so a trade after it belongs to the next one. */
  nextMinute(): void {
    this.#timeMs = Math.ceil((this.#timeMs + 1) / MINUTE_MS) * MINUTE_MS;
  }

  lines(pairs: number, everyMs: number): string {
    this.#timeMs += everyMs;
    let text = '';
    for (let pair = 0; pair < pairs; pair += 1) {
      this.#id += 1;
      const step = Math.floor((this.#rng.unit() - 0.5) * 10_000);
      this.#price = Math.max(1_000, this.#price + step);
      const base = 1_000 + Math.floor(this.#rng.unit() * 1_000_000);
      const line = {
        id: String(this.#id),
        timeMs: this.#timeMs,
        base: assetOf(pair),
        quote: QUOTE,
        baseDecimals: 0,
        quoteDecimals: 6,
        baseAmount: String(base),
        quoteAmount: (BigInt(base) * BigInt(this.#price)).toString(),
      };
      text += `${JSON.stringify(line)}\n`;
    }
    return text;
  }
}

/** `count` trades, 1,000 a second of market time, round robin over the pairs. */
export function makeTrades(count: number, pairs: number, seed = 1): Timed[] {
  const rng = seededRng(seed);
  const prices = Array.from({ length: pairs }, () => 2_545_182);
  return Array.from({ length: count }, (_, index) => {
    const pair = index % pairs;
    const price = Math.max(1_000, (prices[pair] ?? 0) + Math.floor((rng.unit() - 0.5) * 10_000));
    prices[pair] = price;
    const base = 1_000 + Math.floor(rng.unit() * 1_000_000);
    const trade = {
      base: assetOf(pair),
      quote: QUOTE,
      baseDecimals: 0,
      quoteDecimals: 6,
      id: String(10_000_000 + index),
      baseAmount: String(base),
      quoteAmount: (BigInt(base) * BigInt(price)).toString(),
    };
    return { atMs: START_MS + index, trade };
  });
}

/** The trades as a chain of entries, `perEntry` of them in each. */
export function sealBlocks(trades: readonly Timed[], perEntry: number): SealedEntry[] {
  const entries: SealedEntry[] = [];
  const common = { version: 1, epoch: '1-bench', term: 1 } as const;
  let previous = sealEntry({
    ...common,
    seq: 1,
    prevEntryHash: NO_HASH,
    timeMs: 0,
    payload: { kind: 'epoch', reason: 'new' },
  });
  entries.push(previous);
  for (let index = 0; index < trades.length; index += perEntry) {
    const some = trades.slice(index, index + perEntry);
    const atMs = some[0]?.atMs ?? 0;
    previous = sealEntry({
      ...common,
      seq: previous.entry.seq + 1,
      prevEntryHash: previous.hash,
      timeMs: atMs,
      payload: { kind: 'block', atMs, trades: some.map(({ trade }) => trade) },
    });
    entries.push(previous);
  }
  return entries;
}
