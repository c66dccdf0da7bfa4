/**
 * The chain on disk: blocks, transactions, and every output with the block that made it and the one
 * that spent it. That pair is the undo: going back to height h forgets what was made above h and
 * revives what was spent above h. Outputs spent more than K blocks ago are forgotten.
 *
 * A commit survives a power cut (FULL); what it does not hold never happened. A disk that is full
 * or fails is a Failure, nothing has changed then, and the same call may be tried again.
 */
import { fromHex, toHex } from '../cardano/codec/hex.ts';
import { decodeOutput, type OutputRef, type Utxo } from '../cardano/codec/output.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { type Database, openDatabase } from '../engine/store/database.ts';

/** Depth that can be rolled back, in blocks: Cardano's security parameter. */
export const K = 2160;

const VERSION = 1;

const TABLES = `
  CREATE TABLE genesis (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL) STRICT;
  -- The newest slot that a block ever had, and the height below which nothing can be undone: both
  -- stay when blocks are undone.
  CREATE TABLE marks (id INTEGER PRIMARY KEY CHECK (id = 1), slot INTEGER NOT NULL,
    settled INTEGER NOT NULL) STRICT;
  CREATE TABLE blocks (height INTEGER PRIMARY KEY, slot INTEGER NOT NULL UNIQUE,
    hash BLOB NOT NULL) STRICT;
  CREATE TABLE transactions (height INTEGER NOT NULL, position INTEGER NOT NULL,
    id BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL) STRICT;
  CREATE INDEX transactions_of_block ON transactions (height, position);
  CREATE TABLE outputs (tx BLOB NOT NULL, position INTEGER NOT NULL, cbor BLOB NOT NULL,
    made INTEGER NOT NULL, spent INTEGER, PRIMARY KEY (tx, position)) STRICT, WITHOUT ROWID;
  CREATE INDEX outputs_made ON outputs (made);
  CREATE INDEX outputs_spent ON outputs (spent) WHERE spent IS NOT NULL;
`;

/** Files of before have no such table; what they began with is all there until it is forgotten. */
const GENESIS_OUTPUTS = `
  CREATE TABLE IF NOT EXISTS genesis_outputs (tx BLOB NOT NULL, position INTEGER NOT NULL,
    cbor BLOB NOT NULL, PRIMARY KEY (tx, position)) STRICT, WITHOUT ROWID;
`;

export interface BlockHead {
  readonly height: number;
  readonly slot: number;
  readonly hash: string;
}

export interface BlockRecord extends BlockHead {
  readonly transactions: readonly { readonly id: string; readonly bytes: Uint8Array }[];
  readonly spent: readonly OutputRef[];
  readonly made: readonly Utxo[];
}

interface OutputRow {
  readonly tx: Uint8Array;
  readonly position: number;
  readonly cbor: Uint8Array;
  readonly spent: number | null;
}

interface TransactionRow {
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

interface HeadRow {
  readonly height: number;
  readonly slot: number;
  readonly hash: Uint8Array;
}

const BLOCKS_PER_CHECKPOINT = 64;

export class LedgerFile {
  readonly #database: Database;
  readonly #sql: ReturnType<typeof statements>;
  #appended = 0;

  /** `InUse` when another process works on it. `maxMb`: as of a database, 0 is no bound. */
  constructor(file: string, maxMb = 0) {
    this.#database = openDatabase(file, { synchronous: 'FULL', maxMb, exclusive: true });
    const found = this.#database.pragma('user_version', { simple: true });
    if (found === 0) {
      this.#database.exec(`BEGIN; ${TABLES} PRAGMA user_version = ${VERSION}; COMMIT`);
    } else if (found !== VERSION) {
      this.#database.close();
      throw new Error(`${file} is of version ${found}, this program reads version ${VERSION}`);
    }
    this.#database.exec(GENESIS_OUTPUTS);
    this.#sql = statements(this.#database);
  }

  /** As it was given to `begin`; null in a new file. */
  genesis(): string | null {
    // trust: the column of this statement
    const row = this.#sql.genesis.get() as { text: string } | undefined;
    return row?.text ?? null;
  }

