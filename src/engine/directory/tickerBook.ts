/**
 * The tickers of all pools, and of a feed's pairs against the coin. It knows which of them changed,
 * and which of them a minute left; their actors hold the numbers.
 *
 * Assumes: `update` and `undo` come in the order of the entries.
 * Never:   holds data that the store cannot give again, or reads a clock.
 * Cost:    an entry costs what it changed. Each minute, every pair is checked once, in
 *          slices; a pair without a trade for a day holds one price.
 */
import { type AssetId, COIN } from '../market/asset.ts';
import { intervalStart, STORED_RESOLUTION_IDS } from '../market/resolution.ts';
import { isSameSpan, sparkSpan } from '../market/sparkSpan.ts';
import { WINDOWS, type Window } from '../market/windows.ts';
import type { PoolActor } from '../pools/poolActor.ts';
import type { PoolActors } from '../pools/poolActors.ts';
import { edgesOf, type PairDay, type PoolTicker, type Span } from '../pools/poolTicker.ts';
import { KEPT_MS } from '../pools/recentBars.ts';
import type { BarSlot } from '../store/barRows.ts';
import type { RowChange } from '../store/rows.ts';
import type { CountedTrades } from '../store/tradeIds.ts';
import type { PoolDirectory } from './directory.ts';
import { TickerChanges } from './tickerChanges.ts';

const MIN1 = STORED_RESOLUTION_IDS.min1;
/** Pairs that are looked at in one step for minutes that left a window. */
const CROSSED_STEP = 1_000;

/** An entry, and market time with it. */
interface At {
  readonly seq: number;
  readonly marketMs: number;
}

export class TickerBook {
  readonly changes: TickerChanges;
  readonly #actors: PoolActors;
  readonly #directory: PoolDirectory;
  /** The latest market time, cut to the minute. */
  #latestMs: number;
  #seq: number;
  /** Entries may be applied between two of its steps. */
  readonly #reading: Generator<void>;
  #isRead = false;

