/**
 * What tickers are made of, for every pair against the coin: the minutes of its last day and who
 * traded in it. Read from the store when it is first asked for, then kept in step with rows.
 *
 * Assumes: `update` and `undo` come in the order of the entries.
 * Never:   holds what the store cannot give again, or reads a clock.
 * Cost:    an entry costs what it changed; a pair without a trade for a day holds one price.
 */
import { type AssetId, COIN } from '../market/asset.ts';
import { decodeBar } from '../market/barText.ts';
import type { Pair } from '../market/pair.ts';
import type { Ratio } from '../market/ratio.ts';
import {
  EARLIEST_START_MS,
  intervalStart,
  MINUTE_MS,
  STORED_RESOLUTION_IDS,
} from '../market/resolution.ts';
import { KEPT_MS, type Minute, MinuteWindows, minuteOf, WINDOW_MS } from '../market/windows.ts';
import type { BarRow, BarSlot } from '../store/barRows.ts';
import { type PoolRecord, readRecord, type TradeRecord } from '../store/records.ts';
import type { RowChange } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import type { CountedTrades } from '../store/tradeIds.ts';
import type { PoolDirectory } from './directory.ts';
import { TickerChanges } from './tickerChanges.ts';

/** A pair at one market time. */
export interface PairDay {
  readonly pair: Pair;
  /** null: it had no trade for 24 hours. */
  readonly windows: MinuteWindows | null;
  /** null before its first trade. */
  readonly last: LastTrade | null;
}

/** The newest trade and the price after it. */
interface LastTrade {
  readonly close: Ratio;
  readonly lastMs: number;
}

interface Held {
  readonly pair: Pair;
  state: MinuteWindows | Quiet | null;
  /** Starts of minutes that were traded in since `state` was looked at. */
  readonly traded: Set<number>;
  /** By payment key, when it traded last, oldest first; null: not read. */
  traders: Map<string, number> | null;
}

/** Without a trade for a day and what is kept beyond it. */
interface Quiet {
  readonly last: LastTrade | null;
}

const MIN1 = STORED_RESOLUTION_IDS.min1;
const DAY_MS = WINDOW_MS['24h'];
const FOREVER_MS = Number.MAX_SAFE_INTEGER;
/** More than a day has minutes. */
const MOST_MINUTES = 2_000;
const PAGE = 1_000;
/** Of pairs, read and parsed in one step. */
const STEP = 100;

/** An entry, and market time with it. */
interface At {
  readonly seq: number;
  readonly marketMs: number;
}

export class TickerBook {
  readonly changes: TickerChanges;
  readonly #store: StateStore;
  readonly #directory: PoolDirectory;
  readonly #byAsset = new Map<AssetId, Held>();
  readonly #byId = new Map<number, Held>();
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

  /** Tokens with a pair against the coin. */
  assets(): Iterable<AssetId> {
    return this.#byAsset.keys();
  }

  /** All tokens with a trade in the last 24 hours are among these. */
  *traded(): Iterable<AssetId> {
    for (const [asset, { state }] of this.#byAsset) {
      if (state === null || state instanceof MinuteWindows) yield asset;
    }
  }

  /** False only if the ticker surely is as it was at entry `seq`. */
  changedSince(asset: AssetId, seq: number): boolean {
    // The minutes that leave its windows are not known of a pair that is not read.
    const isRead = this.#byAsset.get(asset)?.state !== null;
    return isRead ? this.changes.changedSince(asset, seq) : seq < this.#seq;
  }

  /**
   * `atMs`: market time, cut to the minute, or the minute after it: as the token is then if nothing
   * happens to it before. null: the token has no pair.
   */
  day(asset: AssetId, atMs: number): PairDay | null {
    const held = this.#byAsset.get(asset);
    if (held === undefined) return null;
    const { pair } = held;
    const state = this.#stateOf(held, atMs);
    if (!(state instanceof MinuteWindows)) return { pair, windows: null, last: state.last };
    const isActive = state.sums('24h').trades > 0;
    return { pair, windows: isActive ? state : null, last: state.newest };
  }

  /** Payment keys that traded the token in the 24 hours before `atMs`. */
  traders(asset: AssetId, atMs: number): number {
    const held = this.#byAsset.get(asset);
    if (held === undefined) return 0;
    held.traders ??= this.#tradersOf(asset, atMs);
    const fromMs = atMs - DAY_MS;
    let before = 0;
    for (const [pkh, lastMs] of held.traders) {
      if (lastMs >= fromMs) break;
      if (lastMs < fromMs - KEPT_MS) held.traders.delete(pkh);
      else before += 1;
    }
    return held.traders.size - before;
  }