  begin(text: string, outputs: readonly Utxo[]): void {
    this.#database.transaction(() => {
      this.#sql.writeGenesis.run(text);
      this.#sql.writeMarks.run(0, 0);
      for (const utxo of outputs) {
        this.#make(utxo, 0);
        const { ref, output } = utxo;
        this.#sql.keepGenesis.run(fromHex(ref.txHash), ref.index, fromHex(output.cbor));
      }
    })();
  }

  /** As they were given to `begin`; null where an older program began and some are forgotten. */
  genesisOutputs(): Utxo[] | null {
    // trust: the columns of this statement
    const kept = this.#sql.genesisOutputs.all() as OutputRow[];
    if (kept.length > 0) return kept.map(utxoOf);
    if (this.marks().settled > 0) return null;
    // trust: the columns of this statement
    return (this.#sql.madeAtStart.all() as OutputRow[]).map(utxoOf);
  }

  /** A file of its own with all that is in this one; fails where there is one already. */
  copyTo(file: string): void {
    this.#sql.copy.run(file);
  }

  /** The newest slot that a block ever had, and the height that a rollback can reach. */
  marks(): { readonly slot: number; readonly settled: number } {
    // trust: the columns of this statement; `begin` wrote the row
    return this.#sql.marks.get() as { slot: number; settled: number };
  }

  /** null: no block yet. */
  tip(): BlockHead | null {
    return headOf(this.#sql.tip.get());
  }

  head(height: number): BlockHead | null {
    return headOf(this.#sql.head.get(height));
  }

  headAt(slot: number): BlockHead | null {
    return headOf(this.#sql.headAt.get(slot));
  }

  transactionsOf(height: number): { id: string; bytes: Uint8Array }[] {
    // trust: the column of this statement
    const rows = this.#sql.transactionsOf.all(height) as TransactionRow[];
    return rows.map(({ id, bytes }) => ({ id: toHex(id), bytes }));
  }

  isInBlock(id: string): boolean {
    return this.blockOf(id) !== null;
  }

  /** The block that holds a transaction. */
  blockOf(id: string): BlockHead | null {
    return headOf(this.#sql.blockOf.get(fromHex(id)));
  }

  /** An output that a block made, and whether one spent it; null when it is not known any more. */
  output({ txHash, index }: OutputRef): { utxo: Utxo; isSpent: boolean } | null {
    // trust: the columns of this statement
    const row = this.#sql.output.get(fromHex(txHash), index) as OutputRow | undefined;
    return row === undefined ? null : { utxo: utxoOf(row), isSpent: row.spent !== null };
  }

  *unspent(): Iterable<Utxo> {
    // trust: the columns of this statement
    for (const row of this.#sql.unspent.iterate()) yield utxoOf(row as OutputRow);
  }

  /** All of them or none. */
  append(blocks: readonly BlockRecord[]): Failure | null {
    const failure = this.#write(() => {
      for (const block of blocks) this.#append(block);
      return null;
    });
    if (failure !== null) return failure;
    this.#appended += blocks.length;
    if (this.#appended >= BLOCKS_PER_CHECKPOINT) this.#checkpoint();
    return null;
  }

  /** In one commit. */
  #write<T>(work: () => T): T | Failure {
    try {
      return this.#database.transaction(work)();
    } catch (error) {
      return diskFailure(error);
    }
  }

  /** Blocks are safe without it: where the disk refuses, the next one does more. */
  #checkpoint(): void {
    try {
      this.#database.pragma('wal_checkpoint(PASSIVE)');
      this.#appended = 0;
    } catch (error) {
      diskFailure(error);
    }
  }

  #append({ height, slot, hash, transactions, spent, made }: BlockRecord): void {
    this.#sql.addBlock.run(height, slot, fromHex(hash));
    for (const [position, { id, bytes }] of transactions.entries()) {
      this.#sql.addTransaction.run(height, position, fromHex(id), bytes);
    }
    for (const utxo of made) this.#make(utxo, height);
    for (const { txHash, index } of spent) this.#sql.spend.run(height, fromHex(txHash), index);
    this.#sql.writeMarks.run(slot, Math.max(0, height - K));
    this.#sql.forget.run(height - K);
  }

  #make({ ref, output }: Utxo, height: number): void {
    this.#sql.make.run(fromHex(ref.txHash), ref.index, fromHex(output.cbor), height);
  }

  /** Back to `height`, at once: what is not there any more, and what is there again. */
  rollback(height: number): { readonly gone: OutputRef[]; readonly revived: Utxo[] } | Failure {
    return this.#write(() => {
      // trust: the columns of this statement
      const gone = this.#sql.madeAbove.all(height) as OutputRow[];
      // trust: the columns of this statement
      const revived = this.#sql.spentAbove.all(height, height) as OutputRow[];
      for (const statement of this.#sql.undo) statement.run(height);
      return { gone: gone.map((row) => utxoOf(row).ref), revived: revived.map(utxoOf) };
    });
  }

  close(): void {
    this.#database.close();
  }
}

