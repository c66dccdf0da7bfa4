/**
 * The fold: entries in, rows and changed tags out. Pure in the sense that matters: the same entries
 * give the same rows and the same state hash on every node, whatever was evicted meanwhile.
 *
 * Assumes: entries come in order, each acknowledged by the log; before a rollback everything is
 *          committed. Synchronous: an entry is applied whole.
 */

import type { PoolDirectory } from '../directory/directory.ts';
import { TickerBook } from '../directory/tickerBook.ts';
import {
  type BlockPayload,
  type EmptyBlocksPayload,
  ENTRY_VERSION,
  type Entry,
  type EpochPayload,
  type MempoolPayload,
  OLDEST_CHAIN_VERSION,
  type Payload,
  type RollbackPayload,
  type SealedEntry,
} from '../log/entry.ts';
import type { Pair } from '../market/pair.ts';
import type { PairActor } from '../pools/pairActor.ts';
import { PairActors, type PairOptions } from '../pools/pairActors.ts';
import { imagesBefore } from '../pools/pairIds.ts';
import { assert } from '../runtime/assert.ts';
import { type BarSlot, parseBarKey } from '../store/barRows.ts';
import type { StreamChange } from '../store/changeIndex.ts';
import { isHashedAt } from '../store/hashWindow.ts';
import type { RowChange, RowImage } from '../store/rows.ts';
import type { Checkpoint, StateStore } from '../store/state.ts';
import { CountedTrades } from '../store/tradeIds.ts';
import { ChainMarket, launchTombstones, ROLLBACK_OF } from './chainMarket.ts';
import { type ChainTrades, foldEmptyBlocks } from './chainRows.ts';
import { MarketClock } from './marketClock.ts';
import type { MempoolIndex } from './mempoolRows.ts';
import { RowDraft } from './rowDraft.ts';
import { TICKERS_TAG } from './streamTags.ts';

export type FoldOptions = PairOptions;

const NO_TRADES: ChainTrades = { listings: [], trades: [] };

interface Draft {
  readonly changes: RowChange[];
  readonly bars: BarSlot[];
  readonly trades: CountedTrades;
  readonly streamChanges: StreamChange[];
  readonly tags: Set<string>;
}

export class Fold {
  readonly store: StateStore;
  readonly clock = new MarketClock();
  readonly #chain: ChainMarket;
  readonly #pairs: PairActors;
  /** null until it is first read: a rebuild needs none. */
  #tickers: TickerBook | null = null;

  constructor(store: StateStore, options: FoldOptions) {
    this.store = store;
    const marketMs = store.checkpoint?.marketMs ?? 0;
    this.#chain = new ChainMarket(store);
    this.#pairs = new PairActors(store, options);
    this.clock.resume(marketMs, store.checkpoint?.openedMs ?? 0, store.checkpoint?.seq ?? 0);
  }

  get directory(): PoolDirectory {
    return this.#chain.directory;
  }

  get mempool(): MempoolIndex {
    return this.#chain.mempool;
  }

  /** Reads the store when it is first asked for. */
  get tickers(): TickerBook {
    const tickers = this.#tickerBook();
    tickers.open();
    return tickers;
  }

  /** Reads all that tickers are made of, until `isOver`. True: it is read. */
  readTickers(isOver: () => boolean): boolean {
    return this.#tickerBook().read(isOver);
  }

