/**
 * The actors of pairs: made when they are needed, evicted when there are many, quarantined when one
 * fails twice. Their writes never depend on which actors are in memory.
 */
import type { TradeEvent } from '../log/entry.ts';
import { type Listing, type Pair, pairName } from '../market/pair.ts';
import { intervalEnd, storedResolution } from '../market/resolution.ts';
import type { PoolStep, Trade } from '../market/trade.ts';
import { assert } from '../runtime/assert.ts';
import { isOpen, type OpenBar } from '../store/barRows.ts';
import { readRecord } from '../store/records.ts';
import type { StateStore } from '../store/state.ts';
import type { CountedTrades } from '../store/tradeIds.ts';
import { PairActor, type PoolEffects, type PoolTime, seriesTag } from './pairActor.ts';
import { pairId } from './pairIds.ts';

export interface PairOptions {
  /** Actors in memory; the least recently used beyond it are evicted. */
  readonly maxLoadedPools: number;
  quarantined(pool: string, error: unknown): void;
}

/** A trade as the fold takes it; where it is a pool's, with what it did to the pool. */
export interface PairTrade extends TradeEvent {
  readonly step?: PoolStep;
}

/** Where an entry's effects are collected. */
interface PairDraft extends PoolEffects {
  readonly trades: CountedTrades;
  readonly tags: Set<string>;
}

export class PairActors {
  readonly #store: StateStore;
  readonly #options: PairOptions;
  readonly #barEnds = new BarEndSchedule();
  readonly #actors = new Map<string, PairActor>();
  readonly #quarantined = new Set<string>();
  readonly #names = new Map<number, string>();
  #uses = 0;
  /** The newest one asked for, still in memory: trades of a pair come together. */
  #opened: PairActor | null = null;

