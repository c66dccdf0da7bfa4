/**
 * The chain on disk: blocks, transactions, outputs (outputTable.ts), and the accepted transactions
 * that are in no block yet.
 *
 * A fixed number of blocks is kept, so that the file stops growing. An older block keeps its header
 * as long as it has an output in the table.
 *
 * A commit survives a power cut (FULL). A full or failing disk is a Failure: the file is unchanged,
 * and the same call may be tried again.
 */
import { fromHex, toHex } from '../cardano/codec/hex.ts';
import type { OutputRef, Utxo } from '../cardano/codec/output.ts';
import { assert } from '../engine/runtime/assert.ts';
import { Failure, systemCode } from '../engine/runtime/errors.ts';
import { MAX_FORK_BLOCKS } from '../engine/runtime/limits.ts';
import { type Database, openDatabase } from '../engine/store/database.ts';
import { OutputSearch } from './outputSearch.ts';
import {
  type BlockTransaction,
  OUTPUT_TABLES,
  OutputTable,
  UNSPENT_INDEX,
  utxoOf,
} from './outputTable.ts';

/** Depth that can be rolled back, in blocks: Cardano's security parameter. */
export const K = MAX_FORK_BLOCKS;

/** Blocks whose transactions are kept: 12 hours at a block a second. */
const BLOCKS_KEPT = 20 * K;

const VERSION = 3;

const TABLES = `
  CREATE TABLE genesis (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL) STRICT;
  -- The newest slot that a block ever had, the height below which nothing can be undone, and the
  -- newest height whose transactions were removed: all stay when blocks are undone.
  CREATE TABLE marks (id INTEGER PRIMARY KEY CHECK (id = 1), slot INTEGER NOT NULL,
    settled INTEGER NOT NULL, pruned INTEGER NOT NULL) STRICT;
  CREATE TABLE blocks (height INTEGER PRIMARY KEY, slot INTEGER NOT NULL UNIQUE,
    hash BLOB NOT NULL) STRICT;
  CREATE TABLE transactions (height INTEGER NOT NULL, position INTEGER NOT NULL,
    id BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL) STRICT;
  CREATE INDEX transactions_of_block ON transactions (height, position);
  -- Accepted, in no block yet, in the order of acceptance.
  CREATE TABLE pending (place INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE,
    bytes BLOB NOT NULL) STRICT;
  CREATE TABLE genesis_outputs (tx BLOB NOT NULL, position INTEGER NOT NULL,
    cbor BLOB NOT NULL, PRIMARY KEY (tx, position)) STRICT, WITHOUT ROWID;
`;

/** As JSON of Ogmios; no row: the chain has the parameters that this version begins with. */
const PARAMETERS_TABLE = `CREATE TABLE IF NOT EXISTS parameters
  (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL) STRICT`;

export interface BlockHead {
  readonly height: number;
  readonly slot: number;
  readonly hash: string;
}

export interface BlockRecord extends BlockHead {
  readonly transactions: readonly BlockTransaction[];
}

interface Marks {
  /** The newest slot that a block ever had. */
  readonly slot: number;
  /** The height that a rollback can reach. */
  readonly settled: number;
  /** The newest height whose transactions were removed. */
  readonly pruned: number;
}

interface GenesisRow {
  readonly tx: Uint8Array;
  readonly position: number;
  readonly cbor: Uint8Array;
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

/** The write-ahead log is brought into the file beyond this, and cut to `MAX_LOG_BYTES`. */
const LOG_PAGES = 1_000;
const MAX_LOG_BYTES = 8 << 20;

export class LedgerFile {
  readonly outputs: OutputTable;
  readonly search: OutputSearch;
  readonly #database: Database;
  readonly #sql: ReturnType<typeof statements>;
  readonly #blocksKept: number;
  readonly #path: string;
  #refusal: string | null = null;
  #diskChanged: (refusal: string | null) => void = () => {};

