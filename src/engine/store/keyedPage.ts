/**
 * A page of a keyed table by offset: what is stored, seen through what waits to be written. The
 * database skips to the offset; what waits is few, and only shifts ranks by as many.
 */
import type { KeyedRow } from './keyedRows.ts';

export interface PageQuery {
  /** `descending`: the largest key first. */
  readonly order: 'ascending' | 'descending';
  readonly offset: number;
  readonly limit: number;
  /** Begins behind this key, in the order asked. */
  readonly after?: string;
}

/** Rows of a table between two keys, in the order of the wish. */
export interface StoredRange {
  rows(offset: number, limit: number): KeyedRow[];
  has(key: string): boolean;
}

/** `staged`: the newest value of each key of the range that waits; null: removed. */
export function pageOverlaid(
  stored: StoredRange,
  staged: ReadonlyMap<string, string | null>,
  { order, offset, limit }: PageQuery,
): KeyedRow[] {
  if (staged.size === 0) return stored.rows(offset, limit);
  const isBefore = (a: string, b: string) => (order === 'ascending' ? a < b : a > b);
  const start = Math.max(0, offset - staged.size);
  const slice = stored.rows(start, offset - start + limit + staged.size);
  // With all that waits there are at most `offset` rows then.
  if (slice.length === 0 && start > 0) return [];
  const first = start === 0 ? undefined : slice[0]?.key;
  // Of the first row of the slice, among all rows that there are.
  let rank = start;
  const rows = slice.filter(({ key }) => !staged.has(key));
  for (const [key, value] of staged) {
    const isSkipped = first !== undefined && isBefore(key, first);
    if (!isSkipped && value !== null) rows.push({ key, value });
    if (isSkipped) rank += (value === null ? 0 : 1) - (stored.has(key) ? 1 : 0);
  }
  rows.sort((a, b) => (isBefore(a.key, b.key) ? -1 : 1));
  return rows.slice(offset - rank, offset - rank + limit);
}
