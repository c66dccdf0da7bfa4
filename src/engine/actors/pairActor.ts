/**
 * The actor of one pair: its bars at six resolutions. An entry's work on it is one unit (`take`);
 * when that throws, the actor is thrown away and made again from the store.
 *
 * Never: reads a clock, changes another pool, or holds state that the store cannot restore.
 */
import { addTrade, type Bar, firstBar, MOVED_ALL } from '../market/bar.ts';
import { type Pair, pairName } from '../market/pair.ts';
import { RESOLUTIONS, type Resolution } from '../market/resolution.ts';
import type { Trade } from '../market/trade.ts';
import type { BarChange } from '../store/barRows.ts';
import type { RowChange } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { Series } from './series.ts';

export interface PoolWork {
  /** Of one moment. */
  readonly trades: readonly Trade[];
  readonly marketMs: number;
  readonly seq: number;
}

interface PoolEffects {
  readonly changes: RowChange[];
  readonly bars: BarChange[];
  /** Series that changed, by name (`seriesTag`). */
  readonly tags: string[];
  /** Ends of bars that were opened. */
  readonly endsMs: number[];
}

const ASCII = /^[ -~]*$/;
const LENGTHS = Array.from({ length: 100 }, (_, length) => lengthText('x'.repeat(length)));

/** The tag that a stream of bars listens to. */
export function seriesTag(name: string, resolution: Resolution): string {
  return `bars:${name}:${resolution}`;
}

/** A prime below 2^32. */
const CODES = 4_294_967_291;
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Short code of what a trade says besides its id: tells a repeated line from a changed one. One in
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

export class PairActor {
  readonly pair: Pair;
  readonly name: string;
  readonly #store: StateStore;
  /** Of the keys of its trade ids. */
  readonly #prefix: string;
  readonly #series: readonly { readonly series: Series; readonly tag: string }[];
  #stored: boolean;
  /** The largest key among the pair's trade ids; null until it is first needed. */
  #lastTradeKey: string | null = null;
  /** Turn of the last work or read, for eviction. */
  lastUsed = 0;

  /** `stored`: the pair has rows already. */
  constructor(store: StateStore, pair: Pair, stored: boolean) {
    this.pair = pair;
    this.name = pairName(pair.base, pair.quote);
    this.#store = store;
    this.#prefix = `${pair.id}:`;
    this.#stored = stored;
    this.#series = RESOLUTIONS.map((resolution) => ({
      series: new Series(store, pair.id, resolution, stored),
      tag: seriesTag(this.name, resolution),
    }));
  }

  series(resolution: Resolution): Series {
    const found = this.#series[RESOLUTIONS.indexOf(resolution)];
    if (found === undefined) throw new Error(`no series ${resolution}`);
    return found.series;
  }

  knows(tradeId: string): boolean {
    return this.contentOf(tradeId) !== null;
  }

  /**
   * The `contentCode` of the trade with this id; null where there is none. Ids mostly grow, so most
   * new ones are known to be new without asking the store.
   */
  contentOf(tradeId: string): string | null {
    return this.#contentAt(this.#tradeKey(tradeId), tradeId);
  }

  #contentAt(key: string, tradeId: string): string | null {
    this.#lastTradeKey ??= this.#store.lastKey('trade_ids', this.#prefix) ?? '';
    // SQLite sorts by UTF-8, we by UTF-16; they agree about an ASCII key and any other.
    if (ASCII.test(tradeId) && key > this.#lastTradeKey) return null;
    return this.#store.get('trade_ids', key);
  }

  /** Applies one entry's trades and the passing of time. Duplicate ids change nothing. */
  take({ trades, marketMs, seq }: PoolWork): PoolEffects {
    const effects: PoolEffects = { changes: [], bars: [], tags: [], endsMs: [] };
    if (!this.#stored) {
      const after = JSON.stringify(this.pair);
      effects.changes.push({ table: 'pairs', key: this.name, before: null, after, cause: 'trade' });
      this.#stored = true;
    }
    const fresh = new Set<string>();
    let sum: Bar | null = null;
    for (const trade of trades) {
      const key = this.#tradeKey(trade.id);
      if (fresh.has(trade.id) || this.#contentAt(key, trade.id) !== null) continue;
      if (trades.length > 1) fresh.add(trade.id);
      if (this.#lastTradeKey === null || key > this.#lastTradeKey) this.#lastTradeKey = key;
      const after = contentCode(trade);
      effects.changes.push({ table: 'trade_ids', key, before: null, after, cause: 'trade' });
      if (sum === null) sum = firstBar(trade.timeMs, trade);
      else addTrade(sum, trade);
    }
    if (sum !== null) this.apply(sum, marketMs, effects.endsMs);
    for (const { series, tag } of this.#series) {
      series.finalise(marketMs);
      if (series.finish(seq, effects.bars)) effects.tags.push(tag);
    }
    return effects;
  }

  /**
   * Trades of one moment, summed up, into six bars; ends of bars they opened go to `endsMs`. From
   * the finest bar outwards: what they did not move inside, they do not move around it.
   */
  apply(sum: Bar, marketMs: number, endsMs: number[] = []): void {
    let candidates = MOVED_ALL;
    let dayCandidates = MOVED_ALL;
    for (const { series } of this.#series) {
      // Weeks and months both contain days, but not each other.
      if (series.resolution === 'month1') candidates = dayCandidates;
      candidates = series.add(sum, candidates, marketMs, endsMs);
      if (series.resolution === 'day1') dayCandidates = candidates;
    }
  }

  /** Sorts as ids do: by length, then text. */
  #tradeKey(tradeId: string): string {
    return `${this.#prefix}${LENGTHS[tradeId.length] ?? lengthText(tradeId)}:${tradeId}`;
  }
}

function lengthText({ length }: string): string {
  return String(length).padStart(3, '0');
}