  #tickerBook(): TickerBook {
    this.#tickers ??= new TickerBook(this.store, this.directory, {
      seq: this.store.checkpoint?.seq ?? 0,
      marketMs: this.marketMs,
    });
    return this.#tickers;
  }

  get marketMs(): number {
    return this.clock.marketMs;
  }

  /** Largest moment of any trade, to measure lateness by; 0 before the first. */
  get seenMs(): number {
    return this.store.checkpoint?.seenMs ?? 0;
  }

  get quarantinedPools(): number {
    return this.#pairs.quarantined;
  }

  /** Moments at which open bars end, up to `marketMs`, ascending. */
  endsUpTo(marketMs: number): number[] {
    return this.#pairs.endsUpTo(marketMs);
  }

  /** The actor of a pair; null when the pair has not traded. */
  pairActor(name: string): PairActor | 'quarantined' | null {
    return this.#pairs.find(name);
  }

  /** A traded pair, its actor quarantined or not. */
  pair(name: string): Pair | null {
    return this.store.record<Pair>('pairs', name);
  }

  /** Pools that lack entries already: their state could not be mended. */
  keepQuarantined(names: readonly string[]): void {
    this.#pairs.keepQuarantined(names);
  }

  /** Applies one entry and adds the tags of what it changed. */
  apply(sealed: SealedEntry, tags: Set<string>): void {
    const { entry } = sealed;
    const { payload, seq } = entry;
    const before = this.store.checkpoint;
    checkVersion(entry);
    if (payload.kind !== 'epoch') {
      checkContinues(entry, before);
    }
    const trades = new CountedTrades();
    const draft: Draft = { changes: [], bars: [], trades, streamChanges: [], tags };
    if (payload.kind === 'rollback') this.#rollBack(payload, seq, draft);
    for (const tag of this.clock.advance(entry.timeMs, seq, phaseOf(payload))) tags.add(tag);
    if (payload.kind === 'block') this.#applyBlock(payload, seq, draft);
    else if (payload.kind === 'mempool') this.#applyMempool(payload, seq, draft);
    else if (payload.kind === 'passed') this.#applyEmptyBlocks(payload, seq, draft);
    else this.#takeTrades(null, 0, seq, draft);
    if ('cursor' in payload) this.#moveCursor(payload, draft);
    this.#stage(sealed, draft);
  }

  #stage({ entry, hash: entryHash }: SealedEntry, draft: Draft): void {
    const { changes, bars, trades, streamChanges } = draft;
    const { payload, epoch, seq, term, timeMs } = entry;
    const previous = this.store.checkpoint;
    const { hashWindow } = this.store;
    hashWindow.add(changes, bars);
    hashWindow.coverEnds((pair, of) => this.#pairs.endedAt(pair, of));
    const isHashed = isHashedAt(seq, payload);
    const before = previous?.stateHash ?? '';
    const first = payload.kind === 'epoch' && payload.base === undefined;
    const isBlock = payload.kind === 'block' || payload.kind === 'passed';
    const isDeep = payload.kind === 'block' ? payload.chain?.isDeep === true : isBlock;
    const said = 'market' in payload ? payload.market : undefined;
    const market = said ?? previous?.market;
    this.store.stage({
      checkpoint: {
        epoch,
        seq,
        term,
        entryHash,
        stateHash: isHashed ? hashWindow.take(before) : before,
        hashedSeq: isHashed ? seq : (previous?.hashedSeq ?? 0),
        marketMs: timeMs,
        openedMs: this.clock.openedMs,
        seenMs: this.#seenAfter(payload),
        market,
      },
      block: isBlock || first,
      isDeep,
      atMs: isBlock ? payload.atMs : -1,
      changes,
      trades,
      streamChanges,
    });
    const marketTime = { seq, marketMs: timeMs };
    if (this.#tickers?.update(changes, trades, marketTime) === true) draft.tags.add(TICKERS_TAG);
  }

  #seenAfter(payload: Payload): number {
    if (payload.kind === 'block') return Math.max(this.seenMs, payload.atMs);
    // The point that it went back to.
    if (payload.kind === 'rollback') return this.store.points.newest?.seenMs ?? 0;
    return this.seenMs;
  }

  #applyBlock(payload: BlockPayload, seq: number, draft: Draft): void {
    const chain = payload.chain === undefined ? null : this.#applyChain(payload, seq, draft);
    const { atMs } = payload;
    this.#takeTrades(chain ?? { listings: [], trades: payload.trades }, atMs, seq, draft);
  }

  #applyEmptyBlocks(payload: EmptyBlocksPayload, seq: number, draft: Draft): void {
    const rows = new RowDraft(this.store);
    foldEmptyBlocks(payload, seq, this.marketMs, rows);
    takeIn(rows, draft);
    this.#takeTrades(null, payload.atMs, seq, draft);
  }

  /** Time passes for every pair that has a bar to close, with trades or without. */
  #takeTrades(trades: ChainTrades | null, atMs: number, seq: number, draft: Draft): void {
    const { listings, trades: those } = trades ?? NO_TRADES;
    this.#pairs.take(listings, those, { atMs, marketMs: this.marketMs, seq }, draft);
  }

  #applyChain(payload: BlockPayload, seq: number, draft: Draft): ChainTrades {
    const rows = new RowDraft(this.store);
    const trades = this.#chain.foldBlock(payload, seq, this.marketMs, rows);
    takeIn(rows, draft);
    return trades;
  }

  #applyMempool(payload: MempoolPayload, seq: number, draft: Draft): void {
    const rows = new RowDraft(this.store);
    this.#chain.foldMempool(payload, seq, rows);
    takeIn(rows, draft);
  }

  /** Puts the before-images back; all rows it restores are stamped with this entry. */
  #rollBack({ toSeq }: RollbackPayload, seq: number, draft: Draft): void {
    const images = imagesBefore(toSeq, this.store);
    const restored = images.flatMap((image) => this.#restoredRow(image));
    const bars = images.flatMap((image) => this.#restoredBar(image, seq, draft.tags));
    bars.push(...launchTombstones(restored, bars, seq, this.store));
    this.store.restore(toSeq, restored, bars, seq);
    this.store.hashWindow.forgetEndsAfter(toSeq);
    this.store.hashWindow.add(restored, bars);
    this.#tickers?.undo(restored, bars, seq);
    draft.tags.add(TICKERS_TAG);
    const rows = new RowDraft(this.store, { undone: true });
    this.#chain.foldRollback(restored, seq, rows);
    takeIn(rows, draft);
  }

  #restoredRow({ table, key, value }: RowImage): RowChange[] {
    if (table === 'bars') return [];
    if (table === 'pairs') this.#pairs.pairRestored(key);
    const before = ROLLBACK_OF[table].readsBefore ? this.store.value(table, key) : null;
    return [{ table, key, before, after: value, cause: 'rollback' }];
  }

  #restoredBar({ table, key, value }: RowImage, seq: number, tags: Set<string>): BarSlot[] {
    if (table !== 'bars') return [];
    const bar = parseBarKey(key);
    this.#pairs.barRestored(bar, value, tags);
    return [{ ...bar, value, seq, cause: 'rollback' }];
  }

  #moveCursor(payload: BlockPayload | RollbackPayload | EpochPayload, draft: Draft): void {
    if (payload.cursor === undefined) return;
    const { feed: key, line } = payload.cursor;
    const before = this.store.get('feeds', key);
    draft.changes.push({ table: 'feeds', key, before, after: String(line), cause: 'trade' });
  }
}

