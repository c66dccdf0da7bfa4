/**
 * The state file: rows of the fold, written behind it. One owner.
 *
 * Staged rows wait in memory, newest value per row, until a commit writes them with the checkpoint
 * in one transaction. Reads look through what waits.
 * A failed commit loses nothing: the batch stays staged, `commit` may be called again.
 */
import { type BarKey, type BarRow, barKey, barRows, isOpen } from './barRows.ts';
import { type Database, openDatabase } from './database.ts';
import { digestTables } from './digest.ts';
import { keyedRows } from './keyedRows.ts';
import { type Cause, type RowChange, type RowImage, TABLES, type TableName } from './rows.ts';
import { createTables } from './schema.ts';
import { StagedBars } from './stagedBars.ts';
import { type Point, UndoRows } from './undoRows.ts';

export interface Checkpoint {
  readonly epoch: string;
  readonly seq: number;
  readonly term: number;
  readonly entryHash: string;
  readonly stateHash: string;
  readonly marketMs: number;
}

/** One entry's effects, as the fold hands them over. */
export interface StagedEntry {
  readonly checkpoint: Checkpoint;
  /** A block can be rolled back to; `atMs` is the moment of its trades. */
  readonly block: boolean;
  readonly atMs: number;
  readonly changes: readonly RowChange[];
}

type KeyedTable = Exclude<TableName, 'bars'>;

interface StagedRow {
  readonly value: string | null;
  readonly seq: number;
  readonly cause: Cause;
}

export interface StateOptions {
  readonly horizonBlocks: number;
  readonly maxMb: number;
}

export class StateStore {
  readonly #database: Database;
  readonly #bars;
  readonly #keyed;
  readonly #undo: UndoRows;
  readonly #putCheckpoint;
  readonly #staged = new Map<KeyedTable, Map<string, StagedRow>>();
  readonly #stagedBars = new StagedBars();
  #stagedRows = 0;
  #checkpoint: Checkpoint | null;
  #undoneTo: number | null = null;
  #prunedTo = 0;

