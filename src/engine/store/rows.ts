/**
 * Rows of the fold: rows named by table and key. Records and bars are objects until a text is
 * needed (`RowRecord`, `BarSlot`). The text of a row is the same in its table, in the before-images
 * of the undo record and under the state hash, so they cannot disagree.
 *
 * Assumes: keys and values hold no line feed, keys no tab; a value is never empty.
 */
/** Tables that are only key and value; the keys are listed where they are written, in `actors`. */
export const KEYED_TABLES = [
  'pairs',
  'trade_ids',
  'feeds',
  'market',
  'points',
  'outputs',
  'pools',
  'orders',
  'open_orders',
  'order_index',
  'order_outputs',
  'beacons',
  'trades',
  'holdings',
  'holders',
  'balances',
  'holder_tokens',
  'holder_ranks',
  'traders',
  'token_traders',
  'counts',
  'locks',
  'lock_index',
  'mempool',
  'dropped',
] as const;
export const TABLES = ['bars', ...KEYED_TABLES] as const;
export type KeyedTable = (typeof KEYED_TABLES)[number];
export type TableName = (typeof TABLES)[number];

/**
 * Tables that no rollback restores: the mempool is not part of the chain, and a client may ask for
 * an order that it saw before a rollback. `dropped` is forgotten beyond the horizon.
 */
export const KEPT_TABLES: ReadonlySet<TableName> = new Set(['mempool', 'beacons', 'dropped']);

/**
 * Why a row has its seq. `trade`: a trade at the newest end; `final`: the interval of the newest
 * bar ended; `late`: a trade behind the newest end; `rollback`: undone; `lateFinal`: the interval
 * ended when a newer bar was there already. Stored as an index: append only.
 */
export const CHANGE_CAUSES = ['trade', 'final', 'late', 'rollback', 'lateFinal'] as const;
export type ChangeCause = (typeof CHANGE_CAUSES)[number];

/**
 * A record as the value of a row. It is read once and written as text once, however many entries,
 * commits and hashes ask for it. Never changes.
 */
export class RowRecord {
  #text: string | undefined;
  #record: object | undefined;

  private constructor(text: string | undefined, record: object | undefined) {
    this.#text = text;
    this.#record = record;
  }

  static of(record: object): RowRecord {
    return new RowRecord(undefined, record);
  }

  /** `record` reads it as JSON, and throws `SyntaxError` where it is none. */
  static ofText(text: string): RowRecord {
    return new RowRecord(text, undefined);
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.#record);
    return this.#text;
  }

  /** Shared by all readers. */
  get record(): object {
    // trust: our own row; which record a table holds is said in records.ts
    this.#record ??= JSON.parse(this.text) as object;
    return this.#record;
  }
}

/** The value of a row: a text, or a record that becomes one when it is needed. */
export type RowValue = string | RowRecord;

export function textOf(value: RowValue): string {
  return typeof value === 'string' ? value : value.text;
}

/** Shared by all readers; it must not be changed. */
export function recordOf<T extends object>(value: RowValue): T {
  const { record } = typeof value === 'string' ? RowRecord.ofText(value) : value;
  // trust: which record a table holds is said in records.ts
  return record as T;
}

/** A change of a row of a keyed table. */
export interface RowChange {
  readonly table: KeyedTable;
  readonly key: string;
  /** null: the row was not there. */
  readonly before: RowValue | null;
  /** null: the row is removed. */
  readonly after: RowValue | null;
  readonly cause: ChangeCause;
}

export interface RowImage {
  readonly table: TableName;
  readonly key: string;
  readonly value: string | null;
}