  /**
   * Throws when another process works on it. `maxMb`: as of a database, 0 is no bound.
   * `blocksKept`: at least K.
   */
  constructor(file: string, maxMb = 0, blocksKept = BLOCKS_KEPT) {
    assert(blocksKept >= K, 'what can be rolled back is kept');
    this.#blocksKept = blocksKept;
    this.#path = file;
    this.#database = openDatabase(file, { synchronous: 'FULL', maxMb, exclusive: true });
    this.#database.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
    this.#database.pragma(`journal_size_limit = ${MAX_LOG_BYTES}`);
    const found = this.#database.pragma('user_version', { simple: true });
    if (found === 0) {
      this.#database.exec(
        `BEGIN; ${TABLES} ${OUTPUT_TABLES} PRAGMA user_version = ${VERSION}; COMMIT`,
      );
    } else if (found !== VERSION) {
      this.#database.close();
      const help = 'move it away and start again: its chain cannot be carried over';
      throw new Error(`${file} is of version ${found}, this program reads ${VERSION}: ${help}`);
    }
    this.#database.exec(UNSPENT_INDEX);
    this.#database.exec(PARAMETERS_TABLE);
    this.outputs = new OutputTable(this.#database);
    this.search = new OutputSearch(this.#database);
    this.#sql = statements(this.#database);
  }

  /** As it was given to `begin`; null in a new file. */
  genesis(): string | null {
    // trust: the column of this statement
    const row = this.#sql.genesis.get() as { text: string } | undefined;
    return row?.text ?? null;
  }

  /** `recorded`: the first blocks. All of it, or nothing. */
  begin(text: string, outputs: readonly Utxo[], recorded: Iterable<BlockRecord> = []): void {
    this.#database.transaction(() => {
      this.#sql.writeGenesis.run(text);
      this.#sql.writeMarks.run(0, 0, 0);
      // No two outputs have the same place: those placed together are one transaction of block 0.
      const transactions: string[] = [];
      for (const utxo of outputs) {
        const { ref, output } = utxo;
        if (!transactions.includes(ref.txHash)) transactions.push(ref.txHash);
        this.outputs.make(utxo, 0, transactions.indexOf(ref.txHash));
        this.#sql.keepGenesis.run(fromHex(ref.txHash), ref.index, fromHex(output.cbor));
      }
      for (const block of recorded) this.#append(block);
    })();
  }

  /** As they were given to `begin`. */
  genesisOutputs(): Utxo[] {
    // trust: the columns of this statement
    return (this.#sql.genesisOutputs.all() as GenesisRow[]).map(utxoOf);
  }

  /** The protocol parameters as they were last given; null: never. */
  parameters(): string | null {
    // trust: the column of this statement
    const row = this.#sql.parameters.get() as { text: string } | undefined;
    return row?.text ?? null;
  }

  keepParameters(text: string): Failure | null {
    return this.#write(() => {
      this.#sql.writeParameters.run(text);
      return null;
    });
  }

  marks(): Marks {
    // trust: the columns of this statement; `begin` wrote the row
    return this.#sql.marks.get() as Marks;
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
  output(ref: OutputRef): { utxo: Utxo; isSpent: boolean } | null {
    const found = this.outputs.get(ref);
    return found === null ? null : { utxo: found.utxo, isSpent: found.spent !== null };
  }

  unspent(): Iterable<Utxo> {
    return this.outputs.unspent();
  }

  /** The bytes of a transaction in a block. */
  transaction(id: string): Uint8Array | null {
    // trust: the columns of this statement
    const row = this.#sql.transaction.get(fromHex(id)) as { bytes: Uint8Array } | undefined;
    return row?.bytes ?? null;
  }

  /** The newest block at or before a slot. */
  headUpTo(slot: number): BlockHead | null {
    return headOf(this.#sql.headUpTo.get(slot));
  }

  /** Accepted transactions that were in no block, in the order of acceptance. */
  pending(): Uint8Array[] {
    // trust: the columns of this statement
    return (this.#sql.pending.all() as { bytes: Uint8Array }[]).map(({ bytes }) => bytes);
  }

  /** Adds accepted transactions and removes dropped ones, all or nothing. */
  changePending(
    added: readonly { readonly id: string; readonly bytes: Uint8Array }[],
    dropped: readonly string[],
  ): Failure | null {
    return this.#write(() => {
      for (const id of dropped) this.#sql.removePending.run(fromHex(id));
      for (const { id, bytes } of added) this.#sql.addPending.run(fromHex(id), bytes);
      return null;
    });
  }

  /** Appends all blocks, or none. */
  append(blocks: readonly BlockRecord[]): Failure | null {
    return this.#write(() => {
      for (const block of blocks) this.#append(block);
      return null;
    });
  }

  /** Why the disk refused the last write; null: it took it. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Calls `listener` whenever `refusal` changes. */
  onDisk(listener: (refusal: string | null) => void): void {
    this.#diskChanged = listener;
  }

  /** Writes a page as it is, to find out whether the disk takes it. */
  probe(): void {
    this.#write(() => {
      this.#database.pragma(`user_version = ${VERSION}`);
      return null;
    });
  }

  /** In one commit. */
  #write<T>(work: () => T): T | Failure {
    try {
      const result = this.#database.transaction(work)();
      this.#reportDisk(null);
      return result;
    } catch (error) {
      const code = diskErrorOf(error);
      if (code === null) throw error;
      const message = `the devnet cannot write ${this.#path} (${code}): ${REMEDY}`;
      this.#reportDisk(message);
      return new Failure('NOT_READY', message);
    }
  }

  #reportDisk(refusal: string | null): void {
    if (this.#refusal === refusal) return;
    this.#refusal = refusal;
    this.#diskChanged(refusal);
  }

  #append({ height, slot, hash, transactions }: BlockRecord): void {
    this.#sql.addBlock.run(height, slot, fromHex(hash));
    for (const [position, { id, bytes }] of transactions.entries()) {
      this.#sql.addTransaction.run(height, position, fromHex(id), bytes);
      this.#sql.removePending.run(fromHex(id));
    }
    this.outputs.apply(height, transactions);
    const { pruned } = this.marks();
    const target = Math.max(pruned, height - this.#blocksKept);
    this.#sql.writeMarks.run(slot, Math.max(0, height - K), target);
    for (const made of this.outputs.forget(height - K)) {
      if (made <= pruned) this.#sql.dropHead.run(made);
    }
    for (let each = pruned + 1; each <= target; each += 1) {
      this.#sql.dropTransactions.run(each);
      this.#sql.dropHead.run(each);
    }
  }

  /** Back to `height`, at once: outputs that are gone, and outputs that are unspent again. */
  rollback(height: number): { readonly gone: OutputRef[]; readonly revived: Utxo[] } | Failure {
    return this.#write(() => {
      const undone = this.outputs.rollback(height);
      for (const statement of this.#sql.undo) statement.run(height);
      return undone;
    });
  }

  close(): void {
    this.#database.close();
  }
}