function checkContinues(entry: Entry, before: Checkpoint | null): void {
  const { seq, term, prevEntryHash } = entry;
  const isNext = before !== null && seq === before.seq + 1;
  // Texts only where they are needed: this runs for every entry.
  if (isNext && prevEntryHash === before.entryHash && term >= before.term) return;
  assert(isNext, `entry ${seq} is next`);
  assert(prevEntryHash === before.entryHash, `entry ${seq} continues the chain`);
  assert(term >= before.term, `entry ${seq} is of a leader that still leads`);
}

function checkVersion({ version, seq, payload }: Entry): void {
  const isOld = version < OLDEST_CHAIN_VERSION && payload.kind === 'block';
  if (version <= ENTRY_VERSION && !isOld) return;
  assert(version <= ENTRY_VERSION, `entry ${seq} is of a version that this program knows`);
  assert(
    !('chain' in payload),
    `entry ${seq} says less than this version needs: remove log.sqlite and state.sqlite from ` +
      'DATA_DIR and start again; the node then follows the chain from the start',
  );
}

/** Neither the mempool nor a change of leader moves a clock. */
function phaseOf(payload: Payload): 'end' | 'start' | 'block' {
  if (payload.kind === 'time') return payload.phase;
  return payload.kind === 'mempool' || payload.kind === 'leader' ? 'end' : 'block';
}

function takeIn(rows: RowDraft, draft: Draft): void {
  for (const change of rows.changes()) draft.changes.push(change);
  for (const change of rows.streamChanges) draft.streamChanges.push(change);
  for (const tag of rows.tags) draft.tags.add(tag);
}
