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
import type { EndedBar } from '../store/hashWindow.ts';
import { readRecord } from '../store/records.ts';
import type { StagedPair } from '../store/stagedBars.ts';
import type { StateStore } from '../store/state.ts';
import type { CountedTrades } from '../store/tradeIds.ts';
import { BarEndSchedule } from './barEndSchedule.ts';
import { PairActor, type PairEffects, type PairTime, seriesTag } from './pairActor.ts';
import { pairCount, pairId } from './pairIds.ts';

export interface PairOptions {
  /** Actors in memory; the least recently used beyond it are evicted. */
  readonly maxLoadedPools: number;
  quarantined(pool: string, error: unknown): void;
}

/** A trade as the fold takes it; where it is a pool's, with what it did to the pool. */
export interface PairTrade extends TradeEvent {
  readonly step?: PoolStep;
}

/** A pair that is traded or new in an entry. */
interface Work {
  readonly name: string;
  /** null: it is not in memory. */
  readonly actor: PairActor | null;
  readonly trades: Trade[];
}

/** Where an entry's effects are collected. */
interface PairDraft extends PairEffects {
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
  /** `#actors` by quote and base: to make a name of them costs as much as a trade's other work. */
  readonly #byAssets = new Map<string, Map<string, PairActor>>();
  /** Ends of bars that a pair opened; empty between two pairs. */
  readonly #endsMs: number[] = [];
  #uses = 0;

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
      this.#barEnds.add(intervalEnd(resolutionName, start), pair);
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
    const isDue = this.#barEnds.isDue(marketMs);
    if (isAlone && !isDue) {
      this.#give(workOf(this.#open(first, draft), [readTrade(first, atMs)]), time, draft);
    } else {
      const all = this.#share(listings, trades, atMs, draft);
      if (isDue) this.#passEnds(all, time, draft);
      for (const work of all) this.#give(work, time, draft);
    }
    if (this.#actors.size > this.#options.maxLoadedPools) this.#evict();
  }

  /** The final bars of a pair that nothing has changed after entry `seq`. */
  endedAt(id: number, seq: number): readonly EndedBar[] {
    this.#store.endBars(id);
    const name = this.#names.get(id);
    const actor = name === undefined ? null : this.find(name);
    return actor === null || actor === 'quarantined' ? [] : actor.endedAt(seq);
  }