  constructor(actors: PoolActors, directory: PoolDirectory, { seq, marketMs }: At) {
    this.#actors = actors;
    this.#directory = directory;
    this.#latestMs = intervalStart('min1', marketMs);
    this.#seq = seq;
    this.changes = new TickerChanges(seq, this.#latestMs);
    this.#reading = this.#readAll();
  }

  /** Reads the day of each, until `isOver`. True: all is read. */
  read(isOver: () => boolean): boolean {
    while (!this.#isRead) {
      if (isOver()) return false;
      this.#isRead = this.#reading.next().done === true;
    }
    return true;
  }

  /** Reads what `day` answers from, until `isOver`. True: it is read. */
  readDay(asset: AssetId, atMs: number, isOver: () => boolean): boolean {
    return this.#find(asset)?.readDay(atMs, isOver) ?? true;
  }

  /** Reads what `traders` answers from, until `isOver`. True: it is read. */
  readTraders(asset: AssetId, atMs: number, isOver: () => boolean): boolean {
    return this.#find(asset)?.readTraders(atMs, isOver) ?? true;
  }

  /** Tokens with a pair against the coin. */
  *assets(): Iterable<AssetId> {
    for (const { base, price } of this.#actors.all()) if (price !== null) yield base;
  }

  /** All tokens with a trade in the last 24 hours are among these. */
  *traded(): Iterable<AssetId> {
    for (const { base, ticker } of this.#actors.all()) if (ticker?.mayBeTraded === true) yield base;
  }

  /** False only if the ticker surely is as it was at entry `seq`. */
  changedSince(asset: AssetId, seq: number): boolean {
    const ticker = this.#find(asset);
    // The minutes that leave its windows are not known of a pair that is not read.
    if (ticker?.isRead === false) return seq < this.#seq;
    if (this.changes.changedSince(asset, seq)) return true;
    const steps = this.changes.stepsSince(seq);
    if (steps === null) return false;
    if (this.#hasSparkTurned(asset, steps)) return true;
    const firstMs = this.#directory.find(asset)?.pool.firstMs ?? Number.POSITIVE_INFINITY;
    const isLaunched = WINDOWS.some((window) => {
      const { fromMs, toMs } = edgesOf(window, steps);
      return firstMs > fromMs && firstMs <= toMs;
    });
    return isLaunched || ticker?.hasCrossed(WINDOWS, steps) === true;
  }

  /** False only if its spark, but for the price of now, surely is as it was at entry `seq`. */
  sparkChangedSince(asset: AssetId, seq: number): boolean {
    if (this.#find(asset)?.isRead === false) return seq < this.#seq;
    if (this.changes.tradedSince(asset, seq)) return true;
    const steps = this.changes.stepsSince(seq);
    return steps !== null && this.#hasSparkTurned(asset, steps);
  }

  /** The span of a spark never steps back while market time does not. */
  #hasSparkTurned(asset: AssetId, { fromMs, toMs }: Span): boolean {
    const listed = this.#directory.find(asset);
    const createdMs = listed === null ? this.#find(asset)?.firstMinuteMs : listed.pool.createdMs;
    if (createdMs === undefined) return true;
    return !isSameSpan(sparkSpan(createdMs, fromMs), sparkSpan(createdMs, toMs));
  }

  /**
   * Tokens with a minute, or a launch, that left or entered a window while market time, cut to the
   * minute, stepped between these moments, at most half an hour; and some others. null: none was
   * found so far.
   */
  *crossed(windows: Iterable<Window>, fromMs: number, toMs: number): Generator<AssetId | null> {
    const all = [...windows];
    for (const window of all) {
      const edges = edgesOf(window, { fromMs, toMs });
      yield* this.#directory.launchedBetween(edges.fromMs, edges.toMs);
    }
    let count = 0;
    for (const { base, ticker } of this.#actors.all()) {
      count += 1;
      if (ticker?.hasCrossed(all, { fromMs, toMs }) === true) yield base;
      else if (count % CROSSED_STEP === 0) yield null;
    }
  }

  /** `atMs`: market time, cut to the minute. null: the token has no pair. */
  day(asset: AssetId, atMs: number): PairDay | null {
    return this.#find(asset)?.day(atMs) ?? null;
  }

  /** Payment keys that traded the token in the 24 hours before `atMs`. */
  traders(asset: AssetId, atMs: number): number {
    return this.#find(asset)?.traders(atMs) ?? 0;
  }

  /** Applies the changes of an entry. Answers whether a ticker may have changed. */
  update(changes: readonly RowChange[], counted: CountedTrades, at: At): boolean {
    this.#seq = at.seq;
    const hasMoved = this.#moveTo(at);
    for (const { table, key, after } of changes) {
      if (table === 'pools') this.changes.record(key, at.seq, true);
      if (table !== 'trades' || after === null) continue;
      const asset = assetOf(key);
      // A trade that moved too little for a bar has a trader.
      if (this.#actors.of(asset)?.tradedBy(after) === true)
        this.changes.record(asset, at.seq, false);
    }
    const { pairs, trades } = counted;
    for (const [index, { timeMs }] of trades.entries()) {
      const actor = this.#pricedBy(pairs[index] ?? 0);
      if (actor === null) continue;
      actor.traded(timeMs);
      this.changes.record(actor.base, at.seq, true);
    }
    return hasMoved || this.changes.between(at.seq - 1, at.seq);
  }

  /** Follows a rollback: the pairs that it touched are read again. */
  undo(changes: readonly RowChange[], bars: readonly BarSlot[], seq: number): void {
    this.#seq = seq;
    for (const { table, key } of changes) {
      if (table !== 'trades' && table !== 'pools') continue;
      const asset = table === 'pools' ? key : assetOf(key);
      if (table === 'trades') this.#actors.of(asset)?.forgetTraders();
      this.changes.record(asset, seq, true);
    }
    for (const { pair, resolution } of bars) {
      const actor = resolution === MIN1 ? this.#pricedBy(pair) : null;
      if (actor === null) continue;
      actor.forgetDay();
      this.changes.record(actor.base, seq, true);
    }
  }

  *#readAll(): Generator<void> {
    for (const actor of [...this.#actors.all()]) {
      yield;
      while (actor.ticker?.readDay(this.#latestMs, onceOnly()) === false) yield;
    }
  }

  #find(asset: AssetId): PoolTicker | null {
    return this.#actors.of(asset)?.ticker ?? null;
  }

  /** The actor whose price in the coin the pair is. */
  #pricedBy(pair: number): PoolActor | null {
    const owner = this.#actors.ofPair(pair);
    return owner?.quote === COIN ? owner.actor : null;
  }

  /** After a step back beyond the kept data, everything is read again. */
  #moveTo({ seq, marketMs }: At): boolean {
    const atMs = intervalStart('min1', marketMs);
    if (atMs < this.#latestMs - KEPT_MS) {
      this.#latestMs = atMs;
      for (const actor of this.#actors.all()) {
        actor.forgetDay();
        actor.forgetTraders();
      }
      this.changes.forget(seq, atMs);
      return true;
    }
    this.#latestMs = Math.max(this.#latestMs, atMs);
    return this.changes.moveTo(atMs, seq);
  }
}

/** The token of a row of `trades`. */
function assetOf(key: string): AssetId {
  return key.slice(0, key.indexOf('/'));
}

/** False when it is asked first. */
function onceOnly(): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    return count > 1;
  };
}
