/**
 * Rows of the file that are known here, because they were in its newest commit or were read since:
 * a block's recognition and its fold ask for the same rows, and the next block for many again.
 *
 * Assumes: only commits change the file, and `noteCommitted` is called for each. Rows that wait for
 *          one are asked for first.
 */
import { KEYED_TABLES, type KeyedTable, type RowValue } from './rows.ts';
import type { Stage } from './stage.ts';

/** The writer changes these by itself: it forgets dropped orders, and counts trades. */
const CHANGED_ELSEWHERE: ReadonlySet<KeyedTable> = new Set(['dropped', 'trade_ids']);
/** Readers of many rows would else fill the memory. */
const MOST_READ = 2_048;
const MOST_COMMITTED = 16_384;

export class NewestRows {
  #committed: Stage['keyed'] | null = null;
  readonly #read = new Map<KeyedTable, Map<string, RowValue | null>>();
  #reads = 0;

  /** undefined: it must be read. */
  get(table: KeyedTable, key: string): RowValue | null | undefined {
    if (CHANGED_ELSEWHERE.has(table)) return undefined;
    const committed = this.#committed?.[table].get(key);
    return committed === undefined ? this.#read.get(table)?.get(key) : committed.value;
  }

  noteRead(table: KeyedTable, key: string, value: RowValue | null): void {
    if (CHANGED_ELSEWHERE.has(table)) return;
    if (this.#reads >= MOST_READ) this.#forgetReads();
    const rows = this.#read.get(table);
    if (rows === undefined) this.#read.set(table, new Map([[key, value]]));
    else rows.set(key, value);
    this.#reads += 1;
  }

  /** The file holds these rows now. */
  noteCommitted(keyed: Stage['keyed']): void {
    const rows = KEYED_TABLES.reduce((sum, table) => sum + keyed[table].size, 0);
    this.#committed = rows > MOST_COMMITTED ? null : keyed;
    this.#forgetReads();
  }

  #forgetReads(): void {
    this.#read.clear();
    this.#reads = 0;
  }
}