  /** What an entry changed. Answers whether a ticker may have changed. */
  update(changes: readonly RowChange[], counted: CountedTrades, at: At): boolean {
    this.#seq = at.seq;
    const hasMoved = this.#moveTo(at);
    for (const { table, key, after, before } of changes) {
      if (table === 'pairs' && after !== null) this.#open(after);
      else if (table === 'trades' && after !== null) this.#noteTrade(key, after);
      else if (table === 'pools') this.#notePool(key, before === null ? after : null);
    }
    const { pairs, trades } = counted;
    for (const [index, { timeMs }] of trades.entries()) {
      const held = this.#byId.get(pairs[index] ?? 0);
      if (held !== undefined) this.#noteMinute(held, intervalStart('min1', timeMs), at.seq);
    }
    return hasMoved || this.changes.between(at.seq - 1, at.seq);
  }

  /** What a rollback put back: the pairs that it touched are read again. */
  undo(changes: readonly RowChange[], bars: readonly BarSlot[], seq: number): void {
    this.#seq = seq;
    for (const { table, key, after } of changes) {
      if (table === 'pairs') this.#restorePair(key, after);
      else if (table === 'trades') {
        const held = this.#byAsset.get(assetOf(key, '/'));
        if (held !== undefined) held.traders = null;
      }
      if (table === 'pools') this.#notePool(key, after);
      if (table === 'trades') this.changes.note(assetOf(key, '/'), seq, true);
    }
    for (const { pair, resolution } of bars) {
      const held = resolution === MIN1 ? this.#byId.get(pair) : undefined;
      if (held === undefined) continue;
      forget(held);
      this.changes.note(held.pair.base, seq, true);
    }
  }

