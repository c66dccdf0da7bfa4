/**
 * Gives each trade of an entry, and the passing of time, to the pair concerned. Bars of a pair are
 * loaded when they are needed, evicted when there are many, and quarantined when they fail twice.
 * The rows that are written never depend on which bars are in memory.
 */
import type { TradeEvent } from '../log/entry.ts';
import { type Listing, pairName } from '../market/pair.ts';
import { intervalEnd, storedResolution } from '../market/resolution.ts';
import type { PoolStep, Trade } from '../market/trade.ts';
import { assert } from '../runtime/assert.ts';
import { isOpen, type OpenBar } from '../store/barRows.ts';
import type { PairWrites } from '../store/pendingBars.ts';
import type { RowValue } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import type { CountedTrades } from '../store/tradeIds.ts';
import { BarEndSchedule } from './barEndSchedule.ts';
import { PairBars, type PairEffects, type PairTime, seriesTag } from './pairBars.ts';
import { pairId } from './pairIds.ts';
import type { PoolPair } from './poolActor.ts';
import type { PoolActors } from './poolActors.ts';

export interface PairOptions {
  /** Pairs whose bars are in memory; beyond it, the least recently used ones are evicted. */
  readonly maxLoadedPairs: number;
  quarantined(pair: string, error: unknown): void;
}

/** A trade as the fold takes it; where it is a pool's, with what it did to the pool. */
export interface PairTrade extends TradeEvent {
  readonly step?: PoolStep;
}

/** A pair that is traded or new in an entry. */
interface Work {
  readonly pair: PoolPair;
  readonly trades: Trade[];
}

/** Where an entry's effects are collected. */
interface PairDraft extends PairEffects {
  readonly trades: CountedTrades;
}

export class TradedPairs {
  readonly #store: StateStore;
  readonly #actors: PoolActors;
  readonly #options: PairOptions;
  readonly #barEnds = new BarEndSchedule();
  readonly #loaded = new Set<PoolPair>();
  readonly #quarantined = new Set<string>();
  /** Ends of bars that a pair opened; empty between two pairs. */
  readonly #endsMs: number[] = [];
  #uses = 0;

  /** Everything must be committed. */
  constructor(store: StateStore, actors: PoolActors, options: PairOptions) {
    this.#store = store;
    this.#actors = actors;
    this.#options = options;
    for (const { pair, resolution, start } of store.allOpenBars()) {
      const resolutionName = storedResolution(resolution);
      assert(actors.ofPair(pair) !== null && resolutionName !== null, 'a bar is of a pair');
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

  find(name: string): PairBars | 'quarantined' | null {
    if (this.#quarantined.has(name)) return 'quarantined';
    const pair = this.#actors.named(name);
    if (pair === null) return null;
    try {
      return this.#load(pair);
    } catch (error) {
      this.#quarantine(name, error);
      return 'quarantined';
    }
  }

  keepQuarantined(names: readonly string[]): void {
    for (const name of names) this.#quarantined.add(name);
  }

  /** Opens new pairs, gives every pair its trades, and ends bars that time has passed. */
  apply(
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
      const pair = this.#open(first, draft);
      if (pair !== null) this.#give({ pair, trades: [readTrade(first, atMs)] }, time, draft);
    } else {
      const all = this.#share(listings, trades, atMs, draft);
      if (isDue) this.#passEnds(all, time, draft);
      for (const work of all) this.#give(work, time, draft);
    }
    this.#evict();
  }

  /** The pairs that are traded or new, each with its trades. */
  #share(
    listings: readonly Listing[],
    trades: readonly PairTrade[],
    atMs: number,
    draft: PairDraft,
  ): readonly Work[] {
    const all: Work[] = [];
    const add = (pair: PoolPair | null, trade: Trade | null) => {
      if (pair === null) return;
      const work = all[pair.workIndex];
      // An index that an earlier entry left is of another pair, or beyond the end.
      const isMine = work?.pair === pair;
      if (isMine && trade !== null) work.trades.push(trade);
      if (isMine) return;
      pair.workIndex = all.length;
      all.push({ pair, trades: trade === null ? [] : [trade] });
    };
    for (const listing of listings) add(this.#open(listing, draft), null);
    for (const event of trades) add(this.#open(event, draft), readTrade(event, atMs));
    return all;
  }

  /** Bars of traded pairs end with their trades, bars of all others when they are needed. */
  #passEnds(traded: readonly Work[], time: PairTime, draft: PairDraft): void {
    const pairs = this.#barEnds.takeDue(time.marketMs);
    for (const { pair } of traded) pairs.delete(pair.pair.id);
    if (pairs.size === 0) return;
    for (const id of pairs) {
      const pair = this.#actors.pairOf(id);
      if (pair !== null) draft.tags.add(pair.bars?.tag ?? seriesTag(pair.name));
    }
    const before = { marketMs: this.#store.checkpoint?.marketMs ?? 0, seq: time.seq - 1 };
    this.#store.stageEnds({
      pairs,
      makeFinal: (id, staged) => this.#end(id, before, time, staged),
    });
  }

  /** `before`: the position of the pair's rows, in case that it has to be loaded. */
  #end(id: number, before: PairTime, time: PairTime, staged: PairWrites): void {
    const pair = this.#actors.pairOf(id);
    if (pair === null) return;
    this.#tryTwice(pair, () => this.#load(pair, before).endBars(time, staged));
    this.#evict();
  }

