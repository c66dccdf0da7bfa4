/**
 * The bars of one pair at six resolutions; open ones and the newest are in memory. An entry's work
 * on them is one unit (`apply`): all that may throw comes before the first change.
 *
 * Trades that fall into the open newest bars are only summed up; the sum goes into the six bars
 * when they are read, when another trade falls elsewhere, when a bar ends, and when they are
 * written (`settle`). Bars that end without a trade are made final as late (`endBars`).
 *
 * Never: reads a clock, changes another pool, or holds state that the store cannot restore.
 */
import { addTrade, type Bar, firstBar, MOVED_ALL, TradeSum } from '../market/bar.ts';
import { type Pair, pairName } from '../market/pair.ts';
import { INNER_RESOLUTIONS, RESOLUTIONS, type Resolution } from '../market/resolution.ts';
import { compareIds, type Trade } from '../market/trade.ts';
import type { BarOwner, PairWrites } from '../store/pendingBars.ts';
import { type RowChange, RowRecord } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { MAX_SORTED_LENGTH } from '../store/tradeIds.ts';
import { Series } from './series.ts';

export interface PairTime {
  readonly marketMs: number;
  readonly seq: number;
}

/** Where an entry's effects on its pairs are collected. */
export interface PairEffects {
  readonly changes: RowChange[];
  /** Tags of the changed streams. */
  readonly tags: Set<string>;
}

const ASCII = /^[ -~]*$/;

/** The tag that the streams of a pair's bars listen to. */
export function seriesTag(name: string): string {
  return `bars:${name}`;
}

/** The store's order of ids is ours. */
function isPlainId(id: string): boolean {
  return id.length <= MAX_SORTED_LENGTH && ASCII.test(id);
}

export class PairBars implements BarOwner {
  readonly pair: Pair;
  readonly name: string;
  readonly tag: string;
  readonly #store: StateStore;
  readonly #series: readonly Series[];
  #stored: boolean;
  /** The largest of the pair's trade ids, as they sort; null until it is first needed. */
  #lastId: string | null;
  #staged: PairWrites | null = null;
  /** Trades that are not in the bars yet; null: they all are. */
  #waiting: TradeSum | null = null;
  #waitingSeq = 0;
  /** Trades of [from, to) only change the newest bars, all open. */
  #openFromMs = 0;
  #openToMs = 0;
  /** No open bar ends before this. */
  #nextEndMs = Number.POSITIVE_INFINITY;
  /** Turn of the last work or read, for eviction. */
  lastUsed = 0;