/** Of a disk that is full or fails; whatever else was thrown is thrown on. */
function diskFailure(error: unknown): Failure {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  if (typeof code !== 'string' || !/^SQLITE_(FULL|IOERR)/.test(code)) throw error;
  return new Failure('SERVER_ERROR', `the ledger could not write its file: ${code}`);
}

function statements(database: Database) {
  const row = 'SELECT tx, position, cbor, spent FROM outputs';
  const head = 'SELECT height, slot, hash FROM blocks';
  const transactions = 'FROM transactions WHERE';
  const marks = `INSERT INTO marks (id, slot, settled) VALUES (1, ?, ?) ON CONFLICT DO UPDATE
    SET slot = max(slot, excluded.slot), settled = max(settled, excluded.settled)`;
  const make = 'INSERT INTO outputs (tx, position, cbor, made, spent) VALUES (?, ?, ?, ?, NULL)';
  return {
    genesis: database.prepare('SELECT text FROM genesis'),
    writeGenesis: database.prepare('INSERT INTO genesis (id, text) VALUES (1, ?)'),
    marks: database.prepare('SELECT slot, settled FROM marks'),
    writeMarks: database.prepare(marks),
    tip: database.prepare(`${head} ORDER BY height DESC LIMIT 1`),
    head: database.prepare(`${head} WHERE height = ?`),
    headAt: database.prepare(`${head} WHERE slot = ?`),
    transactionsOf: database.prepare(
      `SELECT id, bytes ${transactions} height = ? ORDER BY position`,
    ),
    blockOf: database.prepare(`${head} WHERE height = (SELECT height ${transactions} id = ?)`),
    output: database.prepare(`${row} WHERE tx = ? AND position = ?`),
    keepGenesis: database.prepare(
      'INSERT INTO genesis_outputs (tx, position, cbor) VALUES (?, ?, ?)',
    ),
    genesisOutputs: database.prepare(
      'SELECT tx, position, cbor, NULL AS spent FROM genesis_outputs',
    ),
    madeAtStart: database.prepare(`${row} WHERE made = 0`),
    copy: database.prepare('VACUUM INTO ?'),
    unspent: database.prepare(`${row} WHERE spent IS NULL`),
    addBlock: database.prepare('INSERT INTO blocks (height, slot, hash) VALUES (?, ?, ?)'),
    addTransaction: database.prepare(
      'INSERT INTO transactions (height, position, id, bytes) VALUES (?, ?, ?, ?)',
    ),
    make: database.prepare(make),
    spend: database.prepare('UPDATE outputs SET spent = ? WHERE tx = ? AND position = ?'),
    forget: database.prepare('DELETE FROM outputs WHERE spent <= ?'),
    madeAbove: database.prepare(`${row} WHERE made > ? AND spent IS NULL`),
    spentAbove: database.prepare(`${row} WHERE spent > ? AND made <= ?`),
    undo: [
      'DELETE FROM outputs WHERE made > ?',
      'UPDATE outputs SET spent = NULL WHERE spent > ?',
      'DELETE FROM transactions WHERE height > ?',
      'DELETE FROM blocks WHERE height > ?',
    ].map((text) => database.prepare(text)),
  };
}

function headOf(row: unknown): BlockHead | null {
  if (row === undefined) return null;
  // trust: the columns of the statements on blocks
  const { height, slot, hash } = row as HeadRow;
  return { height, slot, hash: toHex(hash) };
}

function utxoOf({ tx, position, cbor }: OutputRow): Utxo {
  return { ref: { txHash: toHex(tx), index: position }, output: decodeOutput(cbor) };
}