  /** Everything must be committed. */
  constructor(store: StateStore, options: PairOptions) {
    this.#store = store;
    this.#options = options;
    for (const { key, value } of store.all('pairs')) {
      this.#names.set(readRecord<Pair>(value).id, key);
    }
    for (const { pair, resolution, start } of store.allOpenBars()) {
      const [name, resolutionName] = [this.#names.get(pair), storedResolution(resolution)];
      assert(name !== undefined && resolutionName !== null, 'a bar is of a pair');
      this.#barEnds.add(intervalEnd(resolutionName, start), name);
    }
  }

  get quarantined(): number {
    return this.#quarantined.size;
  }

  /** Moments at which open bars end, up to `marketMs`, ascending. */
  endsUpTo(marketMs: number): number[] {
    return this.#barEnds.endsUpTo(marketMs);
  }

  find(name: string): PairActor | 'quarantined' | null {
    if (this.#quarantined.has(name)) return 'quarantined';
    try {
      return this.#load(name);
    } catch (error) {
      this.#quarantine(name, error);
      return 'quarantined';
    }
  }

  keepQuarantined(names: readonly string[]): void {
    for (const name of names) this.#quarantined.add(name);
  }

  /** Opens what is new, and gives every pair its trades, and time where a bar has to be closed. */
  take(
    listings: readonly Listing[],
    trades: readonly PairTrade[],
    { atMs, marketMs, seq }: { readonly atMs: number; readonly marketMs: number; seq: number },
    draft: PairDraft,
  ): void {
    const time = { marketMs, seq };
    const [first] = trades;
    const isAlone = first !== undefined && trades.length === 1 && listings.length === 0;
    if (isAlone && !this.#barEnds.isDue(marketMs)) {
      this.#give(this.#open(first, draft), [readTrade(first, atMs)], time, draft);
    } else {
      for (const [name, mine] of this.#share(listings, trades, { atMs, marketMs }, draft)) {
        this.#give(name, mine, time, draft);
      }
    }
    if (this.#actors.size > this.#options.maxLoadedPools) this.#evict();
  }

  /** The pairs that have something to do, each with its trades. */
  #share(
    listings: readonly Listing[],
    trades: readonly PairTrade[],
    { atMs, marketMs }: { readonly atMs: number; readonly marketMs: number },
    draft: PairDraft,
  ): Map<string, Trade[]> {
    const work = new Map<string, Trade[]>();
    for (const listing of listings) work.set(this.#open(listing, draft), []);
    for (const event of trades) {
      const name = this.#open(event, draft);
      const those = work.get(name);
      if (those === undefined) work.set(name, [readTrade(event, atMs)]);
      else those.push(readTrade(event, atMs));
    }
    if (!this.#barEnds.isDue(marketMs)) return work;
    // Sorted: the order of `#barEnds` depends on when the node was started.
    const due = [...this.#barEnds.takeDue(marketMs)].sort();
    for (const name of due) if (!work.has(name)) work.set(name, []);
    return work;
  }

  /** A row of `pairs` was put back. A pair that goes, comes back with another actor. */
  pairRestored(name: string): void {
    this.#remove(name);
  }

  /** A row of `bars` was put back. */
  barRestored({ pair, resolution, start }: OpenBar, value: string | null, tags: Set<string>): void {
    const name = this.#names.get(pair);
    const resolutionName = storedResolution(resolution);
    if (name === undefined || resolutionName === null) return;
    tags.add(seriesTag(name));
    this.#remove(name);
    if (isOpen(value)) this.#barEnds.add(intervalEnd(resolutionName, start), name);
  }

  /** An actor that throws is made again from the store and tried once more, then quarantined. */
  #give(name: string, trades: readonly Trade[], time: PoolTime, draft: PairDraft): void {
    if (this.#quarantined.has(name)) return;
    const bars = draft.bars.length;
    for (const lastChance of [false, true]) {
      try {
        const actor = this.#load(name);
        if (actor === null && trades.length === 0) return;
        assert(actor !== null, `pool ${name} can be loaded`);
        const endsMs: number[] = [];
        const counted = actor.take(trades, time, draft, endsMs);
        for (const trade of counted) draft.trades.push(actor.pair.id, trade);
        if (counted.length > 0 || draft.bars.length > bars) draft.tags.add(actor.tag);
        for (const endMs of endsMs) this.#barEnds.add(endMs, name);
        return;
      } catch (error) {
        this.#forget(name);
        if (lastChance) this.#quarantine(name, error);
      }
    }
  }

  #quarantine(name: string, error: unknown): void {
    this.#quarantined.add(name);
    this.#options.quarantined(name, error);
  }

  #open(event: Listing, draft: PairDraft): string {
    const { base, quote } = event;
    const last = this.#opened;
    if (last !== null && last.pair.base === base && last.pair.quote === quote) return last.name;
    const name = pairName(base, quote);
    const actor = this.#actors.get(name);
    if (actor !== undefined) {
      this.#opened = actor;
      // That text, so that the next look-up finds its hash made and compares one reference.
      return actor.name;
    }
    const known = this.#store.get('pairs', name) !== null;
    if (known || this.#quarantined.has(name)) return name;
    const { baseDecimals, quoteDecimals } = event;
    const id = pairId(name, this.#store, draft.changes);
    const pair = { id, base, quote, baseDecimals, quoteDecimals };
    this.#names.set(id, name);
    this.#actors.set(name, new PairActor(this.#store, pair, false));
    return name;
  }

  #load(name: string): PairActor | null {
    let actor = this.#actors.get(name);
    if (actor === undefined) {
      const value = this.#store.get('pairs', name);
      if (value === null) return null;
      actor = new PairActor(this.#store, readRecord<Pair>(value), true);
      this.#actors.set(name, actor);
    }
    this.#uses += 1;
    actor.lastUsed = this.#uses;
    return actor;
  }

  #evict(): void {
    const byUse = [...this.#actors.values()].sort((a, b) => a.lastUsed - b.lastUsed);
    const kept = Math.ceil(0.9 * this.#options.maxLoadedPools);
    for (const { name } of byUse.slice(0, byUse.length - kept)) this.#forget(name);
  }

  /** What it has not staged yet stays. */
  #forget(name: string): void {
    this.#actors.get(name)?.settle();
    this.#remove(name);
  }

  #remove(name: string): void {
    this.#actors.delete(name);
    this.#opened = null;
  }
}

function readTrade(event: PairTrade, timeMs: number): Trade {
  const { id, step } = event;
  const baseAmount = BigInt(event.baseAmount);
  const quoteAmount = BigInt(event.quoteAmount);
  if (step === undefined) return { id, timeMs, baseAmount, quoteAmount };
  return { id, timeMs, baseAmount, quoteAmount, step };
}

/**
 * Which pools have bars whose interval ends when. Ends of all pairs coincide (minutes, hours ...),
 * so there are few of them. A name too many is harmless: the pool finds nothing to close.
 */
export class BarEndSchedule {
  readonly #pools = new Map<number, Set<string>>();
  /** Smallest end; what the fold compares each entry with. */
  #nextMs = Number.POSITIVE_INFINITY;

  add(endMs: number, pool: string): void {
    const pools = this.#pools.get(endMs);
    if (pools === undefined) this.#pools.set(endMs, new Set([pool]));
    else pools.add(pool);
    if (endMs < this.#nextMs) this.#nextMs = endMs;
  }

  /** Ends at or before `marketMs`, ascending, without taking them. */
  endsUpTo(marketMs: number): number[] {
    if (marketMs < this.#nextMs) return [];
    return [...this.#pools.keys()].filter((endMs) => endMs <= marketMs).sort((a, b) => a - b);
  }

  isDue(marketMs: number): boolean {
    return marketMs >= this.#nextMs;
  }

  /** Takes the pools whose ends are at or before `marketMs`. */
  takeDue(marketMs: number): Set<string> {
    const due = new Set<string>();
    if (marketMs < this.#nextMs) return due;
    for (const endMs of this.endsUpTo(marketMs)) {
      for (const pool of this.#pools.get(endMs) ?? []) due.add(pool);
      this.#pools.delete(endMs);
    }
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const endMs of this.#pools.keys()) if (endMs < this.#nextMs) this.#nextMs = endMs;
    return due;
  }
}