  /** The pairs that are traded or new, each with its trades. */
  #share(
    listings: readonly Listing[],
    trades: readonly PairTrade[],
    atMs: number,
    draft: PairDraft,
  ): readonly Work[] {
    const all: Work[] = [];
    const add = (opened: PairActor | string, trade: Trade | null) => {
      const actor = typeof opened === 'string' ? null : opened;
      const index = actor?.workIndex ?? all.findIndex(({ name }) => name === opened);
      const work = all[index];
      // What an earlier entry left is of another pair, or beyond the end.
      const isMine = work !== undefined && (actor === null || work.actor === actor);
      if (isMine && trade !== null) work.trades.push(trade);
      if (isMine) return;
      if (actor !== null) actor.workIndex = all.length;
      all.push(workOf(opened, trade === null ? [] : [trade]));
    };
    for (const listing of listings) add(this.#open(listing, draft), null);
    for (const event of trades) add(this.#open(event, draft), readTrade(event, atMs));
    return all;
  }

  /** Bars end: of the traded pairs with their trades, of all others when it is needed. */
  #passEnds(traded: readonly Work[], time: PairTime, draft: PairDraft): void {
    const pairs = this.#barEnds.takeDue(time.marketMs);
    for (const { name } of traded) {
      const id = this.#idOf(name);
      if (id !== null) pairs.delete(id);
    }
    if (pairs.size === 0) return;
    for (const id of pairs) {
      const name = this.#names.get(id);
      if (name !== undefined) draft.tags.add(this.#actors.get(name)?.tag ?? seriesTag(name));
    }
    this.#store.hashWindow.addEnds(time.seq, pairs, pairCount(this.#store));
    const before = { marketMs: this.#store.checkpoint?.marketMs ?? 0, seq: time.seq - 1 };
    this.#store.stageEnds({
      pairs,
      end: (id, staged) => this.#end(id, before, time, staged),
    });
  }

  /** `before`: until when the pair's rows are as they are, where it has to be loaded. */
  #end(id: number, before: PairTime, time: PairTime, staged: StagedPair): void {
    const name = this.#names.get(id);
    if (name === undefined) return;
    this.#tryTwice(name, () => this.#load(name, before)?.endBars(time, staged));
    if (this.#actors.size > this.#options.maxLoadedPools) this.#evict();
  }

  #idOf(name: string): number | null {
    const actor = this.#actors.get(name);
    if (actor !== undefined) return actor.pair.id;
    return this.#store.record<Pair>('pairs', name)?.id ?? null;
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
    if (isOpen(value)) this.#barEnds.add(intervalEnd(resolutionName, start), pair);
  }

  #give(work: Work, time: PairTime, draft: PairDraft): void {
    const { name } = work;
    if (this.#quarantined.has(name)) return;
    try {
      this.#apply(work, time, draft);
    } catch {
      // The second attempt reports the same error.
      this.#tryAgain(name, () => this.#apply(work, time, draft));
    }
  }

  #apply({ name, actor: known, trades }: Work, time: PairTime, draft: PairDraft): void {
    const actor = this.#loadNow(name, known);
    if (actor === null && trades.length === 0) return;
    assert(actor !== null, `pool ${name} can be loaded`);
    const { id } = actor.pair;
    const bars = draft.bars.length;
    const endsMs = this.#endsMs;
    const counted = actor.take(trades, time, draft, endsMs);
    for (const trade of counted) draft.trades.push(id, trade);
    if (counted.length > 0 || draft.bars.length > bars) draft.tags.add(actor.tag);
    if (endsMs.length === 0) return;
    for (const endMs of endsMs) this.#barEnds.add(endMs, id);
    endsMs.length = 0;
  }

  #tryTwice(name: string, work: () => void): void {
    if (this.#quarantined.has(name)) return;
    try {
      work();
    } catch {
      // The second attempt reports the same error.
      this.#tryAgain(name, work);
    }
  }

  /** An actor that threw is made again from the store and tried once more, then quarantined. */
  #tryAgain(name: string, work: () => void): void {
    this.#forget(name);
    this.#endsMs.length = 0;
    try {
      work();
    } catch (error) {
      this.#forget(name);
      this.#endsMs.length = 0;
      this.#quarantine(name, error);
    }
  }

  #quarantine(name: string, error: unknown): void {
    this.#quarantined.add(name);
    this.#options.quarantined(name, error);
  }

  /** The pair's actor, or its name: it is not in memory. */
  #open(event: Listing, draft: PairDraft): PairActor | string {
    const { base, quote } = event;
    const actor = this.#byAssets.get(quote)?.get(base);
    if (actor !== undefined) return actor;
    const name = pairName(base, quote);
    const known = this.#store.get('pairs', name) !== null;
    if (known || this.#quarantined.has(name)) return name;
    const { baseDecimals, quoteDecimals } = event;
    const id = pairId(name, this.#store, draft.changes);
    const pair = { id, base, quote, baseDecimals, quoteDecimals };
    this.#names.set(id, name);
    return this.#keep(new PairActor(this.#store, pair, null));
  }

  #keep(actor: PairActor): PairActor {
    const { base, quote } = actor.pair;
    this.#actors.set(actor.name, actor);
    const ofQuote = this.#byAssets.get(quote);
    if (ofQuote === undefined) this.#byAssets.set(quote, new Map([[base, actor]]));
    else ofQuote.set(base, actor);
    return actor;
  }

  /** With what market time has ended, after which it may be another actor than `known`. */
  #loadNow(name: string, known: PairActor | null): PairActor | null {
    const actor = known?.isKept === true ? this.#use(known) : this.#load(name);
    if (actor === null || !this.#store.hasEnds(actor.pair.id)) return actor;
    this.#store.endBars(actor.pair.id);
    return this.#load(name);
  }

  /** `at`: until when its rows are as they are; absent: now. */
  #load(name: string, at?: PairTime): PairActor | null {
    const actor = this.#actors.get(name) ?? this.#read(name, at);
    return actor === null ? null : this.#use(actor);
  }

  #use(actor: PairActor): PairActor {
    this.#uses += 1;
    actor.lastUsed = this.#uses;
    return actor;
  }

  #read(name: string, at?: PairTime): PairActor | null {
    const pair = this.#store.record<Pair>('pairs', name);
    if (pair === null) return null;
    // What has ended loads the pair by itself.
    this.#store.endBars(pair.id);
    const loaded = this.#actors.get(name);
    if (loaded !== undefined) return loaded;
    const { marketMs, seq } = at ?? this.#store.checkpoint ?? { marketMs: 0, seq: 0 };
    return this.#keep(new PairActor(this.#store, pair, { marketMs, seq }));
  }

  #evict(): void {
    const byUse = [...this.#actors.values()].sort((a, b) => a.lastUsed - b.lastUsed);
    const kept = Math.ceil(0.9 * this.#options.maxLoadedPools);
    for (const { name, lastUsed } of byUse.slice(0, byUse.length - kept)) {
      // A pair that is new has no row yet to be loaded from.
      if (lastUsed > 0) this.#forget(name);
    }
  }

  /** What it has not staged yet stays. */
  #forget(name: string): void {
    this.#actors.get(name)?.settle();
    this.#remove(name);
  }

  #remove(name: string): void {
    const actor = this.#actors.get(name);
    if (actor === undefined) return;
    actor.isKept = false;
    this.#actors.delete(name);
    this.#byAssets.get(actor.pair.quote)?.delete(actor.pair.base);
  }
}

function workOf(opened: PairActor | string, trades: Trade[]): Work {
  return typeof opened === 'string'
    ? { name: opened, actor: null, trades }
    : { name: opened.name, actor: opened, trades };
}

function readTrade(event: PairTrade, timeMs: number): Trade {
  const { id, step } = event;
  const baseAmount = BigInt(event.baseAmount);
  const quoteAmount = BigInt(event.quoteAmount);
  if (step === undefined) return { id, timeMs, baseAmount, quoteAmount };
  return { id, timeMs, baseAmount, quoteAmount, step };
}
