/**
 * The pools of the market, parsed and viewed. Everything is read from the fold's rows; what is kept
 * here only saves work: a record as long as its row says the same, the whole list for one position.
 */
import type { Fold } from '../../actors/fold.ts';
import { marketCapOf } from '../../market/pool.ts';
import { listPools, type PoolList, type RankedPool, viewPool } from '../../market/poolView.ts';
import { locksOfToken } from '../../shapes/locks.ts';
import { MOST_POOLS, type PoolRecord, poolState, readRecord } from '../../store/records.ts';
import type { Checkpoint } from '../../store/state.ts';

/** `fold` is asked anew each time, a new epoch replaces it. */
export interface PoolNode {
  readonly fold: Fold;
}

export interface KnownPool extends RankedPool {
  readonly pool: PoolRecord;
  readonly text: string;
}

const PAGE = 100;

export class PoolDirectory {
  readonly #node: PoolNode;
  #known = new Map<string, KnownPool>();
  #all: { readonly checkpoint: Checkpoint | null; readonly pools: readonly KnownPool[] } | null =
    null;

  constructor(node: PoolNode) {
    this.#node = node;
  }

  get checkpoint(): Checkpoint | null {
    return this.#node.fold.store.checkpoint;
  }

  get horizonSeq(): number {
    return this.#node.fold.store.horizonSeq;
  }

  find(token: string): KnownPool | null {
    const text = this.#node.fold.store.get('pools', token);
    if (text === null) {
      // A rollback took it away.
      this.#known.delete(token);
      return null;
    }
    const pool = this.#read(token, text);
    this.#known.set(token, pool);
    return pool;
  }

  /** LiquidityPoolInfo; null for a token that we do not know. */
  view(token: string) {
    const known = this.find(token);
    return known === null ? null : this.viewOf(known);
  }

  /** The first page of a list. */
  page(list: PoolList) {
    return listPools(list, this.#pools())
      .slice(0, PAGE)
      .map((known) => this.viewOf(known));
  }

  viewOf({ pool, marketCapLovelace }: KnownPool) {
    return viewPool(pool, marketCapLovelace, locksOfToken(this.#node.fold, pool.token));
  }

  #pools(): readonly KnownPool[] {
    const { store } = this.#node.fold;
    const { checkpoint } = store;
    if (this.#all !== null && this.#all.checkpoint === checkpoint) return this.#all.pools;
    const rows = store.withPrefix('pools', '', MOST_POOLS);
    const pools = rows.map(({ key, value }) => this.#read(key, value));
    // Pools that a rollback took away are forgotten here.
    this.#known = new Map(pools.map((known) => [known.pool.token, known]));
    this.#all = { checkpoint, pools };
    return pools;
  }

  #read(token: string, text: string): KnownPool {
    const known = this.#known.get(token);
    if (known?.text === text) return known;
    const pool = readRecord<PoolRecord>(text);
    return { pool, text, marketCapLovelace: marketCapOf(poolState(pool)).lovelace };
  }
}
