/**
 * The fold: entries in, rows and changed tags out. Pure in the sense that matters: the same entries
 * give the same rows and the same state hash on every node, whatever was evicted meanwhile.
 *
 * Assumes: entries come in order, each acknowledged by the log; before a rollback everything is
 *          committed. Synchronous: an entry is applied whole.
 */
import { hash } from 'node:crypto';
import {
  type BlockPayload,
  ENTRY_VERSION,
  type EpochPayload,
  type RollbackPayload,
  type SealedEntry,
  type TradeEvent,
} from '../log/entry.ts';
import { type Listing, type Pair, pairName } from '../market/pair.ts';
import { intervalEnd, RESOLUTIONS } from '../market/resolution.ts';
import type { Trade } from '../market/trade.ts';
import { assert } from '../runtime/assert.ts';
import { isOpen, parseBarKey } from '../store/barRows.ts';
import { readRecord } from '../store/records.ts';
import { effectsText, type RowChange } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { Agenda } from './agenda.ts';
import { type ChainEffects, chainTags, foldChainBlock } from './chainRows.ts';
import { MarketClock } from './marketClock.ts';
import { pairId } from './pairIds.ts';
import { PoolActor, type PoolWork, seriesTag } from './pool.ts';
import { imagesBefore } from './undo.ts';

export interface FoldOptions {
  /** Actors in memory; the least recently used beyond it are evicted. */
  readonly maxLoadedPools: number;
  quarantined(pool: string, error: unknown): void;
}

interface Draft {
  /** Rows a rollback put back, and what the entry changed after that. */
  restored: readonly RowChange[];
  readonly changes: RowChange[];
  readonly tags: Set<string>;
}

export class Fold {
  readonly store: StateStore;
  readonly clock = new MarketClock();
  readonly #options: FoldOptions;
  readonly #agenda = new Agenda();
  readonly #actors = new Map<string, PoolActor>();
  readonly #quarantined = new Set<string>();
  readonly #names = new Map<number, string>();
  #uses = 0;

  constructor(store: StateStore, options: FoldOptions) {
    this.store = store;
    this.#options = options;
    const marketMs = store.checkpoint?.marketMs ?? 0;
    for (const { key, value } of store.all('pairs')) {
      const { id } = readRecord<Pair>(value);
      this.#names.set(id, key);
      for (const resolution of RESOLUTIONS) {
        for (const { start } of store.openBars(id, resolution, marketMs)) {
          this.#agenda.add(intervalEnd(resolution, start), key);
        }
      }
    }
    this.clock.resume(marketMs, store.checkpoint?.openedMs ?? 0, store.checkpoint?.seq ?? 0);
  }

  get marketMs(): number {
    return this.clock.marketMs;
  }

  /** Largest moment of any trade, to measure lateness by; 0 before the first. */
  get seenMs(): number {
    return Number(this.store.get('market', 'seenMs') ?? 0);
  }

  get quarantinedPools(): number {
    return this.#quarantined.size;
  }

  /** Moments at which open bars end, up to `marketMs`, ascending. */
  endsUpTo(marketMs: number): number[] {
    return this.#agenda.endsUpTo(marketMs);
  }

