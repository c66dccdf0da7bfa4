/**
 * What tickers are made of, for every pair against the coin. Read from the store when it is first
 * asked for, then kept in step with rows.
 *
 * Assumes: `update` and `undo` come in the order of the entries.
 * Never:   holds what the store cannot give again, or reads a clock.
 * Cost:    an entry costs what it changed. A minute costs a look at each pair, by who asks, in
 *          slices; a pair without a trade for a day holds one price.
 */
import { type AssetId, COIN } from '../market/asset.ts';
import type { Pair } from '../market/pair.ts';
import { intervalStart, STORED_RESOLUTION_IDS } from '../market/resolution.ts';
import { isSameSpan, sparkSpan } from '../market/sparkSpan.ts';
import { KEPT_MS, WINDOWS, type Window } from '../market/windows.ts';
import { edgesOf, type PairDay, PairTicker, type Span } from '../pools/pairTicker.ts';
import type { BarSlot } from '../store/barRows.ts';
import type { TradeRecord } from '../store/records.ts';
import { type RowChange, type RowValue, recordOf } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import type { CountedTrades } from '../store/tradeIds.ts';
import type { PoolDirectory } from './directory.ts';
import { TickerChanges } from './tickerChanges.ts';

const MIN1 = STORED_RESOLUTION_IDS.min1;
/** Pairs, read and parsed in one step. */
const STEP = 100;
/** Pairs that are looked at in one step for minutes that left a window. */
const CROSSED_STEP = 1_000;

/** An entry, and market time with it. */
interface At {
  readonly seq: number;
  readonly marketMs: number;
}

interface Held {
  readonly ticker: PairTicker;
  /** `TickerBook.#forgotten` when it was looked at. */
  forgotten: number;
}

export class TickerBook {
  readonly changes: TickerChanges;
  readonly #store: StateStore;
  readonly #directory: PoolDirectory;
  readonly #byAsset = new Map<AssetId, Held>();
  readonly #byId = new Map<number, Held>();
  /** How often market time stepped back so far that all is to be read again. */
  #forgotten = 0;
  /** The latest market time, cut to the minute. */
  #latestMs: number;
  #seq: number;
  /** Entries may be applied between two of its steps. */
  readonly #reading: Generator<void>;
  readonly #firstSeq: number;
  #isOpen = false;
  #isRead = false;

