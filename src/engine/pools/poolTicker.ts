/**
 * The ticker of one pool, or of a feed's pair against the coin: its last day and who traded in it.
 * Read from the store when it is asked for, in steps of about a millisecond, then kept in step with
 * rows; entries may be applied between two steps.
 *
 * Never: holds data that the store cannot give again, or reads a clock.
 */

import type { AssetId } from '../market/asset.ts';
import { decodeBar } from '../market/barText.ts';
import type { Pair } from '../market/pair.ts';
import type { Ratio } from '../market/ratio.ts';
import {
  EARLIEST_START_MS,
  FOREVER_MS,
  HOUR_MS,
  STORED_RESOLUTION_IDS,
} from '../market/resolution.ts';
import { closeOf, WINDOW_MS, type Window } from '../market/windows.ts';
import { assert } from '../runtime/assert.ts';
import { readRecord, type TradeRecord } from '../store/records.ts';
import type { StateStore } from '../store/state.ts';
import { type CurrentBars, KEPT_MS, RecentBars } from './recentBars.ts';

/** A span of market time. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A pair at one market time. */
export interface PairDay {
  readonly pair: Pair;
  /** null: it had no trade for 24 hours. */
  readonly windows: RecentBars | null;
  /** null before its first trade. */
  readonly last: LastTrade | null;
}

/** The newest trade and the price after it. */
interface LastTrade {
  readonly close: Ratio;
  readonly lastMs: number;
}

/** A pair without a trade for a day and the kept time beyond it. */
interface Quiet {
  readonly last: LastTrade | null;
}

interface TradersReading {
  readonly steps: Generator<void, Map<string, number>>;
  /** Keys that traded since the reading began. */
  readonly later: (readonly [pkh: string, atMs: number])[];
}

const MIN1 = STORED_RESOLUTION_IDS.min1;
const DAY_MS = WINDOW_MS['24h'];
/** More than a day has minutes. */
const MAX_MINUTES = 2_000;
/** Trades noted while the traders are read. */
const MAX_LATER = 10_000;
/** Read in one step. */
const MINUTES_A_STEP = 180;
const TRADES_A_STEP = 200;

/** `atMs`: market time, cut to the minute. */
export class PoolTicker {
  readonly pair: Pair;
  readonly #store: StateStore;
  #state: RecentBars | Quiet | null = null;
  /** Starts of minutes that were traded in since `#state` was looked at, or began to be read. */
  readonly #traded = new Set<number>();
  #reading: Generator<void, RecentBars> | null = null;
  /** By payment key, when it traded last, oldest first; null: not read. */
  #traders: Map<string, number> | null = null;
  #tradersReading: TradersReading | null = null;

  constructor(store: StateStore, pair: Pair) {
    this.#store = store;
    this.pair = pair;
  }

  get isRead(): boolean {
    return this.#state !== null;
  }

