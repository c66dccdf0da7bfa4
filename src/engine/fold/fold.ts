/**
 * The fold: entries in, rows and changed tags out. Pure in the sense that matters: the same entries
 * give the same rows and the same state hash on every node, even if the nodes evicted different
 * data.
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
import type { PairBars } from '../pools/pairBars.ts';
import { imagesBefore } from '../pools/pairIds.ts';
import { PoolActors } from '../pools/poolActors.ts';
import { type PairOptions, TradedPairs } from '../pools/tradedPairs.ts';
import { assert } from '../runtime/assert.ts';
import { type BarSlot, parseBarKey } from '../store/barRows.ts';
import type { StreamChange } from '../store/changeIndex.ts';
import type { RowChange, RowImage } from '../store/rows.ts';
import type { Checkpoint, StateStore } from '../store/state.ts';
import { CountedTrades } from '../store/tradeIds.ts';
import { ChainFold, launchTombstones, ROLLBACK_OF } from './chainFold.ts';
import { type ChainTrades, foldEmptyBlocks } from './chainRows.ts';
import { MarketClock } from './marketClock.ts';
import type { MempoolIndex } from './mempoolRows.ts';
import { RowDraft } from './rowDraft.ts';
import { stateHashAfter } from './stateHash.ts';
import { TICKERS_TAG } from './streamTags.ts';

export type FoldOptions = PairOptions;

const NO_TRADES: ChainTrades = { listings: [], trades: [] };

interface Draft {
  readonly changes: RowChange[];
  /** Rows that a rollback put back, before `changes`. */
  readonly restored: RowChange[];
  readonly trades: CountedTrades;
  readonly streamChanges: StreamChange[];
  readonly tags: Set<string>;
}

export class Fold {
  readonly store: StateStore;
  readonly clock = new MarketClock();
  readonly actors: PoolActors;
  readonly #chain: ChainFold;
  readonly #pairs: TradedPairs;
  /** null until it is first read: a rebuild needs none. */
  #tickers: TickerBook | null = null;

  constructor(store: StateStore, options: FoldOptions) {
    this.store = store;
    const marketMs = store.checkpoint?.marketMs ?? 0;
    this.actors = new PoolActors(store);
    this.#chain = new ChainFold(store, this.actors);
    this.#pairs = new TradedPairs(store, this.actors, options);
    this.clock.resume(marketMs, store.checkpoint?.openedMs ?? 0, store.checkpoint?.seq ?? 0);
  }

  get directory(): PoolDirectory {
    return this.#chain.directory;
  }

  get mempool(): MempoolIndex {
    return this.#chain.mempool;
  }