  /** A row of `pairs` was put back or taken away: its bars in memory are of another pair. */
  pairRestored(name: string, row: RowValue | null): void {
    this.#remove(this.#actors.named(name));
    this.#actors.restorePair(name, row);
  }

  /** A row of `bars` was put back. */
  barRestored({ pair: id, resolution, start }: OpenBar, value: string | null, tags: Set<string>) {
    const pair = this.#actors.pairOf(id);
    const resolutionName = storedResolution(resolution);
    if (pair === null || resolutionName === null) return;
    tags.add(seriesTag(pair.name));
    this.#remove(pair);
    if (isOpen(value)) this.#barEnds.add(intervalEnd(resolutionName, start), id);
  }

  #give(work: Work, time: PairTime, draft: PairDraft): void {
    if (this.#quarantined.has(work.pair.name)) return;
    try {
      this.#applyTo(work, time, draft);
    } catch {
      // The second attempt reports the same error.
      this.#tryAgain(work.pair, () => this.#applyTo(work, time, draft));
    }
  }

  #applyTo({ pair, trades }: Work, time: PairTime, draft: PairDraft): void {
    const loaded = this.#loadNow(pair);
    const { id } = pair.pair;
    const endsMs = this.#endsMs;
    const counted = loaded.apply(trades, time, draft, endsMs);
    for (const trade of counted) draft.trades.push(id, trade);
    if (endsMs.length === 0) return;
    for (const endMs of endsMs) this.#barEnds.add(endMs, id);
    endsMs.length = 0;
  }

  #tryTwice(pair: PoolPair, work: () => void): void {
    if (this.#quarantined.has(pair.name)) return;
    try {
      work();
    } catch {
      // The second attempt reports the same error.
      this.#tryAgain(pair, work);
    }
  }

  /** Bars that threw are loaded again from the store and tried once more, then quarantined. */
  #tryAgain(pair: PoolPair, work: () => void): void {
    this.#forget(pair);
    this.#endsMs.length = 0;
    try {
      work();
    } catch (error) {
      this.#forget(pair);
      this.#endsMs.length = 0;
      this.#quarantine(pair.name, error);
    }
  }

  #quarantine(name: string, error: unknown): void {
    this.#quarantined.add(name);
    this.#options.quarantined(name, error);
  }

  /** null: it is quarantined, and was never opened. */
  #open(event: Listing, draft: PairDraft): PoolPair | null {
    const { base, quote, baseDecimals, quoteDecimals } = event;
    const known = this.#actors.pair(base, quote);
    if (known !== null) return known;
    const name = pairName(base, quote);
    if (this.#quarantined.has(name)) return null;
    const id = pairId(name, this.#store, draft.changes);
    const pair = this.#actors.openPair({ id, base, quote, baseDecimals, quoteDecimals });
    return this.#keep(pair, new PairBars(this.#store, pair.pair, null)) && pair;
  }

  #keep(pair: PoolPair, bars: PairBars): PairBars {
    pair.bars = bars;
    this.#loaded.add(pair);
    return bars;
  }

  /** Ends bars that market time has passed. After that, other bars may be loaded. */
  #loadNow(pair: PoolPair): PairBars {
    const bars = this.#load(pair);
    const { id } = pair.pair;
    if (!this.#store.hasEnds(id)) return bars;
    this.#store.endBars(id);
    return this.#load(pair);
  }

  /** `at`: the position of its rows; absent: now. */
  #load(pair: PoolPair, at?: PairTime): PairBars {
    const bars = pair.bars ?? this.#read(pair, at);
    this.#uses += 1;
    bars.lastUsed = this.#uses;
    return bars;
  }

  #read(pair: PoolPair, at?: PairTime): PairBars {
    // Ending bars loads the pair, too.
    this.#store.endBars(pair.pair.id);
    if (pair.bars !== null) return pair.bars;
    const isStored = this.#store.get('pairs', pair.name) !== null;
    const { marketMs, seq } = at ?? this.#store.checkpoint ?? { marketMs: 0, seq: 0 };
    const stored = isStored ? { marketMs, seq } : null;
    return this.#keep(pair, new PairBars(this.#store, pair.pair, stored));
  }

  #evict(): void {
    const { maxLoadedPairs } = this.#options;
    if (this.#loaded.size <= maxLoadedPairs) return;
    const lastUsed = ({ bars }: PoolPair) => bars?.lastUsed ?? 0;
    const byUse = [...this.#loaded].sort((a, b) => lastUsed(a) - lastUsed(b));
    const kept = Math.ceil(0.9 * maxLoadedPairs);
    for (const pair of byUse.slice(0, byUse.length - kept)) {
      // A pair that is new has no row yet to be loaded from.
      if (lastUsed(pair) > 0) this.#forget(pair);
    }
  }

  /** Its waiting trades are staged first. */
  #forget(pair: PoolPair): void {
    pair.bars?.stagePending();
    this.#remove(pair);
  }

  #remove(pair: PoolPair | null): void {
    if (pair === null) return;
    pair.bars = null;
    this.#loaded.delete(pair);
  }
}

function readTrade(event: PairTrade, timeMs: number): Trade {
  const { id, step } = event;
  const baseAmount = BigInt(event.baseAmount);
  const quoteAmount = BigInt(event.quoteAmount);
  if (step === undefined) return { id, timeMs, baseAmount, quoteAmount };
  return { id, timeMs, baseAmount, quoteAmount, step };
}