  /** False: it surely had no trade in the last 24 hours. */
  get mayBeTraded(): boolean {
    return !isQuiet(this.#state);
  }

  /** It is not enough to `noteMinute`: the trader of a trade has to be noted as well. */
  get knowsTraders(): boolean {
    return this.#traders !== null || this.#tradersReading !== null;
  }

  /** null: surely before the last 24 hours. undefined: not read, or without a trade. */
  get firstMinuteMs(): number | null | undefined {
    const state = this.#state;
    if (state instanceof RecentBars) return state.launchMs;
    return state?.last ? null : undefined;
  }

  forgetDay(): void {
    this.#state = null;
    this.#reading = null;
    this.#traded.clear();
  }

  forgetTraders(): void {
    this.#traders = null;
    this.#tradersReading = null;
  }

  /** It is read when the pair is looked at: until then many trades may fall into it. */
  noteMinute(startMs: number): void {
    const isKept = this.#state instanceof RecentBars || this.#reading !== null;
    if (isKept && this.#traded.size < MAX_MINUTES) this.#traded.add(startMs);
    else this.forgetDay();
  }

  noteTrader(pkh: string, atMs: number): void {
    const [traders, reading] = [this.#traders, this.#tradersReading];
    if (traders !== null) {
      putLast(traders, pkh, atMs);
      dropBefore(traders, atMs - DAY_MS - KEPT_MS);
    } else if (reading !== null) {
      // The reader may have gone away.
      if (reading.later.length < MAX_LATER) reading.later.push([pkh, atMs]);
      else this.forgetTraders();
    }
  }

  /** Reads what `day` answers from, until `isOver`. True: it is read. */
  readDay(atMs: number, isOver: () => boolean): boolean {
    while (!this.#isReadAt(atMs)) {
      if (isOver()) return false;
      this.#reading ??= readDay(this.#store, this.pair.id, atMs);
      const { value, done } = this.#reading.next();
      if (done !== true) continue;
      this.#reading = null;
      this.#state = value;
    }
    return true;
  }

  /** Reads what `traders` answers from, until `isOver`. True: it is read. */
  readTraders(atMs: number, isOver: () => boolean): boolean {
    while (this.#traders === null) {
      if (isOver()) return false;
      const steps = () => readTraders(this.#store, this.pair.base, atMs);
      this.#tradersReading ??= { steps: steps(), later: [] };
      const { value, done } = this.#tradersReading.steps.next();
      if (done !== true) continue;
      for (const [pkh, lastMs] of this.#tradersReading.later) putLast(value, pkh, lastMs);
      this.#tradersReading = null;
      this.#traders = value;
    }
    return true;
  }

  day(atMs: number): PairDay {
    const { pair } = this;
    const state = this.#stateAt(atMs);
    if (isQuiet(state)) return { pair, windows: null, last: state.last };
    const isActive = state.hasBetween(atMs - DAY_MS, FOREVER_MS);
    return {
      ...{ pair, windows: isActive ? state : null },
      get last() {
        return lastOf(state);
      },
    };
  }

  /** Payment keys that traded it in the 24 hours before `atMs`. */
  traders(atMs: number): number {
    this.readTraders(atMs, () => false);
    const traders = this.#traders;
    assert(traders !== null, 'traders were read');
    const fromMs = atMs - DAY_MS;
    dropBefore(traders, fromMs - KEPT_MS);
    let before = 0;
    for (const lastMs of traders.values()) {
      if (lastMs >= fromMs) break;
      before += 1;
    }
    return traders.size - before;
  }

  /** Whether a minute is, or may be, in one of the windows at only one end of `steps`. */
  hasCrossed(windows: readonly Window[], steps: Span): boolean {
    const [state, traders] = [this.#state, this.#traders];
    if (state === null) return true;
    for (const window of windows) {
      const { fromMs, toMs } = edgesOf(window, steps);
      if (state instanceof RecentBars && state.hasBetween(fromMs, toMs)) return true;
      for (const startMs of this.#traded) if (startMs >= fromMs && startMs < toMs) return true;
      // A trade that moved too little for a bar has a trader, and no minute.
      const isOfTraders = window === '24h' && traders !== null;
      if (isOfTraders && hasTraded(traders, fromMs, toMs)) return true;
    }
    return false;
  }

  #isReadAt(atMs: number): boolean {
    const state = this.#state;
    return state instanceof RecentBars ? state.covers(atMs) : state !== null;
  }

  #stateAt(atMs: number): RecentBars | Quiet {
    this.readDay(atMs, () => false);
    const state = this.#state;
    assert(state !== null, 'the day was read');
    if (isQuiet(state)) return state;
    for (const startMs of this.#traded) state.changed(startMs);
    this.#traded.clear();
    const { newestMs } = state;
    if (newestMs === null || newestMs < atMs - DAY_MS - KEPT_MS) {
      this.#state = { last: lastOf(state) };
      return this.#state;
    }
    state.moveTo(atMs);
    return state;
  }
}

function lastOf({ newest }: RecentBars): LastTrade | null {
  return newest === null ? null : { close: closeOf(newest), lastMs: newest.close.timeMs };
}

/** The time that a window leaves between two market times. */
export function edgesOf(window: Window, { fromMs, toMs }: Span): Span {
  return { fromMs: fromMs - WINDOW_MS[window], toMs: toMs - WINDOW_MS[window] };
}

function isQuiet(state: RecentBars | Quiet | null): state is Quiet {
  return state !== null && !(state instanceof RecentBars);
}

/** They are in the order of their last trades. */
function putLast(traders: Map<string, number>, pkh: string, atMs: number): void {
  traders.delete(pkh);
  traders.set(pkh, atMs);
}

/** Drops the traders whose last trade is older than that moment. The map has the oldest first. */
function dropBefore(traders: Map<string, number>, fromMs: number): void {
  for (const [pkh, lastMs] of traders) {
    if (lastMs >= fromMs) return;
    traders.delete(pkh);
  }
}

function hasTraded(traders: ReadonlyMap<string, number>, fromMs: number, toMs: number): boolean {
  for (const lastMs of traders.values()) if (lastMs >= fromMs) return lastMs < toMs;
  return false;
}

/** In steps: a pair may have a trade in each minute. */
function* readDay(store: StateStore, pair: number, atMs: number): Generator<void, RecentBars> {
  const fromMs = atMs - DAY_MS;
  const read = (startMs: number, endMs: number, most: number): number[] =>
    store
      .bars(pair, MIN1, startMs, endMs, most)
      .reverse()
      .map(({ start }) => start);
  const before = read(EARLIEST_START_MS, fromMs, 1);
  const isWhole = before.length === 0;
  const bars = barsOf(store, pair);
  const newest = read(fromMs, FOREVER_MS, MINUTES_A_STEP);
  if (newest.length < MINUTES_A_STEP) {
    return new RecentBars(bars, [...before, ...newest], atMs, isWhole);
  }
  const starts = before;
  for (let startMs = fromMs; startMs <= atMs; startMs += 3 * HOUR_MS) {
    yield;
    const endMs = startMs + 3 * HOUR_MS;
    starts.push(...read(startMs, endMs > atMs ? FOREVER_MS : endMs, MAX_MINUTES));
  }
  return new RecentBars(bars, starts, atMs, isWhole);
}

/** Reads bars of a pair, waiting ones included. */
function barsOf(store: StateStore, pair: number): CurrentBars {
  return {
    at(resolution, startMs) {
      const value = store.barValue(pair, STORED_RESOLUTION_IDS[resolution], startMs);
      return typeof value === 'string' ? decodeBar(startMs, value) : value;
    },
    between: (resolution, fromMs, toMs) =>
      store
        .bars(pair, STORED_RESOLUTION_IDS[resolution], fromMs, toMs, MAX_MINUTES)
        .reverse()
        .map(({ start, value }) => decodeBar(start, value ?? '')),
  };
}

/** By payment key, when it traded last, oldest first: since a day before `atMs`, and `KEPT_MS`. */
function* readTraders(
  store: StateStore,
  asset: AssetId,
  atMs: number,
): Generator<void, Map<string, number>> {
  const fromMs = atMs - DAY_MS - KEPT_MS;
  const newestFirst = new Map<string, number>();
  const query = { order: 'descending', offset: 0, limit: TRADES_A_STEP } as const;
  for (let after: string | undefined; ; ) {
    const rows = store.page(
      'trades',
      `${asset}/`,
      after === undefined ? query : { ...query, after },
    );
    for (const { value } of rows) {
      const { pkh, atMs: tradeMs } = readRecord<TradeRecord>(value);
      if (tradeMs < fromMs) return new Map([...newestFirst].reverse());
      if (pkh !== '' && !newestFirst.has(pkh)) newestFirst.set(pkh, tradeMs);
    }
    if (rows.length < TRADES_A_STEP) return new Map([...newestFirst].reverse());
    after = rows.at(-1)?.key;
    yield;
  }
}