  /** Tickers of all actors; made when it is first asked for. */
  get tickers(): TickerBook {
    this.#tickers ??= new TickerBook(this.actors, this.directory, {
      seq: this.store.checkpoint?.seq ?? 0,
      marketMs: this.marketMs,
    });
    return this.#tickers;
  }

  /** Reads the data of all tickers, until `isOver`. True: it is read. */
  readTickers(isOver: () => boolean): boolean {
    return this.tickers.read(isOver);
  }

  get marketMs(): number {
    return this.clock.marketMs;
  }

  /** Largest moment of any trade, to measure lateness by; 0 before the first. */
  get seenMs(): number {
    return this.store.checkpoint?.seenMs ?? 0;
  }

  get quarantinedPairs(): number {
    return this.#pairs.quarantined;
  }

  /** Moments at which open bars end, up to `marketMs`, ascending. */
  endsUpTo(marketMs: number): number[] {
    return this.#pairs.endsUpTo(marketMs);
  }

  /** The bars of a pair; null when it was neither traded nor launched. */
  pairBars(name: string): PairBars | 'quarantined' | null {
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

  /** Applies one entry and adds the tags of its changes. */
  apply(sealed: SealedEntry, tags: Set<string>): void {
    const { entry } = sealed;
    const { payload, seq } = entry;
    const before = this.store.checkpoint;
    checkVersion(entry);
    if (payload.kind !== 'epoch') {
      checkContinues(entry, before);
    }
    const trades = new CountedTrades();
    const draft: Draft = { changes: [], restored: [], trades, streamChanges: [], tags };
    if (payload.kind === 'rollback') this.#rollBack(payload, seq, draft);
    for (const tag of this.clock.advance(entry.timeMs, seq, phaseOf(payload))) tags.add(tag);
    if (payload.kind === 'block') this.#applyBlock(payload, seq, draft);
    else if (payload.kind === 'mempool') this.#applyMempool(payload, seq, draft);
    else if (payload.kind === 'passed') this.#applyEmptyBlocks(payload, seq, draft);
    else this.#applyTrades(null, 0, seq, draft);
    if ('cursor' in payload) this.#moveCursor(payload, draft);
    this.#stage(sealed, draft);
  }

  #stage({ entry, hash: entryHash }: SealedEntry, draft: Draft): void {
    const { changes, restored, trades, streamChanges } = draft;
    const { payload, epoch, seq, term, timeMs } = entry;
    const previous = this.store.checkpoint;
    const changed = restored.length === 0 ? changes : [...restored, ...changes];
    const first = payload.kind === 'epoch' && payload.base === undefined;
    const isBlock = payload.kind === 'block' || payload.kind === 'passed';
    const isDeep = payload.kind === 'block' ? payload.chain?.isDeep === true : isBlock;
    const said = 'market' in payload ? payload.market : undefined;
    // A market keeps its identity, whatever a stranger's entry says.
    const market = previous?.market ?? said;
    this.store.stage({
      checkpoint: {
        epoch,
        seq,
        term,
        entryHash,
        stateHash: stateHashAfter(previous?.stateHash ?? '', changed, trades),
        hashedSeq: seq,
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
    this.actors.ordersChanged(changes);
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
    this.#applyTrades(chain ?? { listings: [], trades: payload.trades }, atMs, seq, draft);
  }

  #applyEmptyBlocks(payload: EmptyBlocksPayload, seq: number, draft: Draft): void {
    const rows = new RowDraft(this.store);
    foldEmptyBlocks(payload, seq, this.marketMs, rows);
    collect(rows, draft);
    this.#applyTrades(null, payload.atMs, seq, draft);
  }

  /** Time passes for every pair that has a bar to close, with trades or without. */
  #applyTrades(trades: ChainTrades | null, atMs: number, seq: number, draft: Draft): void {
    const { listings, trades: those } = trades ?? NO_TRADES;
    this.#pairs.apply(listings, those, { atMs, marketMs: this.marketMs, seq }, draft);
  }

  #applyChain(payload: BlockPayload, seq: number, draft: Draft): ChainTrades {
    const rows = new RowDraft(this.store);
    const trades = this.#chain.foldBlock(payload, seq, this.marketMs, rows);
    collect(rows, draft);
    return trades;
  }

  #applyMempool(payload: MempoolPayload, seq: number, draft: Draft): void {
    const rows = new RowDraft(this.store);
    this.#chain.foldMempool(payload, seq, rows);
    collect(rows, draft);
  }

  /** Puts the before-images back; all rows it restores are stamped with this entry. */
  #rollBack({ toSeq }: RollbackPayload, seq: number, draft: Draft): void {
    const images = imagesBefore(toSeq, this.store);
    // Bars first: the pair of some goes with its row.
    const bars = images.flatMap((image) => this.#restoredBar(image, seq, draft.tags));
    const restored = images.flatMap((image) => this.#restoredRow(image));
    bars.push(...launchTombstones(restored, bars, seq, this.store));
    this.store.restore(toSeq, restored, bars, seq);
    draft.restored.push(...restored);
    this.actors.ordersChanged(restored);
    this.#tickers?.undo(restored, bars, seq);
    draft.tags.add(TICKERS_TAG);
    const rows = new RowDraft(this.store, { undone: true });
    this.#chain.foldRollback(restored, seq, rows);
    collect(rows, draft);
  }

  #restoredRow({ table, key, value }: RowImage): RowChange[] {
    if (table === 'bars') return [];
    if (table === 'pairs') this.#pairs.pairRestored(key, value);
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

function collect(rows: RowDraft, draft: Draft): void {
  for (const change of rows.changes()) draft.changes.push(change);
  for (const change of rows.streamChanges) draft.streamChanges.push(change);
  for (const tag of rows.tags) draft.tags.add(tag);
}