  /** The minute is read when the pair is looked at: until then many trades may fall into it. */
  #noteMinute(held: Held, startMs: number, seq: number): void {
    const { state, traded, pair } = held;
    if (state instanceof MinuteWindows && traded.size < MOST_MINUTES) {
      traded.add(startMs);
      this.changes.noteMinute(pair.base, startMs);
    } else forget(held);
    this.changes.note(pair.base, seq, true);
  }

  /** `launched`: its row, where it was not there before. */
  #notePool(asset: AssetId, launched: string | null): void {
    this.changes.note(asset, this.#seq, true);
    if (launched !== null) this.#noteLaunch(asset, readRecord<PoolRecord>(launched).createdMs);
  }

  /** Changes are null until a window begins at the launch or later: its minute leaves before. */
  #noteLaunch(asset: AssetId, createdMs: number): void {
    this.changes.noteMinute(asset, intervalStart('min1', createdMs - 1));
  }

  *#readAll(): Generator<void> {
    for (let after: string | undefined; ; ) {
      const rows = this.#store.withPrefix('pairs', '', STEP, after);
      for (const { key, value } of rows) this.#openFound(key, value);
      after = rows.at(-1)?.key;
      if (rows.length < STEP) break;
      yield;
    }
    yield* this.#noteLaunches();
    this.#isOpen = true;
    for (const held of [...this.#byAsset.values()]) {
      if (held.state !== null) continue;
      yield;
      // A rollback may have taken the pair away.
      if (this.#byId.get(held.pair.id) === held) this.#stateOf(held, this.#latestMs);
    }
  }

  #openFound(name: string, text: string): void {
    const asset = assetOf(name, '_');
    if (this.#byAsset.has(asset)) return;
    this.#open(text);
    if (this.#byAsset.has(asset)) this.#noteUnknown(asset);
  }

  /** What was applied since the reading began was not noted of this token. */
  #noteUnknown(asset: AssetId): void {
    if (this.#seq > this.#firstSeq) this.changes.note(asset, this.#seq, true);
  }

  /** Launches that are in a window. */
  *#noteLaunches(): Generator<void> {
    const fromMs = this.#latestMs - DAY_MS - KEPT_MS;
    for (let limit = PAGE; ; limit *= 4) {
      const newest = this.#directory.page('New', limit);
      const last = newest.at(-1);
      const isAll = newest.length < limit || (last !== undefined && last.pool.createdMs < fromMs);
      if (!isAll) continue;
      for (const [index, { pool }] of newest.entries()) {
        this.changes.note(pool.token, this.#seq, true);
        this.#noteLaunch(pool.token, pool.createdMs);
        if (index % STEP === 0) yield;
      }
      return;
    }
  }

  #open(text: string): void {
    const pair = readRecord<Pair>(text);
    if (pair.quote !== COIN) return;
    const held: Held = { pair, state: null, traded: new Set(), traders: null };
    this.#byAsset.set(pair.base, held);
    this.#byId.set(pair.id, held);
  }

  #restorePair(name: string, text: string | null): void {
    const asset = assetOf(name, '_');
    const held = this.#byAsset.get(asset);
    if (held !== undefined && held.pair.quote === COIN && name.endsWith(`_${COIN}`)) {
      this.#byAsset.delete(asset);
      this.#byId.delete(held.pair.id);
    }
    if (text !== null) this.#open(text);
  }

  #noteTrade(key: string, text: string): void {
    const asset = assetOf(key, '/');
    const traders = this.#byAsset.get(asset)?.traders ?? null;
    if (traders === null) return;
    const { pkh, atMs } = readRecord<TradeRecord>(text);
    if (pkh === '') return;
    // A trade that moved too little for a bar has a trader.
    this.changes.noteMinute(asset, intervalStart('min1', atMs));
    this.changes.note(asset, this.#seq, false);
    // Last in the map: they are in the order of their last trades.
    traders.delete(pkh);
    traders.set(pkh, atMs);
  }

  #noteMinutes(asset: AssetId, windows: MinuteWindows): void {
    for (const startMs of windows.starts()) this.changes.noteMinute(asset, startMs);
  }

  /** After a step back further than what is kept, everything is read again. */
  #moveTo({ seq, marketMs }: At): boolean {
    const atMs = intervalStart('min1', marketMs);
    // What is kept ends a minute later where somebody looked at the next minute.
    if (atMs < this.#latestMs + MINUTE_MS - KEPT_MS) {
      this.#latestMs = atMs;
      this.changes.forget(seq, atMs);
      for (const [asset, held] of this.#byAsset) {
        forget(held);
        held.traders = null;
        this.changes.note(asset, seq, true);
      }
      for (const _ of this.#noteLaunches());
      return true;
    }
    this.#latestMs = Math.max(this.#latestMs, atMs);
    return this.changes.moveTo(atMs, seq);
  }

  #stateOf(held: Held, atMs: number): MinuteWindows | Quiet {
    const { state } = held;
    const isRight = state !== null && (!(state instanceof MinuteWindows) || state.covers(atMs));
    const known = isRight ? state : this.#read(held.pair, atMs);
    if (isRight && known instanceof MinuteWindows) this.#putTraded(held, known);
    held.traded.clear();
    held.state = known;
    if (!isRight && known instanceof MinuteWindows) this.#noteMinutes(held.pair.base, known);
    if (state === null) this.#noteUnknown(held.pair.base);
    if (!(known instanceof MinuteWindows)) return known;
    const { newest } = known;
    if (newest === null || newest.startMs < atMs - DAY_MS - KEPT_MS) {
      const last = newest === null ? null : { close: newest.close, lastMs: newest.lastMs };
      held.state = { last };
      return held.state;
    }
    known.moveTo(atMs);
    return known;
  }

  #putTraded({ pair, traded }: Held, windows: MinuteWindows): void {
    for (const startMs of traded) {
      const row = this.#store.bar(pair.id, MIN1, startMs);
      if (row !== null && row.value !== null) windows.put(readMinute(row));
    }
  }

  #read({ id }: Pair, atMs: number): MinuteWindows {
    const fromMs = atMs - DAY_MS;
    const minutes = this.#store.bars(id, MIN1, fromMs, FOREVER_MS, MOST_MINUTES);
    const [before] = this.#store.bars(id, MIN1, EARLIEST_START_MS, fromMs, 1);
    const rows = before === undefined ? minutes : [...minutes, before];
    return new MinuteWindows(rows.reverse().map(readMinute), atMs, before === undefined);
  }

  #tradersOf(asset: AssetId, atMs: number): Map<string, number> {
    const traders = this.#readTraders(asset, atMs);
    for (const lastMs of traders.values()) {
      this.changes.noteMinute(asset, intervalStart('min1', lastMs));
    }
    return traders;
  }

  #readTraders(asset: AssetId, atMs: number): Map<string, number> {
    const fromMs = atMs - DAY_MS - KEPT_MS;
    const newestFirst = new Map<string, number>();
    let after: string | undefined;
    for (;;) {
      const query = { order: 'descending', offset: 0, limit: PAGE } as const;
      const from = after === undefined ? query : { ...query, after };
      const rows = this.#store.page('trades', `${asset}/`, from);
      for (const { value } of rows) {
        const { pkh, atMs: tradeMs } = readRecord<TradeRecord>(value);
        if (tradeMs < fromMs) return new Map([...newestFirst].reverse());
        if (pkh !== '' && !newestFirst.has(pkh)) newestFirst.set(pkh, tradeMs);
      }
      if (rows.length < PAGE) return new Map([...newestFirst].reverse());
      after = rows.at(-1)?.key;
    }
  }
}

function forget(held: Held): void {
  held.state = null;
  held.traded.clear();
}

function readMinute({ start, value }: BarRow): Minute {
  return minuteOf(decodeBar(start, value ?? ''));
}

/** The asset that a key begins with. */
function assetOf(key: string, separator: '/' | '_'): AssetId {
  return key.slice(0, key.indexOf(separator));
}
