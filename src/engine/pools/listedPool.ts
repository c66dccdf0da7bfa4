/** A pool in lists, search and as the top pool: its row of table `pools`, and its market cap. */
import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { marketCapOf } from '../market/pool.ts';
import { type PoolRecord, poolState } from '../store/records.ts';
import { type RowValue, recordOf } from '../store/rows.ts';

/** Immutable: a change makes another object. */
export interface ListedPool {
  readonly pool: PoolRecord;
  readonly marketCapLovelace: bigint;
  /** Entry that last changed what clients see of it (its row or its locks), or a later one. */
  readonly changedSeq: number;
  /** The same, and who holds it. */
  readonly trustSeq: number;
}

/** A parsed row takes as much memory again, and most pools are seldom looked at. */
const PARSED = 2_000;
const parsed = new LRUCache<ListedRow, PoolRecord>({ max: PARSED });

export class ListedRow implements ListedPool {
  readonly row: RowValue;
  readonly marketCapLovelace: bigint;
  readonly changedSeq: number;
  readonly trustSeq: number;

  constructor(
    row: RowValue,
    changedSeq: number,
    marketCapLovelace?: bigint,
    trustSeq: number = changedSeq,
  ) {
    this.row = row;
    this.changedSeq = changedSeq;
    this.trustSeq = trustSeq;
    this.marketCapLovelace = marketCapLovelace ?? marketCapOf(poolState(this.pool)).lovelace;
  }

  get pool(): PoolRecord {
    const known = parsed.get(this);
    if (known !== undefined) return known;
    const pool = recordOf<PoolRecord>(this.row);
    parsed.set(this, pool);
    return pool;
  }

  /** Clients see a change that is not in its row. */
  at(changedSeq: number): ListedRow {
    return new ListedRow(this.row, changedSeq, this.marketCapLovelace);
  }

  /** Only its holders changed, with entry `trustSeq`. */
  withHolders(row: RowValue, trustSeq: number): ListedRow {
    return new ListedRow(row, this.changedSeq, this.marketCapLovelace, trustSeq);
  }

  /** No list shows who holds a token, which changes with each transfer. */
  isSameToLists({ pool }: ListedRow): boolean {
    const { ref, trust } = this.pool;
    return ref === pool.ref && isDeepStrictEqual(this.pool, { ...pool, trust });
  }
}