  constructor(file: string, options: StateOptions) {
    this.#database = openDatabase(file, { synchronous: 'NORMAL', maxMb: options.maxMb });
    createTables(this.#database);
    this.#bars = barRows(this.#database);
    this.#keyed = {
      pairs: keyedRows(this.#database, 'pairs'),
      trade_ids: keyedRows(this.#database, 'trade_ids'),
      feeds: keyedRows(this.#database, 'feeds'),
      market: keyedRows(this.#database, 'market'),
    };
    this.#undo = new UndoRows(this.#database, options.horizonBlocks);
    this.#putCheckpoint = this.#database.prepare<[string]>(
      'INSERT INTO checkpoint (id, text) VALUES (1, ?) ON CONFLICT DO UPDATE SET text = excluded.text',
    );
    for (const table of TABLES) if (table !== 'bars') this.#staged.set(table, new Map());
    const row = this.#database.prepare<[], { text: string }>('SELECT text FROM checkpoint').get();
    // trust: our own checkpoint row
    this.#checkpoint = row === undefined ? null : (JSON.parse(row.text) as Checkpoint);
  }

  /** Of the last staged entry; null before the first. */
  get checkpoint(): Checkpoint | null {
    return this.#checkpoint;
  }

  get stagedRows(): number {
    return this.#stagedRows;
  }

  get horizonSeq(): number {
    return this.#undo.horizonSeq;
  }

  pointAtOrBefore(atMs: number): Point | null {
    return this.#undo.pointAtOrBefore(atMs);
  }

  newestPoint(): Point | null {
    return this.#undo.newestPoint;
  }

  stage({ checkpoint, block, atMs, changes }: StagedEntry): void {
    this.#stageRows(changes, checkpoint.seq);
    this.#undo.record(checkpoint.seq, block, atMs, changes);
    this.#checkpoint = checkpoint;
  }

  /** First half of staging a rollback by entry `seq`: rows are as they were after `toSeq`. */
  restore(toSeq: number, rows: readonly RowChange[], seq: number): void {
    this.#undo.forgetPointsAfter(toSeq);
    this.#undoneTo = toSeq;
    this.#stageRows(rows, seq);
  }

  /** Writes everything staged. Throws what SQLite throws (a full disk); nothing is lost then. */
  commit(): number {
    const rows = this.#stagedRows;
    if (rows === 0) return 0;
    this.#database.transaction(() => this.#write())();
    for (const staged of this.#staged.values()) staged.clear();
    this.#stagedBars.clear();
    this.#undo.written();
    this.#undoneTo = null;
    this.#stagedRows = 0;
    return rows;
  }

  /** Moves what is in the write-ahead log into the file; for quiet moments. */
  checkpointFile(): void {
    this.#database.pragma('wal_checkpoint(PASSIVE)');
  }

  /** A hash of each table as committed; see `digestTables`. */
  digest(): Record<TableName, string> {
    this.commit();
    return digestTables(this.#database, this.horizonSeq);
  }

  /** A whole copy of the committed state. */
  snapshotTo(file: string): void {
    this.commit();
    this.#database.prepare('VACUUM INTO ?').run(file);
  }

  get(table: KeyedTable, key: string): string | null {
    const staged = this.#table(table).get(key);
    return staged === undefined ? this.#keyed[table].get(key) : staged.value;
  }

  all(table: 'pairs' | 'feeds' | 'market'): { key: string; value: string }[] {
    this.commit();
    return this.#keyed[table].all();
  }

  /** The bar that starts at `start`, or its tombstone, or null. */
  bar(pair: number, resolution: number, start: number): BarRow | null {
    const staged = this.#stagedBars.get(pair, barKey(pair, resolution, start));
    return staged ?? this.#bars.one(pair, resolution, start);
  }

  /** Bars that start in [from, to), newest first. */
  bars(pair: number, resolution: number, from: number, to: number, limit: number): BarRow[] {
    const more = limit + this.#stagedBars.count(pair);
    const stored = this.#bars.range(pair, resolution, from, to, more);
    const inside = ({ start, value }: BarRow) => start >= from && start < to && value !== null;
    const rows = this.#stagedBars.over(pair, resolution, stored, inside);
    return rows.sort((a, b) => b.start - a.start).slice(0, limit);
  }

  /** Bars and tombstones last changed after `seq`, oldest change first. */
  barsChangedSince(pair: number, resolution: number, seq: number, limit: number): BarRow[] {
    const more = limit + this.#stagedBars.count(pair);
    const stored = this.#bars.changedSince(pair, resolution, seq, more);
    const rows = this.#stagedBars.over(pair, resolution, stored, (row) => row.seq > seq);
    return rows.sort((a, b) => a.seq - b.seq || a.start - b.start).slice(0, limit);
  }

  /** Bars that are not final, oldest first. */
  openBars(pair: number, resolution: number): BarRow[] {
    const stored = this.#bars.open(pair, resolution);
    const rows = this.#stagedBars.over(pair, resolution, stored, ({ value }) => isOpen(value));
    return rows.sort((a, b) => a.start - b.start);
  }

  /** Keys of all bars that are not final; for the start of a fold, when nothing is staged. */
  allOpenBars(): BarKey[] {
    return this.#bars.allOpen();
  }

  /** Before-images of all entries after `toSeq`, newest first. */
  imagesAfter(toSeq: number): RowImage[] {
    this.commit();
    return this.#undo.imagesAfter(toSeq);
  }

  /** Closes without writing what is staged: the log still has it. */
  close(): void {
    this.#database.pragma('wal_checkpoint(TRUNCATE)');
    this.#database.close();
  }

  #stageRows(rows: readonly RowChange[], seq: number): void {
    for (const { table, key, after, cause } of rows) {
      const row = { value: after, seq, cause };
      if (table === 'bars') this.#stagedBars.set(key, row);
      else this.#table(table).set(key, row);
    }
    this.#stagedRows += rows.length + 1;
  }

  #write(): void {
    for (const [table, rows] of this.#staged) {
      for (const [key, { value, seq }] of rows) this.#keyed[table].put(key, value, seq);
    }
    for (const [key, { value, seq, cause }] of this.#stagedBars.entries()) {
      this.#bars.put(key, value, seq, cause);
    }
    this.#undo.write(this.#undoneTo);
    if (this.horizonSeq > this.#prunedTo) {
      this.#prunedTo = this.horizonSeq;
      this.#bars.pruneTombstones(this.#prunedTo);
    }
    this.#putCheckpoint.run(JSON.stringify(this.#checkpoint));
  }

  #table(name: KeyedTable): Map<string, StagedRow> {
    const rows = this.#staged.get(name);
    if (rows === undefined) throw new Error(`no table ${name}`);
    return rows;
  }
}