  constructor(store: StateStore, directory: PoolDirectory, { seq, marketMs }: At) {
    this.#store = store;
    this.#directory = directory;
    this.#latestMs = intervalStart('min1', marketMs);
    this.#seq = seq;
    this.#firstSeq = seq;
    this.changes = new TickerChanges(seq, this.#latestMs);
    this.#reading = this.#readAll();
  }

  /** Finds all pairs: before that, the answers of this book are wrong. */
  open(): void {
    while (!this.#isOpen) this.#reading.next();
  }

  /** Finds all pairs and reads the day of each, until `isOver`. True: all is read. */
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
  assets(): Iterable<AssetId> {
    return this.#byAsset.keys();
  }

  /** All tokens with a trade in the last 24 hours are among these. */
  *traded(): Iterable<AssetId> {
    for (const [asset, held] of this.#byAsset) {
      if (this.#current(held).mayBeTraded) yield asset;
    }
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
   * Tokens of which a minute, or the launch, left or entered one of the windows while market time,
   * cut to the minute, stepped between these moments, at most half an hour; and some others. null:
   * none was found so far.
   */
  *crossed(windows: Iterable<Window>, fromMs: number, toMs: number): Generator<AssetId | null> {
    const all = [...windows];
    for (const window of all) {
      const edges = edgesOf(window, { fromMs, toMs });
      yield* this.#directory.launchedBetween(edges.fromMs, edges.toMs);
    }
    let count = 0;
    for (const [asset, held] of this.#byAsset) {
      count += 1;
      if (this.#current(held).hasCrossed(all, { fromMs, toMs })) yield asset;
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

  /** What an entry changed. Answers whether a ticker may have changed. */
  update(changes: readonly RowChange[], counted: CountedTrades, at: At): boolean {
    this.#seq = at.seq;
    const hasMoved = this.#moveTo(at);
    for (const { table, key, after } of changes) {
      if (table === 'pairs' && after !== null) this.#open(after);
      else if (table === 'trades' && after !== null) this.#noteTrade(key, after);
      else if (table === 'pools') this.changes.note(key, at.seq, true);
    }
    const { pairs, trades } = counted;
    for (const [index, { timeMs }] of trades.entries()) {
      const held = this.#byId.get(pairs[index] ?? 0);
      if (held === undefined) continue;
      const ticker = this.#current(held);
      ticker.noteMinute(intervalStart('min1', timeMs));
      this.changes.note(ticker.pair.base, at.seq, true);
    }
    return hasMoved || this.changes.between(at.seq - 1, at.seq);
  }

  /** What a rollback put back: the pairs that it touched are read again. */
  undo(changes: readonly RowChange[], bars: readonly BarSlot[], seq: number): void {
    this.#seq = seq;
    for (const { table, key, after } of changes) {
      if (table === 'pairs') this.#restorePair(key, after);
      else if (table === 'trades') {
        this.#find(assetOf(key, '/'))?.forgetTraders();
        this.changes.note(assetOf(key, '/'), seq, true);
      } else if (table === 'pools') this.changes.note(key, seq, true);
    }
    for (const { pair, resolution } of bars) {
      const held = resolution === MIN1 ? this.#byId.get(pair) : undefined;
      if (held === undefined) continue;
      held.ticker.forgetDay();
      this.changes.note(held.ticker.pair.base, seq, true);
    }
  }

  *#readAll(): Generator<void> {
    for (let after: string | undefined; ; ) {
      const rows = this.#store.withPrefix('pairs', '', STEP, after);
      for (const { key, value } of rows) this.#openFound(key, value);
      after = rows.at(-1)?.key;
      if (rows.length < STEP) break;
      yield;
    }
    this.#isOpen = true;
    for (const { ticker } of [...this.#byAsset.values()]) {
      yield;
      // A rollback may take the pair away.
      const isThere = () => this.#byId.get(ticker.pair.id)?.ticker === ticker;
      while (isThere() && !ticker.readDay(this.#latestMs, onceOnly())) yield;
    }
  }

  #openFound(name: string, text: string): void {
    const asset = assetOf(name, '_');
    if (this.#byAsset.has(asset)) return;
    this.#open(text);
    // What was applied since the reading began was not noted of this token.
    const isLater = this.#byAsset.has(asset) && this.#seq > this.#firstSeq;
    if (isLater) this.changes.note(asset, this.#seq, true);
  }

  #open(row: RowValue): void {
    const pair = recordOf<Pair>(row);
    if (pair.quote !== COIN) return;
    const held = { ticker: new PairTicker(this.#store, pair), forgotten: this.#forgotten };
    this.#byAsset.set(pair.base, held);
    this.#byId.set(pair.id, held);
  }

  #find(asset: AssetId): PairTicker | null {
    const held = this.#byAsset.get(asset);
    return held === undefined ? null : this.#current(held);
  }

  /** Forgets what was read before all was to be forgotten. */
  #current(held: Held): PairTicker {
    const { ticker } = held;
    if (held.forgotten === this.#forgotten) return ticker;
    held.forgotten = this.#forgotten;
    ticker.forgetDay();
    ticker.forgetTraders();
    return ticker;
  }

  #restorePair(name: string, row: RowValue | null): void {
    const asset = assetOf(name, '_');
    const held = this.#byAsset.get(asset);
    if (held !== undefined && name.endsWith(`_${COIN}`)) {
      this.#byAsset.delete(asset);
      this.#byId.delete(held.ticker.pair.id);
    }
    if (row !== null) this.#open(row);
  }

  #noteTrade(key: string, row: RowValue): void {
    const asset = assetOf(key, '/');
    const ticker = this.#find(asset);
    if (ticker?.knowsTraders !== true) return;
    const { pkh, atMs } = recordOf<TradeRecord>(row);
    if (pkh === '') return;
    ticker.noteTrader(pkh, atMs);
    // A trade that moved too little for a bar has a trader.
    this.changes.note(asset, this.#seq, false);
  }

  /** After a step back further than what is kept, everything is read again. */
  #moveTo({ seq, marketMs }: At): boolean {
    const atMs = intervalStart('min1', marketMs);
    if (atMs < this.#latestMs - KEPT_MS) {
      this.#latestMs = atMs;
      this.#forgotten += 1;
      this.changes.forget(seq, atMs);
      return true;
    }
    this.#latestMs = Math.max(this.#latestMs, atMs);
    return this.changes.moveTo(atMs, seq);
  }
}

/** False when it is asked first. */
function onceOnly(): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    return count > 1;
  };
}

/** The asset that a key begins with. */
function assetOf(key: string, separator: '/' | '_'): AssetId {
  return key.slice(0, key.indexOf(separator));
}
