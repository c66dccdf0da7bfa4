/**
 * The state file: rows of the fold, written behind it. One owner.
 *
 * Staged rows wait in memory, newest value per row, until a commit hands them to the writer with
 * the checkpoint, one transaction. Reads include staged rows and rows that are being written. A
 * failed commit loses nothing: the rows stay staged, `commit` may be called again.
 */
import type { Resolution } from '../market/resolution.ts';
import type { Clock } from '../runtime/clock.ts';
import type { MarketIdentity } from '../runtime/marketIdentity.ts';
import type { BarRow, BarSlot, BarValue, OpenBar, SettledBars } from './barRows.ts';
import { BarsView } from './barsView.ts';
import { encodeInSteps } from './batch.ts';
import { changeIndexReads, type IndexedChange, type StreamChange } from './changeIndex.ts';
import { type AtOnce, type Database, openDatabase, readsAtOnce } from './database.ts';
import {
  type HeldRows,
  type KeyedRow,
  KeyedView,
  type KeySpan,
  keyedReads,
  type PageQuery,
  perTable,
} from './keyedRows.ts';
import {
  checkpointWithChecksums,
  keepLogAhead,
  releaseLocked,
  writeAllChecksums,
} from './pageChecksums.ts';
import type { BarEnds, BarOwner, PairWrites } from './pendingBars.ts';
import { PendingWrites } from './pendingWrites.ts';
import type { KeyedTable, RowChange, RowImage, TableName } from './rows.ts';
import { createTables, digestTables } from './schema.ts';
import type { OpenWriter, StateWriter } from './stateWriter.ts';
import { type CountedTrades, TradeIds } from './tradeIds.ts';
import { type Point, UndoPoints } from './undoRows.ts';

export interface Checkpoint {
  readonly epoch: string;
  readonly seq: number;
  readonly term: number;
  readonly entryHash: string;
  /** See fold/stateHash.ts. It is of entry `hashedSeq`, the same as `seq`: readers expect both. */
  readonly stateHash: string;
  readonly hashedSeq: number;
  readonly marketMs: number;
  /** Moment up to which intervals have started; see MarketClock. */
  readonly openedMs: number;
  /** Largest moment of any block; 0 before the first. */
  readonly seenMs: number;
  /** Absent: the log has not said it (older versions do not), or the market has no chain. */
  readonly market?: MarketIdentity | undefined;
}

/** One entry's effects, as the fold hands them over. */
interface StagedEntry {
  readonly checkpoint: Checkpoint;
  /** A block can be rolled back to; `atMs` is the moment of its trades. */
  readonly block: boolean;
  /** A block that no fork can reach: the horizon passes over it at once. */
  readonly isDeep?: boolean;
  readonly atMs: number;
  readonly changes: readonly RowChange[];
  /** Bars are staged by their pairs: see `writesOfPair`. */
  readonly trades: CountedTrades;
  readonly streamChanges: readonly StreamChange[];
}

export interface StateOptions {
  readonly horizonBlocks: number;
  readonly maxMb: number;
  /** Where commits are written; inline if the process serves no client meanwhile. */
  readonly writer: OpenWriter;
  /** Absent: a commit is encoded in one turn of the loop. */
  readonly clock?: Clock;
}

export class StateStore {
  /** The database file. */
  readonly file: string;
  readonly #database: Database;
  readonly #writer: StateWriter;
  readonly #clock: Clock | undefined;
  readonly #bars;
  readonly #keyed;
  readonly #rows: KeyedView;
  readonly #changeIndex;
  readonly #undo: UndoPoints;
  readonly tradeIds: TradeIds;
  /** For reads of many rows: much faster than each read by itself. */
  readonly atOnce: AtOnce;
  /** The entry of the last rollback since the start; 0: there was none. */
  undoneSeq = 0;
  #stage = new PendingWrites();
  /** Handed to the writer, not acknowledged yet. */
  #inFlight: PendingWrites | null = null;
  #newestFirst: readonly PendingWrites[] = [this.#stage];
  #committing: Promise<number> | null = null;
  #checkpoint: Checkpoint | null;