const REMEDY = 'make room on its disk; it continues by itself';

const DISK = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/;

/** The code of an error of a full, failing or read-only disk; null: another error. */
function diskErrorOf(error: unknown): string | null {
  const code = systemCode(error);
  return code !== null && DISK.test(code) ? code : null;
}

function statements(database: Database) {
  const head = 'SELECT height, slot, hash FROM blocks';
  const transactions = 'FROM transactions WHERE';
  const marks = `INSERT INTO marks (id, slot, settled, pruned) VALUES (1, ?, ?, ?)
    ON CONFLICT DO UPDATE SET slot = max(slot, excluded.slot),
    settled = max(settled, excluded.settled), pruned = max(pruned, excluded.pruned)`;
  return {
    genesis: database.prepare('SELECT text FROM genesis'),
    writeGenesis: database.prepare('INSERT INTO genesis (id, text) VALUES (1, ?)'),
    parameters: database.prepare('SELECT text FROM parameters'),
    writeParameters: database.prepare('INSERT OR REPLACE INTO parameters (id, text) VALUES (1, ?)'),
    marks: database.prepare('SELECT slot, settled, pruned FROM marks'),
    writeMarks: database.prepare(marks),
    tip: database.prepare(`${head} ORDER BY height DESC LIMIT 1`),
    head: database.prepare(`${head} WHERE height = ?`),
    headAt: database.prepare(`${head} WHERE slot = ?`),
    transactionsOf: database.prepare(
      `SELECT id, bytes ${transactions} height = ? ORDER BY position`,
    ),
    blockOf: database.prepare(`${head} WHERE height = (SELECT height ${transactions} id = ?)`),
    transaction: database.prepare(`SELECT bytes ${transactions} id = ?`),
    headUpTo: database.prepare(`${head} WHERE slot <= ? ORDER BY slot DESC LIMIT 1`),
    pending: database.prepare('SELECT bytes FROM pending ORDER BY place'),
    addPending: database.prepare('INSERT OR IGNORE INTO pending (id, bytes) VALUES (?, ?)'),
    removePending: database.prepare('DELETE FROM pending WHERE id = ?'),
    keepGenesis: database.prepare(
      'INSERT INTO genesis_outputs (tx, position, cbor) VALUES (?, ?, ?)',
    ),
    genesisOutputs: database.prepare('SELECT tx, position, cbor FROM genesis_outputs'),
    addBlock: database.prepare('INSERT INTO blocks (height, slot, hash) VALUES (?, ?, ?)'),
    addTransaction: database.prepare(
      'INSERT INTO transactions (height, position, id, bytes) VALUES (?, ?, ?, ?)',
    ),
    dropTransactions: database.prepare('DELETE FROM transactions WHERE height = ?'),
    dropHead: database.prepare(`DELETE FROM blocks WHERE height = ? AND NOT EXISTS
      (SELECT 1 FROM outputs WHERE made = blocks.height)`),
    undo: ['DELETE FROM transactions WHERE height > ?', 'DELETE FROM blocks WHERE height > ?'].map(
      (text) => database.prepare(text),
    ),
  };
}

function headOf(row: unknown): BlockHead | null {
  if (row === undefined) return null;
  // trust: the columns of the statements on blocks
  const { height, slot, hash } = row as HeadRow;
  return { height, slot, hash: toHex(hash) };
}
