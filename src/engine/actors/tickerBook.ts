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
import { EARLIEST_START_MS, STORED_RESOLUTION_IDS } from '../market/resolution.ts';
import { KEPT_MS, type Minute, MinuteWindows, minuteOf, WINDOW_MS } from '../market/windows.ts';
import type { BarChange, BarRow } from '../store/barRows.ts';
import { readRecord, type TradeRecord } from '../store/records.ts';
import type { RowChange } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';

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
const MOST_PAIRS = 1_000_000;
const PAGE = 1_000;

export class TickerBook {
  readonly #store: StateStore;
  readonly #byAsset = new Map<AssetId, Held>();
  readonly #byId = new Map<number, Held>();
  /** The latest market time that anything was read for. */
  #readMs = 0;

  constructor(store: StateStore) {
    this.#store = store;
    for (const { value } of store.withPrefix('pairs', '', MOST_PAIRS)) this.#open(value);
  }

  /** Tokens with a pair against the coin. */
  assets(): Iterable<AssetId> {
    return this.#byAsset.keys();
  }

  /** `atMs`: market time, cut to the minute. null: the token has no pair. */
  day(asset: AssetId, atMs: number): PairDay | null {
    const held = this.#byAsset.get(asset);
    if (held === undefined) return null;
    this.#forgetAhead(atMs);
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
    this.#forgetAhead(atMs);
    held.traders ??= this.#readTraders(asset, atMs);
    const fromMs = atMs - DAY_MS;
    let before = 0;
    for (const [pkh, lastMs] of held.traders) {
      if (lastMs >= fromMs) break;
      if (lastMs < fromMs - KEPT_MS) held.traders.delete(pkh);
      else before += 1;
    }
    return held.traders.size - before;
  }

  /** What an entry changed. */
  update(changes: readonly RowChange[], bars: readonly BarChange[]): void {
    for (const { table, key, after } of changes) {
      if (table === 'pairs' && after !== null) this.#open(after);
      else if (table === 'trades' && after !== null) this.#noteTrade(key, after);
    }
    for (const { place, after } of bars) {
      if (place.resolution !== MIN1) continue;
      const held = this.#byId.get(place.pair);
      if (held === undefined) continue;
      const { state } = held;
      const bar = typeof after === 'object' ? after : null;
      if (state instanceof MinuteWindows && bar !== null) state.put(minuteOf(bar));
      else held.state = null;
    }
  }

  /** What a rollback put back: the pairs that it touched are read again. */
  undo(changes: readonly RowChange[], bars: readonly BarChange[]): void {
    for (const { table, key, after } of changes) {
      if (table === 'pairs') this.#restorePair(key, after);
      else if (table === 'trades') {
        const held = this.#byAsset.get(assetOf(key, '/'));
        if (held !== undefined) held.traders = null;
      }
    }
    for (const { place } of bars) {
      const held = place.resolution === MIN1 ? this.#byId.get(place.pair) : undefined;
      if (held !== undefined) held.state = null;
    }
  }

  #open(text: string): void {
    const pair = readRecord<Pair>(text);
    if (pair.quote !== COIN) return;
    const held: Held = { pair, state: null, traders: null };
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
    const traders = this.#byAsset.get(assetOf(key, '/'))?.traders ?? null;
    if (traders === null) return;
    const { pkh, atMs } = readRecord<TradeRecord>(text);
    if (pkh === '') return;
    // Last in the map: they are in the order of their last trades.
    traders.delete(pkh);
    traders.set(pkh, atMs);
  }

  /** Market time stepped back further than what is kept: everything is read again. */
  #forgetAhead(atMs: number): void {
    if (atMs < this.#readMs - KEPT_MS) {
      for (const held of this.#byAsset.values()) {
        held.state = null;
        held.traders = null;
      }
      this.#readMs = atMs;
    } else if (atMs > this.#readMs) this.#readMs = atMs;
  }

  #stateOf(held: Held, atMs: number): MinuteWindows | Quiet {
    const { state } = held;
    const isRight = state !== null && (!(state instanceof MinuteWindows) || state.covers(atMs));
    const known = isRight ? state : this.#read(held.pair, atMs);
    held.state = known;
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

  #read({ id }: Pair, atMs: number): MinuteWindows {
    const fromMs = atMs - DAY_MS;
    const minutes = this.#store.bars(id, MIN1, fromMs, FOREVER_MS, MOST_MINUTES);
    const [before] = this.#store.bars(id, MIN1, EARLIEST_START_MS, fromMs, 1);
    const rows = before === undefined ? minutes : [...minutes, before];
    return new MinuteWindows(rows.reverse().map(readMinute), atMs, before === undefined);
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

function readMinute({ start, value }: BarRow): Minute {
  return minuteOf(decodeBar(start, value ?? ''));
}

/** The asset that a key begins with. */
function assetOf(key: string, separator: '/' | '_'): AssetId {
  return key.slice(0, key.indexOf(separator));
}
