/**
 * Every output with the block that created it and the block that spent it. The two heights allow an
 * undo: going back to height h removes outputs created above h and makes those spent above h
 * unspent again. An output that was spent more than K blocks ago is removed; unspent ones stay.
 * outputSearch.ts finds outputs by credential, policy and asset.
 */
import { parseAddress } from '../cardano/codec/address.ts';
import { elementsOf, readCbor } from '../cardano/codec/cbor.ts';
import { fromHex, toHex } from '../cardano/codec/hex.ts';
import { datumHashOf, decodeOutput, type OutputRef, type Utxo } from '../cardano/codec/output.ts';
import { witnessDatums } from '../cardano/codec/transaction.ts';
import type { Database } from '../engine/store/database.ts';

export const OUTPUT_TABLES = `
  -- made, spent: heights of blocks; made_at: index of the transaction in its block. With row ids,
  -- so that indexes do not repeat the hash, and rows that are made together lie together. Files of
  -- before are sorted by the hash; the statements are the same.
  CREATE TABLE outputs (tx BLOB NOT NULL, position INTEGER NOT NULL, cbor BLOB NOT NULL,
    payment BLOB, stake BLOB, datum_hash BLOB, script_hash BLOB, made INTEGER NOT NULL,
    made_at INTEGER NOT NULL, spent INTEGER, spent_by BLOB, spent_input INTEGER,
    PRIMARY KEY (tx, position)) STRICT;
  CREATE INDEX outputs_payment ON outputs (payment, made, made_at, position);
  CREATE INDEX outputs_stake ON outputs (stake, made, made_at, position)
    WHERE stake IS NOT NULL;
  CREATE INDEX outputs_made ON outputs (made, made_at, position);
  CREATE INDEX outputs_spent ON outputs (spent) WHERE spent IS NOT NULL;
  -- By the place of an output in the chain, so that the outputs of an asset are found in order.
  CREATE TABLE output_assets (policy BLOB NOT NULL, name BLOB NOT NULL, made INTEGER NOT NULL,
    made_at INTEGER NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (policy, name, made, made_at, position)) STRICT, WITHOUT ROWID;
  CREATE INDEX output_assets_policy ON output_assets (policy, made, made_at, position);
  CREATE INDEX output_assets_place ON output_assets (made, made_at, position);
  CREATE INDEX outputs_datum ON outputs (datum_hash) WHERE datum_hash IS NOT NULL;
  CREATE INDEX outputs_script ON outputs (script_hash) WHERE script_hash IS NOT NULL;
  -- Datums that came as witnesses, with the height of the block that showed them first.
  CREATE TABLE datums (hash BLOB PRIMARY KEY, bytes BLOB NOT NULL, height INTEGER NOT NULL)
    STRICT, WITHOUT ROWID;
  CREATE INDEX datums_height ON datums (height);
`;

/** Also made in a file of before it. */
export const UNSPENT_INDEX = `
  CREATE INDEX IF NOT EXISTS outputs_unspent ON outputs (payment, made, made_at, position)
    WHERE spent IS NULL;
`;

/** A transaction of a block, with the outputs that it spends and creates. */
export interface BlockTransaction {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly spent: readonly OutputRef[];
  readonly made: readonly Utxo[];
}

interface Spending {
  readonly height: number;
  readonly txHash: string;
  /** Among the inputs of that transaction, in the order of the ledger. */
  readonly inputIndex: number;
}

export interface FoundOutput {
  readonly utxo: Utxo;
  readonly madeHeight: number;
  readonly transactionIndex: number;
  readonly spent: Spending | null;
}

export interface OutputRow {
  readonly tx: Uint8Array;
  readonly position: number;
  readonly cbor: Uint8Array;
  readonly made: number;
  readonly made_at: number;
  readonly spent: number | null;
  readonly spent_by: Uint8Array | null;
  readonly spent_input: number | null;
}

const COLUMNS = 'o.tx, o.position, o.cbor, o.made, o.made_at, o.spent, o.spent_by, o.spent_input';

export class OutputTable {
  readonly #sql: ReturnType<typeof statements>;

  constructor(database: Database) {
    this.#sql = statements(database);
  }

  /** null when it is not known any more. */
  get({ txHash, index }: OutputRef): FoundOutput | null {
    // trust: the columns of this statement
    const row = this.#sql.output.get(fromHex(txHash), index) as OutputRow | undefined;
    return row === undefined ? null : foundOf(row);
  }