  /** The actor of a pair; null when the pair has not traded. */
  pool(name: string): PoolActor | 'quarantined' | null {
    if (this.#quarantined.has(name)) return 'quarantined';
    try {
      return this.#load(name);
    } catch (error) {
      this.#quarantine(name, error);
      return 'quarantined';
    }
  }

  /** A traded pair, its actor quarantined or not. */
  pair(name: string): Pair | null {
    const value = this.store.get('pairs', name);
    return value === null ? null : readRecord<Pair>(value);
  }

  /** Pools that lack entries already: their state could not be mended. */
  keepQuarantined(names: readonly string[]): void {
    for (const name of names) this.#quarantined.add(name);
  }

  /** Applies one entry and adds the tags of what it changed. */
  apply(sealed: SealedEntry, tags: Set<string>): void {
    const { entry } = sealed;
    const { payload, seq } = entry;
    const before = this.store.checkpoint;
    assert(entry.version <= ENTRY_VERSION, `entry ${seq} is of a version that this program knows`);
    if (payload.kind !== 'epoch') {
      assert(seq === (before?.seq ?? 0) + 1, `entry ${seq} is next`);
      assert(entry.prevEntryHash === before?.entryHash, `entry ${seq} continues the chain`);
    }
    const draft: Draft = { restored: [], changes: [], tags };
    if (payload.kind === 'rollback') this.#rollBack(payload, seq, draft);
    const moved = this.clock.advance(
      entry.timeMs,
      seq,
      payload.kind === 'time' ? payload.phase : 'block',
    );
    for (const tag of moved) tags.add(tag);
    if (payload.kind === 'block') this.#applyBlock(payload, seq, draft);
    else this.#close(new Map(), seq, draft);
    if (payload.kind !== 'time') this.#moveCursor(payload, draft);
    this.#stage(sealed, draft);
    if (this.#actors.size > this.#options.maxLoadedPools) this.#evict();
  }

  /** Forgets all actors; they come back from the store as they are needed. */
  forgetActors(): void {
    this.#actors.clear();
  }

  #stage({ entry, hash: entryHash }: SealedEntry, { restored, changes }: Draft): void {
    const { payload, epoch, seq, term, timeMs } = entry;
    const previous = this.store.checkpoint?.stateHash ?? '';
    const effects = effectsText(restored) + effectsText(changes);
    const stateHash = hash('sha256', `${previous}\n${effects}`, 'hex');
    const first = payload.kind === 'epoch' && payload.base === undefined;
    this.store.stage({
      checkpoint: {
        epoch,
        seq,
        term,
        entryHash,
        stateHash,
        marketMs: timeMs,
        openedMs: this.clock.openedMs,
      },
      block: payload.kind === 'block' || first,
      atMs: payload.kind === 'block' ? payload.atMs : -1,
      changes,
    });
  }

  #applyBlock(payload: BlockPayload, seq: number, draft: Draft): void {
    const work = new Map<string, Trade[]>();
    const chain = payload.chain === undefined ? null : this.#applyChain(payload, seq, draft);
    for (const listing of chain?.listings ?? []) work.set(this.#openPair(listing, draft), []);
    for (const event of chain?.trades ?? payload.trades) {
      const name = this.#openPair(event, draft);
      const trades = work.get(name);
      if (trades === undefined) work.set(name, [readTrade(event, payload.atMs)]);
      else trades.push(readTrade(event, payload.atMs));
    }
    if (payload.atMs > this.seenMs) this.#set('market', 'seenMs', String(payload.atMs), draft);
    this.#close(work, seq, draft);
  }

  #applyChain(payload: BlockPayload, seq: number, draft: Draft): ChainEffects {
    const effects = foldChainBlock(payload, seq, this.marketMs, this.store);
    for (const change of effects.changes) draft.changes.push(change);
    for (const tag of effects.tags) draft.tags.add(tag);
    return effects;
  }

  /** Gives every pool its trades, and time to every pool that has a bar to close. */
  #close(work: Map<string, readonly Trade[]>, seq: number, draft: Draft): void {
    const marketMs = this.marketMs;
    // Sorted: the agenda's own order depends on when the node was started.
    const due = [...this.#agenda.takeDue(marketMs)].sort();
    for (const name of due) if (!work.has(name)) work.set(name, []);
    for (const [name, trades] of work) {
      if (this.#quarantined.has(name)) continue;
      this.#give(name, { trades, marketMs, seq }, draft);
    }
  }

  /** An actor that throws is made again from the store and tried once more, then quarantined. */
  #give(name: string, work: PoolWork, draft: Draft): void {
    for (const lastChance of [false, true]) {
      try {
        const actor = this.#load(name);
        if (actor === null && work.trades.length === 0) return;
        assert(actor !== null, `pool ${name} can be loaded`);
        const { changes, tags, endsMs } = actor.take(work);
        for (const change of changes) draft.changes.push(change);
        for (const tag of tags) draft.tags.add(tag);
        for (const endMs of endsMs) this.#agenda.add(endMs, name);
        return;
      } catch (error) {
        this.#actors.delete(name);
        if (lastChance) this.#quarantine(name, error);
      }
    }
  }

