/**
 * The actor of one pair: its bars at six resolutions. An entry's work on it is one unit (`take`);
 * when that throws, the actor is thrown away and made again from the store.
 *
 * Never: reads a clock, changes another pool, or holds state that the store cannot restore.
 */
import { MOVED_ALL } from '../market/bar.ts';
import { type Pair, pairName } from '../market/pair.ts';
import { RESOLUTIONS, type Resolution } from '../market/resolution.ts';
import type { Trade } from '../market/trade.ts';
import type { BarChange } from '../store/barRows.ts';
import type { RowChange } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { Series } from './series.ts';

export interface PoolWork {
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

/** The tag that a stream of bars listens to. */
export function seriesTag(name: string, resolution: Resolution): string {
  return `bars:${name}:${resolution}`;
}

const CODES = 4_294_967_291n;

/**
 * Short code of what a trade says besides its id: tells a repeated line from a changed one. One in
 * four billion changes is taken for a repetition; made for every trade, so it has to be cheap.
 */
export function contentCode({ timeMs, baseAmount, quoteAmount }: Omit<Trade, 'id'>): string {
  const amounts = Number((baseAmount * 1_000_003n + quoteAmount * 7_368_787n) % CODES);
  return ((amounts + (timeMs % 1_000_000_007) * 31) % 4_294_967_291).toString(36);
}

export class PairActor {
  readonly pair: Pair;
  readonly name: string;
  readonly #store: StateStore;
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
    const key = this.#tradeKey(tradeId);
    this.#lastTradeKey ??= this.#store.lastKey('trade_ids', `${this.pair.id}:`) ?? '';
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
    for (const trade of trades) {
      if (fresh.has(trade.id) || this.knows(trade.id)) continue;
      fresh.add(trade.id);
      const key = this.#tradeKey(trade.id);
      if (this.#lastTradeKey === null || key > this.#lastTradeKey) this.#lastTradeKey = key;
      const after = contentCode(trade);
      effects.changes.push({ table: 'trade_ids', key, before: null, after, cause: 'trade' });
      this.apply(trade, marketMs, effects.endsMs);
    }
    for (const { series, tag } of this.#series) {
      series.finalise(marketMs);
      if (series.finish(seq, effects.bars)) effects.tags.push(tag);
    }
    return effects;
  }

  /**
   * One trade into six bars; ends of bars it opened go to `endsMs`. From the finest bar outwards:
   * what a trade did not move inside, it does not move around it.
   */
  apply(trade: Trade, marketMs: number, endsMs: number[] = []): void {
    let candidates = MOVED_ALL;
    let dayCandidates = MOVED_ALL;
    for (const { series } of this.#series) {
      // Weeks and months both contain days, but not each other.
      if (series.resolution === 'month1') candidates = dayCandidates;
      const { moved, opensEndMs } = series.add(trade, candidates, marketMs);
      if (opensEndMs > 0) endsMs.push(opensEndMs);
      candidates = moved;
      if (series.resolution === 'day1') dayCandidates = moved;
    }
  }

  /** Sorts as ids do: by length, then text. */
  #tradeKey(tradeId: string): string {
    return `${this.pair.id}:${String(tradeId.length).padStart(3, '0')}:${tradeId}`;
  }
}