  *unspent(): Iterable<Utxo> {
    // trust: the columns of this statement
    for (const row of this.#sql.unspent.iterate()) yield utxoOf(row as OutputRow);
  }

  apply(height: number, transactions: readonly BlockTransaction[]): void {
    for (const [at, { id, bytes, made, spent }] of transactions.entries()) {
      const witnesses = elementsOf(readCbor(bytes))[1];
      for (const [hash, datum] of witnesses ? witnessDatums(bytes, witnesses) : []) {
        this.#sql.keepDatum.run(fromHex(hash), datum, height);
      }
      for (const utxo of made) this.make(utxo, height, at);
      for (const [input, { txHash, index }] of spent.entries()) {
        this.#sql.spend.run(height, fromHex(id), input, fromHex(txHash), index);
      }
    }
  }

  make({ ref, output }: Utxo, height: number, at: number): void {
    const address = parseAddress(output.address);
    const hash = (hex: string | undefined) => (hex === undefined ? null : fromHex(hex));
    const tx = fromHex(ref.txHash);
    const row = [
      fromHex(output.cbor),
      hash(address?.payment.hash),
      hash(address?.stake?.hash),
      hash(datumHashOf(output) ?? undefined),
      hash(output.scriptHash ?? undefined),
    ];
    this.#sql.make.run(tx, ref.index, ...row, height, at);
    for (const asset of output.value.assets.keys()) {
      const [policy = '', name = ''] = asset.split('.');
      this.#sql.makeAsset.run(fromHex(policy), fromHex(name), height, at, ref.index);
    }
  }

  /** Removes outputs spent at or below a height; answers the heights that created them. */
  forget(height: number): number[] {
    // trust: the column of this statement
    const made = this.#sql.madeOfSpent.all(height) as { made: number }[];
    this.#sql.forgetAssets.run(height);
    this.#sql.forgetDatums.run({ height });
    this.#sql.forget.run(height);
    this.#sql.forgetLooseDatums.run({ height });
    return made.map((row) => row.made);
  }

  /** Back to a height: outputs that are gone, and outputs that are unspent again. */
  rollback(height: number): { readonly gone: OutputRef[]; readonly revived: Utxo[] } {
    // trust: the columns of this statement
    const gone = this.#sql.madeAbove.all(height) as OutputRow[];
    // trust: the columns of this statement
    const revived = this.#sql.spentAbove.all(height, height) as OutputRow[];
    this.#sql.undoAssets.run(height);
    this.#sql.undoMade.run(height);
    this.#sql.undoSpent.run(height);
    this.#sql.undoDatums.run(height);
    return { gone: gone.map((row) => utxoOf(row).ref), revived: revived.map(utxoOf) };
  }

  /** A datum that an output carries or a witness showed. */
  datum(hash: string): Uint8Array | null {
    // trust: the columns of this statement
    const kept = this.#sql.datum.get(fromHex(hash)) as { bytes: Uint8Array } | undefined;
    if (kept !== undefined) return kept.bytes;
    for (const row of this.#sql.withDatum.iterate(fromHex(hash))) {
      // trust: the columns of this statement
      const { output } = utxoOf(row as OutputRow);
      // Others name it by its hash alone.
      if (output.datum !== null) return fromHex(output.datum);
    }
    return null;
  }

  /** An output that carries this reference script. */
  withScript(hash: string): Utxo | null {
    // trust: the columns of this statement
    const row = this.#sql.withScript.get(fromHex(hash)) as OutputRow | undefined;
    return row === undefined ? null : utxoOf(row);
  }
}

export function foundOf(row: OutputRow, height = Number.MAX_SAFE_INTEGER): FoundOutput {
  const { made, made_at, spent, spent_by, spent_input } = row;
  const isSpent = spent !== null && spent <= height;
  const spending = isSpent
    ? { height: spent, txHash: toHex(spent_by ?? new Uint8Array()), inputIndex: spent_input ?? 0 }
    : null;
  return { utxo: utxoOf(row), madeHeight: made, transactionIndex: made_at, spent: spending };
}

export function utxoOf({ tx, position, cbor }: Pick<OutputRow, 'tx' | 'position' | 'cbor'>): Utxo {
  return { ref: { txHash: toHex(tx), index: position }, output: decodeOutput(cbor) };
}

function statements(database: Database) {
  const row = `SELECT ${COLUMNS} FROM outputs o`;
  const prepare = (text: string) => database.prepare(text);
  return {
    output: prepare(`${row} WHERE tx = ? AND position = ?`),
    unspent: prepare(`${row} WHERE spent IS NULL`),
    make: prepare(`INSERT INTO outputs (tx, position, cbor, payment, stake, datum_hash, script_hash,
      made, made_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    keepDatum: prepare('INSERT OR IGNORE INTO datums (hash, bytes, height) VALUES (?, ?, ?)'),
    datum: prepare('SELECT bytes FROM datums WHERE hash = ?'),
    withDatum: prepare(`${row} WHERE datum_hash = ?`),
    withScript: prepare(`${row} WHERE script_hash = ? LIMIT 1`),
    makeAsset: prepare(
      'INSERT INTO output_assets (policy, name, made, made_at, position) VALUES (?, ?, ?, ?, ?)',
    ),
    spend: prepare(`UPDATE outputs SET spent = ?, spent_by = ?, spent_input = ?
      WHERE tx = ? AND position = ?`),
    forget: prepare('DELETE FROM outputs WHERE spent <= ?'),
    // A datum goes with the last output that names it, or with the horizon where none does.
    forgetDatums: prepare(`DELETE FROM datums WHERE height <= @height AND hash IN
      (SELECT datum_hash FROM outputs WHERE spent <= @height) AND NOT EXISTS
      (SELECT 1 FROM outputs WHERE datum_hash = datums.hash
        AND (spent IS NULL OR spent > @height))`),
    forgetLooseDatums: prepare(`DELETE FROM datums WHERE height = @height AND NOT EXISTS
      (SELECT 1 FROM outputs WHERE datum_hash = datums.hash)`),
    // Else SQLite takes the index on `made` for DISTINCT, and reads every output at each block.
    madeOfSpent: prepare(
      'SELECT DISTINCT made FROM outputs INDEXED BY outputs_spent WHERE spent <= ?',
    ),
    forgetAssets: prepare(`DELETE FROM output_assets WHERE (made, made_at, position) IN
      (SELECT made, made_at, position FROM outputs WHERE spent <= ?)`),
    madeAbove: prepare(`${row} WHERE made > ? AND spent IS NULL`),
    spentAbove: prepare(`${row} WHERE spent > ? AND made <= ?`),
    undoDatums: prepare('DELETE FROM datums WHERE height > ?'),
    undoMade: prepare('DELETE FROM outputs WHERE made > ?'),
    undoAssets: prepare('DELETE FROM output_assets WHERE made > ?'),
    undoSpent: prepare(`UPDATE outputs SET spent = NULL, spent_by = NULL, spent_input = NULL
      WHERE spent > ?`),
  };
}