  #quarantine(name: string, error: unknown): void {
    this.#quarantined.add(name);
    this.#options.quarantined(name, error);
  }

  #openPair(event: Listing, draft: Draft): string {
    const name = pairName(event.base, event.quote);
    const known = this.#actors.has(name) || this.store.get('pairs', name) !== null;
    if (known || this.#quarantined.has(name)) return name;
    const { base, quote, baseDecimals, quoteDecimals } = event;
    const id = pairId(name, this.store, draft.changes);
    const actor = new PoolActor(
      this.store,
      { id, base, quote, baseDecimals, quoteDecimals },
      false,
    );
    this.#names.set(id, name);
    this.#actors.set(name, actor);
    return name;
  }

  #load(name: string): PoolActor | null {
    let actor = this.#actors.get(name);
    if (actor === undefined) {
      const value = this.store.get('pairs', name);
      if (value === null) return null;
      actor = new PoolActor(this.store, readRecord<Pair>(value), true);
      this.#actors.set(name, actor);
    }
    this.#uses += 1;
    actor.lastUsed = this.#uses;
    return actor;
  }

  /** Puts the before-images back; all rows it touches are stamped with this entry. */
  #rollBack({ toSeq }: RollbackPayload, seq: number, draft: Draft): void {
    draft.restored = imagesBefore(toSeq, this.store).map(({ table, key, value }) => {
      if (table === 'bars') this.#restoreBar(key, value, draft.tags);
      // A pair that goes, comes back with another actor.
      if (table === 'pairs') this.#actors.delete(key);
      for (const tag of chainTags(table, key)) draft.tags.add(tag);
      return { table, key, before: null, after: value, cause: 'rollback' };
    });
    this.store.restore(toSeq, draft.restored, seq);
  }

  #restoreBar(key: string, value: string | null, tags: Set<string>): void {
    const { pair, resolution, start } = parseBarKey(key);
    const name = this.#names.get(pair);
    const resolutionName = RESOLUTIONS[resolution];
    if (name === undefined || resolutionName === undefined) return;
    tags.add(seriesTag(name, resolutionName));
    this.#actors.delete(name);
    if (isOpen(value)) this.#remind(pair, resolution, start);
  }

  #moveCursor(payload: BlockPayload | RollbackPayload | EpochPayload, draft: Draft): void {
    if (payload.cursor === undefined) return;
    this.#set('feeds', payload.cursor.feed, String(payload.cursor.line), draft);
  }

  #set(table: 'market' | 'feeds', key: string, after: string, draft: Draft): void {
    draft.changes.push({ table, key, before: this.store.get(table, key), after, cause: 'trade' });
  }

  #remind(pair: number, resolution: number, start: number): void {
    const name = this.#names.get(pair);
    const resolutionName = RESOLUTIONS[resolution];
    if (name === undefined || resolutionName === undefined) return;
    this.#agenda.add(intervalEnd(resolutionName, start), name);
  }

  #evict(): void {
    const byUse = [...this.#actors.values()].sort((a, b) => a.lastUsed - b.lastUsed);
    const kept = Math.ceil(0.9 * this.#options.maxLoadedPools);
    for (const actor of byUse.slice(0, byUse.length - kept)) this.#actors.delete(actor.name);
  }
}

function readTrade(event: TradeEvent, timeMs: number): Trade {
  const { id, baseAmount, quoteAmount } = event;
  return { id, timeMs, baseAmount: BigInt(baseAmount), quoteAmount: BigInt(quoteAmount) };
}
