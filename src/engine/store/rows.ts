/**
 * What the fold writes: rows named by table and key. Those of keyed tables are text; bars are
 * objects until a text is needed (`BarChange`). The text of a row is the same in its table, in the
 * before-images of the undo record and under the state hash, so they cannot disagree.
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
  'traders',
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
 * What no rollback takes back: the mempool is not of the chain, and who was shown an order may ask
 * for it when it is gone. `dropped` is forgotten beyond the horizon.
 */
export const KEPT_TABLES: ReadonlySet<TableName> = new Set(['mempool', 'beacons', 'dropped']);

/**
 * Why a row has its seq. `trade`: a trade at the newest end; `final`: the interval of the newest
 * bar ended; `late`: a trade behind the newest end; `rollback`: undone; `lateFinal`: the interval
 * ended when a newer bar was there already. Stored as an index: append only.
 */
export const CAUSES = ['trade', 'final', 'late', 'rollback', 'lateFinal'] as const;
export type Cause = (typeof CAUSES)[number];

/** A change of a row of a keyed table. */
export interface RowChange {
  readonly table: KeyedTable;
  readonly key: string;
  /** null: the row was not there. */
  readonly before: string | null;
  /** null: the row is removed. */
  readonly after: string | null;
  readonly cause: Cause;
}

export interface RowImage {
  readonly table: TableName;
  readonly key: string;
  readonly value: string | null;
}
