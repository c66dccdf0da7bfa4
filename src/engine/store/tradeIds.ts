/**
 * Remembers counted trades, so that a trade that is fed again counts once. Table `trade_ids`: key
 * `pair:length:id`, which sorts as ids do, and a code of the trade's content.
 */
import type { Trade } from '../market/trade.ts';
import type { keyedReads } from './keyedRows.ts';
import type { PendingWrites } from './pendingWrites.ts';
import { textOf } from './rows.ts';

const LENGTHS = Array.from({ length: 100 }, (_, length) => lengthText('x'.repeat(length)));

/** Keys of longer ids do not sort as the ids do. */
export const MAX_SORTED_LENGTH = 999;

/** Prefix of a pair's keys. */
function tradePrefix(pair: number): string {
  return `${pair}:`;
}

export function tradeKey(pair: number, id: string): string {
  return `${pair}:${LENGTHS[id.length] ?? lengthText(id)}:${id}`;
}

function tradeIdOf(key: string): string {
  return key.slice(key.indexOf(':', key.indexOf(':') + 1) + 1);
}

function lengthText({ length }: string): string {
  return String(length).padStart(3, '0');
}

/** A prime below 2^32. */
const CODES = 4_294_967_291;
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Short code of a trade's content besides its id: tells a repeated line from a changed one. One in
 * four billion changes is taken for a repetition; made for every trade, so it has to be cheap.
 */
export function contentCode({ timeMs, baseAmount, quoteAmount }: Omit<Trade, 'id'>): string {
  const amounts =
    baseAmount <= SAFE && quoteAmount <= SAFE
      ? timesModulo(Number(baseAmount), 1_000_003) + timesModulo(Number(quoteAmount), 7_368_787)
      : Number((baseAmount * 1_000_003n + quoteAmount * 7_368_787n) % BigInt(CODES));
  return (((amounts % CODES) + (timeMs % 1_000_000_007) * 31) % CODES).toString(36);
}

/** `amount * factor % CODES`, exact: no step exceeds 2^53, for a factor below 2^24. */
function timesModulo(amount: number, factor: number): number {
  const rest = amount % CODES;
  const high = Math.floor(rest / 65_536);
  const low = rest % 65_536;
  return (((high * factor) % CODES) * 65_536 + low * factor) % CODES;
}

/** The trades that an entry counted, each with the id of its pair. */
export class CountedTrades {
  #pairs: number[] | null = null;
  #trades: Trade[] | null = null;

  get pairs(): readonly number[] {
    return this.#pairs ?? NONE;
  }

  get trades(): readonly Trade[] {
    return this.#trades ?? NONE;
  }

  push(pair: number, trade: Trade): void {
    if (this.#pairs === null || this.#trades === null) {
      // Most entries have one: an array that grows has room for seventeen.
      this.#pairs = [pair];
      this.#trades = [trade];
      return;
    }
    this.#pairs.push(pair);
    this.#trades.push(trade);
  }
}

const NONE: readonly never[] = [];

/** Counted trades that are not written yet. Most are never looked for: the index is made late. */
export class PendingTrades {
  readonly #entries: CountedTrades[] = [];
  readonly #index = new Map<number, Map<string, Trade>>();
  #indexed = 0;
  count = 0;

  add(entry: CountedTrades): void {
    if (entry.trades.length === 0) return;
    this.#entries.push(entry);
    this.count += entry.trades.length;
  }

  get(pair: number, id: string): Trade | undefined {
    return this.#of(pair)?.get(id);
  }

  /** The largest key of the pair. */
  lastKey(pair: number): string | null {
    let last: string | null = null;
    for (const id of this.#of(pair)?.keys() ?? []) {
      const key = tradeKey(pair, id);
      if (last === null || key > last) last = key;
    }
    return last;
  }

  append(later: PendingTrades): void {
    for (const entry of later.#entries) this.add(entry);
  }

  #of(pair: number): ReadonlyMap<string, Trade> | undefined {
    for (; this.#indexed < this.#entries.length; this.#indexed += 1) {
      const entry = this.#entries[this.#indexed];
      entry?.trades.forEach((trade, at) => {
        const of = entry.pairs[at] ?? 0;
        const ids = this.#index.get(of);
        if (ids === undefined) this.#index.set(of, new Map([[trade.id, trade]]));
        else ids.set(trade.id, trade);
      });
    }
    return this.#index.get(pair);
  }
}

/** Ids as they are now: stored ids, and ids that wait to be written. */
export class TradeIds {
  readonly #stored: ReturnType<typeof keyedReads>;
  /** Newest first. */
  readonly #stages: () => readonly PendingWrites[];

  constructor(stored: ReturnType<typeof keyedReads>, stages: () => readonly PendingWrites[]) {
    this.#stored = stored;
    this.#stages = stages;
  }

  /** The `contentCode` of the trade with this id; null: none was counted. */
  contentOf(pair: number, id: string): string | null {
    const key = tradeKey(pair, id);
    for (const { trades, keyed } of this.#stages()) {
      const trade = trades.get(pair, id);
      if (trade !== undefined) return contentCode(trade);
      const restored = keyed.trade_ids.get(key);
      if (restored !== undefined) return restored.value === null ? null : textOf(restored.value);
    }
    return this.#stored.get(key);
  }

  /** The largest id of the pair's trades, as their keys sort; it may have been undone. */
  last(pair: number): string | null {
    let last = this.#stored.lastKey(tradePrefix(pair));
    for (const { trades } of this.#stages()) {
      const key = trades.lastKey(pair);
      if (key !== null && (last === null || key > last)) last = key;
    }
    return last === null ? null : tradeIdOf(last);
  }
}