  constructor(file: string, { horizonBlocks, maxMb, writer, clock }: StateOptions) {
    this.file = file;
    this.#clock = clock;
    this.#database = openDatabase(file, { synchronous: 'NORMAL', maxMb });
    try {
      createTables(this.#database);
      this.atOnce = readsAtOnce(this.#database);
      this.#keyed = perTable((table) => keyedReads(this.#database, table));
      this.#rows = new KeyedView(this.#keyed, () => this.#newestFirst, this.atOnce);
      this.tradeIds = new TradeIds(this.#keyed.trade_ids, () => this.#newestFirst);
      this.#changeIndex = changeIndexReads(this.#database);
      this.#undo = new UndoPoints(this.#database, horizonBlocks);
      this.#bars = new BarsView(
        this.#database,
        { newest: () => this.#stage, inFlight: () => this.#inFlight },
        (seq) => this.#undo.oldestMarketMsSince(seq),
      );
      const row = this.#database.prepare<[], { text: string }>('SELECT text FROM checkpoint').get();
      // trust: our own checkpoint row
      this.#checkpoint = row === undefined ? null : (JSON.parse(row.text) as Checkpoint);
      this.#writer = writer({ file, maxMb });
    } catch (error) {
      // Left open it would, when it is collected, take away the write-ahead log of its successor.
      this.#database.close();
      throw error;
    }
  }

  /** Checkpoint of the last staged entry; null before the first. */
  get checkpoint(): Checkpoint | null {
    return this.#checkpoint;
  }

  /** Rows that wait, those being written not counted. */
  get pendingRows(): number {
    return this.#stage.rows;
  }

  get horizonSeq(): number {
    return this.#undo.horizonSeq;
  }

  pointAtOrBefore(atMs: number): Point | null {
    return this.#undo.atOrBefore(atMs);
  }

  get points(): Pick<UndoPoints, 'oldest' | 'newest'> {
    return this.#undo;
  }

  stage(entry: StagedEntry): void {
    const { checkpoint, block, isDeep = false, atMs, changes, trades, streamChanges } = entry;
    const { seq, marketMs, seenMs } = checkpoint;
    this.#rows.notePending(changes);
    this.#stage.add({ seq, atMs, marketMs, seenMs, block, changes, trades }, isDeep);
    // No question reaches back to before the horizon.
    for (const { scope, ref, about, undone } of isDeep ? [] : streamChanges) {
      this.#stage.changeIndex.put({ scope, ref, about, seq, undoneSeq: undone ? seq : 0 });
    }
    if (block) this.#undo.add({ seq, atMs, marketMs, seenMs }, isDeep);
    this.#checkpoint = checkpoint;
  }

  /**
   * First half of staging a rollback by entry `seq`: rows are as they were after `toSeq`. Nothing
   * may be staged before it.
   */
  restore(toSeq: number, rows: readonly RowChange[], bars: readonly BarSlot[], seq: number): void {
    this.undoneSeq = seq;
    this.#undo.forgetAfter(toSeq);
    this.#rows.notePending(rows);
    this.#stage.restore(toSeq, rows, bars, seq);
  }

  /** Where the bars that `owner` changes from now on are staged, until it is closed. */
  writesOfPair(pair: number, owner: BarOwner): PairWrites {
    return this.#bars.writesOfPair(pair, owner);
  }

  /** Market time has passed the ends of bars of these pairs: see `BarEnds`. */
  stageEnds(ends: BarEnds): void {
    this.#bars.stageEnds(ends);
  }

  hasEnds(pair: number): boolean {
    return this.#bars.hasEnds(pair);
  }

  /** Makes bars of a pair final that were given to `stageEnds`. */
  endBars(pair: number): void {
    this.#bars.endBars(pair);
  }

  /** A commit is on its way to the disk. */
  get committing(): boolean {
    return this.#committing !== null;
  }

  /**
   * Writes everything staged, after the commit that may be under way; resolves with the number of
   * rows. Rejects when the disk refuses; everything is staged again then.
   */
  async commit(): Promise<number> {
    while (this.#committing !== null) await this.#committing;
    if (this.#stage.rows === 0) return 0;
    this.#committing = this.#write().finally(() => {
      this.#committing = null;
    });
    return this.#committing;
  }

  /** A hash of each table as committed; see `digestTables`. */
  async digest(): Promise<Record<TableName, string>> {
    await this.commit();
    return digestTables(this.#database, this.horizonSeq);
  }

  /** A whole copy of the committed state. */
  async snapshotTo(file: string): Promise<void> {
    await this.commit();
    this.#database.prepare('VACUUM INTO ?').run(file);
    keepLogAhead(file);
    writeAllChecksums(file);
  }

  /** The same made by the writer, page by page with their sums; commits wait for it. */
  async copyTo(file: string): Promise<void> {
    await this.commit();
    await this.#writer.copy(file);
  }

  get(table: KeyedTable, key: string): string | null {
    return this.#rows.get(table, key);
  }

  /** The content of the row, which must not be changed; which record a table holds: records.ts. */
  record<T extends object>(table: KeyedTable, key: string): T | null {
    return this.#rows.record<T>(table, key);
  }

  /** As it is: for a caller that will change it. */
  value(table: KeyedTable, key: string): RowChange['before'] {
    return this.#rows.value(table, key);
  }

  /** All rows as committed. */
  all(table: 'pairs' | 'feeds' | 'market'): KeyedRow[] {
    return this.#keyed[table].all();
  }

  /** Rows whose key begins with `prefix`, ascending, after the key `after`, at most `limit`. */
  withPrefix(table: KeyedTable, prefix: string, limit: number, after?: string): KeyedRow[] {
    return this.#rows.withPrefix(table, prefix, limit, after);
  }

  /** Rows whose key begins with `prefix`, from either end, behind `offset` of them. */
  page(table: KeyedTable, prefix: string, query: PageQuery): KeyedRow[] {
    return this.#rows.page(table, prefix, query);
  }

  /** `page`, for many pages of one table before anything else is staged. */
  pages(table: KeyedTable): (prefix: string, query: PageQuery) => KeyedRow[] {
    return this.#rows.pages(table);
  }

  /** Rows as they are now, for a reader that takes many turns of the loop. */
  snapshot(): HeldRows {
    return this.#rows.snapshot();
  }

  /** How many rows have this prefix, within a span of keys. */
  count(table: KeyedTable, prefix: string, span: KeySpan): number {
    return this.#rows.count(table, prefix, span);
  }

  /** Changes in `scope` after `seq`, oldest change first, at most `limit`. */
  changedSince(scope: string, seq: number, limit: number): IndexedChange[] {
    const stages = this.#newestFirst;
    // A staged change may replace a stored one, so this reads as many more.
    const more = stages.reduce((count, stage) => count + stage.changeIndex.count(scope), limit);
    const stored = this.#changeIndex.since(scope, seq, more);
    const found = stages
      .toReversed()
      .reduce(
        (below, stage) => stage.changeIndex.overlay(scope, seq, below),
        new Map(stored.map((change) => [change.ref, change])),
      );
    const inOrder = [...found.values()].sort((a, b) => a.seq - b.seq || (a.ref < b.ref ? -1 : 1));
    return inOrder.slice(0, limit);
  }

  /** The bar that starts at `start`, or its tombstone, or null. */
  bar(pair: number, resolution: number, start: number): BarRow | null {
    return this.#bars.one(pair, resolution, start);
  }

  /** The same, to be looked at only at once: its pair may change it in place. */
  barValue(pair: number, resolution: number, start: number): BarValue {
    return this.#bars.value(pair, resolution, start);
  }

  /** Bars that start in [from, to), newest first. */
  bars(pair: number, resolution: number, from: number, to: number, limit: number): BarRow[] {
    return this.#bars.range(pair, resolution, from, to, limit);
  }

  /**
   * Number and last change of final bars that start in [from, to), up to `most` bars. Two equal
   * answers in one epoch mean equal bars. null: some bars are not committed.
   */
  settledBars(
    pair: number,
    resolution: number,
    span: { readonly from: number; readonly to: number },
    most: number,
  ): SettledBars | null {
    return this.#bars.settled(pair, resolution, span, most);
  }

  /** Bars and tombstones last changed after `seq`, oldest change first. */
  barsChangedSince(pair: number, resolution: Resolution, seq: number, limit: number): BarRow[] {
    return this.#bars.changedSince(pair, resolution, seq, limit);
  }

  /** Bars of all pairs that are not final, as committed. */
  allOpenBars(): OpenBar[] {
    return this.#bars.allOpen();
  }

  /** Bars whose interval has not ended at `marketMs`, the same as the bars that are not final. */
  openBars(pair: number, resolution: Resolution, marketMs: number): BarRow[] {
    return this.#bars.open(pair, resolution, marketMs);
  }

  /** Values after entry `toSeq` of the rows that changed later. Everything must be committed. */
  imagesAfter(toSeq: number): RowImage[] {
    return this.#undo.imagesAfter(toSeq);
  }

  /** Closes without writing staged rows: the log still has their entries. */
  async close(): Promise<void> {
    await this.#committing?.catch(() => 0); // reported by the committer
    await this.#writer.close();
    checkpointWithChecksums(this.#database);
    this.#database.pragma('wal_checkpoint(TRUNCATE)');
    this.#database.close();
    releaseLocked(this.#database.name);
  }

  async #write(): Promise<number> {
    const stage = this.#stage;
    this.#setStages(new PendingWrites(), stage);
    stage.bars.isClosed = true;
    try {
      const head = {
        checkpoint: JSON.stringify(this.#checkpoint),
        horizonSeq: this.horizonSeq,
      };
      // The checkpoint that is written comes after the entries that ended them.
      await this.#bars.endAll(stage, this.#clock);
      await this.#writer.write(await encodeInSteps(stage, head, this.#clock));
      this.#rows.noteCommitted();
      stage.bars.noteWritten();
      return stage.rows;
    } catch (error) {
      stage.append(this.#stage);
      this.#stage = stage;
      throw error;
    } finally {
      this.#setStages(this.#stage, null);
    }
  }

  #setStages(newest: PendingWrites, inFlight: PendingWrites | null): void {
    this.#stage = newest;
    this.#inFlight = inFlight;
    this.#newestFirst = inFlight === null ? [newest] : [newest, inFlight];
  }
}