  /** `stored`: of when the rows are that the pair has already; null: it is new. */
  constructor(store: StateStore, pair: Pair, stored: PairTime | null) {
    this.pair = pair;
    this.name = pairName(pair.base, pair.quote);
    this.tag = seriesTag(this.name);
    this.#store = store;
    this.#stored = stored !== null;
    this.#lastId = stored === null ? '' : null;
    const seq = stored?.seq ?? store.checkpoint?.seq ?? 0;
    this.#series = RESOLUTIONS.map((resolution) => {
      return new Series(store, pair.id, resolution, this, seq);
    });
    if (stored === null) return;
    for (const series of this.#series) series.load(stored.marketMs);
    this.#updateOpenSpan();
  }

  series(resolution: Resolution): Series {
    const found = this.#series[RESOLUTIONS.indexOf(resolution)];
    if (found === undefined) throw new Error(`no series ${resolution}`);
    return found;
  }

  /**
   * The `contentCode` of the trade with this id; null where there is none. Ids mostly grow, so most
   * new ones are known to be new without asking the store.
   */
  contentOf(tradeId: string): string | null {
    this.#lastId ??= this.#store.tradeIds.last(this.pair.id) ?? '';
    // SQLite sorts by UTF-8, we by UTF-16; they agree about an ASCII id and any other.
    if (compareIds(tradeId, this.#lastId) > 0 && isPlainId(tradeId)) return null;
    return this.#store.tradeIds.contentOf(this.pair.id, tradeId);
  }

  /**
   * Applies one entry's trades, all of one moment, and the new market time. Returns the trades that
   * count: duplicate ids change nothing. Ends of bars that were opened go to `endsMs`.
   */
  apply(
    trades: readonly Trade[],
    { marketMs, seq }: PairTime,
    effects: PairEffects,
    endsMs: number[],
  ): readonly Trade[] {
    const fresh = this.#fresh(trades);
    const [first] = fresh;
    if (first === undefined && marketMs < this.#nextEndMs && this.#stored) return fresh;
    const isPlain =
      first !== undefined &&
      first.timeMs >= this.#openFromMs &&
      first.timeMs < this.#openToMs &&
      marketMs < this.#nextEndMs;
    if (!isPlain && first !== undefined) {
      for (const series of this.#series) series.prepare(first.timeMs);
    }
    // Nothing reads from here on, so nothing throws half way.
    if (this.#staged === null || this.#staged.isClosed) {
      this.#staged = this.#store.writesOfPair(this.pair.id, this);
    }
    if (isPlain) {
      for (const trade of fresh) this.#sumUp(trade, seq);
      effects.tags.add(this.tag);
      return fresh;
    }
    this.stagePending();
    this.#stamp(effects.changes);
    const sum = barOf(fresh);
    if (sum !== null) this.#add(sum, marketMs, endsMs);
    for (const series of this.#series) {
      series.finalise(marketMs);
      if (series.finish(seq, this.#staged)) effects.tags.add(this.tag);
    }
    this.#updateOpenSpan();
    return fresh;
  }

  /** A trade that only changes the newest bars, all open. */
  #sumUp(trade: Trade, seq: number): void {
    if (this.#waiting?.add(trade) !== true) {
      this.stagePending();
      this.#waiting = TradeSum.of(trade);
      if (this.#waiting === null) this.#settleBar(firstBar(trade.timeMs, trade), seq);
    }
    this.#waitingSeq = seq;
  }

  /** Market time has passed the ends of bars, by entry `seq`; nothing came after it. */
  endBars({ marketMs, seq }: PairTime, staged: PairWrites): void {
    this.stagePending();
    this.#staged = staged;
    staged.owner = this;
    for (const series of this.#series) {
      series.finalise(marketMs);
      series.finish(seq, staged);
    }
    this.#updateOpenSpan();
  }

  /** Also what market time has ended. */
  catchUp(): void {
    this.#store.endBars(this.pair.id);
    this.stagePending();
  }

  written(staged: PairWrites): void {
    if (this.#staged === staged) this.#staged = null;
  }

  stagePending(): void {
    const sum = this.#waiting;
    if (sum === null) return;
    this.#waiting = null;
    this.#settleBar(sum.bar(), this.#waitingSeq);
  }

  #settleBar(sum: Bar, seq: number): void {
    this.#add(sum, Number.NEGATIVE_INFINITY, []);
    for (const series of this.#series) series.finish(seq, this.#staged);
  }

  /** The trades that were not counted before. */
  #fresh(trades: readonly Trade[]): readonly Trade[] {
    const [only] = trades;
    if (only === undefined) return trades;
    if (trades.length === 1) {
      if (this.contentOf(only.id) !== null) return [];
      this.#noteId(only.id);
      return trades;
    }
    const fresh = new Map<string, Trade>();
    for (const trade of trades) {
      const isKnown = fresh.has(trade.id) || this.contentOf(trade.id) !== null;
      if (!isKnown) fresh.set(trade.id, trade);
    }
    for (const id of fresh.keys()) this.#noteId(id);
    return [...fresh.values()];
  }

  #noteId(id: string): void {
    if (this.#lastId !== null && compareIds(id, this.#lastId) > 0) this.#lastId = id;
  }

  /** The row of a pair that is new. */
  #stamp(changes: RowChange[]): void {
    if (this.#stored) return;
    const after = RowRecord.of(this.pair);
    changes.push({ table: 'pairs', key: this.name, before: null, after, cause: 'trade' });
    this.#stored = true;
  }

  /**
   * Trades of one moment, summed up, into six bars, the finest first; ends of bars they opened go
   * to `endsMs`. If trades did not move the high of a minute, they cannot move the high of its
   * hour.
   */
  #add(sum: Bar, marketMs: number, endsMs: number[]): void {
    const moved: Partial<Record<Resolution, number>> = {};
    for (const series of this.#series) {
      const inner = INNER_RESOLUTIONS[series.resolution];
      const candidates = (inner === null ? null : moved[inner]) ?? MOVED_ALL;
      moved[series.resolution] = series.add(sum, candidates, marketMs, endsMs);
    }
  }

  /** Notes which trades need no look at the bars. */
  #updateOpenSpan(): void {
    this.#openFromMs = Number.NEGATIVE_INFINITY;
    this.#openToMs = Number.POSITIVE_INFINITY;
    this.#nextEndMs = Number.POSITIVE_INFINITY;
    for (const { openFromMs, openToMs, nextEndMs } of this.#series) {
      this.#openFromMs = Math.max(this.#openFromMs, openFromMs);
      this.#openToMs = Math.min(this.#openToMs, openToMs);
      this.#nextEndMs = Math.min(this.#nextEndMs, nextEndMs);
    }
  }
}

/** All trades summed up; null: there are none. */
function barOf([first, ...others]: readonly Trade[]): Bar | null {
  if (first === undefined) return null;
  const bar = firstBar(first.timeMs, first);
  for (const trade of others) addTrade(bar, trade);
  return bar;
}
