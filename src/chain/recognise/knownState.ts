/**
 * The pools, orders and locks that recognition sees: the rows of the fold, and over them the
 * changes by earlier transactions of the same block.
 */
import type { Output } from '../../cardano/codec/output.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type {
  LaunchedToken,
  MarketEvent,
  OrderRest,
  PlacedOrder,
  RefText,
  Reserves,
  VestingLock,
} from '../../engine/market/events.ts';
import type { LockRecord, OrderRecord, PoolRecord } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';

export interface KnownPool extends Pick<LaunchedToken, 'nft' | 'aNum' | 'bNum' | 'supply'> {
  readonly ref: RefText;
  readonly reserves: Reserves;
  /** NFT of the pool of another protocol into which the token has graduated. */
  readonly ammNft?: AssetId;
}

/** An open order: as it was placed, and the part that is left. */
export interface KnownOrder {
  readonly order: PlacedOrder;
  readonly rest: OrderRest;
}

/** The state of the fold; outputs, orders and locks only while they are unspent. */
export interface KnownState {
  pool(token: AssetId): KnownPool | null;
  /** By the output that holds it now. */
  order(ref: RefText): KnownOrder | null;
  lock(ref: RefText): VestingLock | null;
  /** Whether the output was reported by a `made` event. */
  isWatched(ref: RefText): boolean;
}

export class BlockState implements KnownState {
  readonly #known: KnownState;
  /** Orders after the events so far; else the fold's answers, for those looked up; null: none. */
  readonly #pools = new Map<AssetId, KnownPool | null>();
  readonly #orders = new Map<RefText, KnownOrder>();
  readonly #locks = new Map<RefText, VestingLock>();
  /** Whether an output is unspent: answers of the fold so far, and outputs created since. */
  readonly #watched = new Map<RefText, boolean>();
  readonly #spent = new Set<RefText>();

  constructor(known: KnownState) {
    this.#known = known;
  }

  pool(token: AssetId): KnownPool | null {
    const known = this.#pools.get(token);
    if (known !== undefined) return known;
    const pool = this.#known.pool(token);
    this.#pools.set(token, pool);
    return pool;
  }

  order(ref: RefText): KnownOrder | null {
    if (this.#spent.has(ref)) return null;
    return this.#orders.get(ref) ?? (this.#isThere(ref) ? this.#known.order(ref) : null);
  }

  lock(ref: RefText): VestingLock | null {
    if (this.#spent.has(ref)) return null;
    return this.#locks.get(ref) ?? (this.#isThere(ref) ? this.#known.lock(ref) : null);
  }

  isWatched(ref: RefText): boolean {
    return !this.#spent.has(ref) && this.#isThere(ref);
  }

  /** Orders and locks are watched outputs, and most outputs are not: of those nothing is asked. */
  #isThere(ref: RefText): boolean {
    const known = this.#watched.get(ref);
    if (known !== undefined) return known;
    const isWatched = this.#known.isWatched(ref);
    this.#watched.set(ref, isWatched);
    return isWatched;
  }

  /** Applies an event of a transaction. */
  apply(event: MarketEvent): void {
    if (event.kind === 'placed') {
      this.#orders.set(event.order.ref, { order: event.order, rest: event.order });
    } else if (event.kind === 'partlyExecuted') this.#continue(event);
    else if (event.kind === 'locked') this.#locks.set(event.lock.ref, event.lock);
    else if (event.kind === 'made') this.#watched.set(event.ref, true);
    else if (event.kind === 'spent') this.#spent.add(event.ref);
    else if (event.kind === 'launched' || event.kind === 'adopted') this.#launch(event.pool);
    else if (event.kind === 'graduated') {
      const pool = this.pool(event.token);
      if (pool === null || event.nft === undefined) return;
      this.#pools.set(event.token, { ...pool, ammNft: event.nft });
    } else if (event.kind === 'moved') {
      const pool = this.pool(event.token);
      const { ref, to: reserves } = event;
      if (pool !== null) this.#pools.set(event.token, { ...pool, ref, reserves });
    }
  }

  /** Its output is spent by the same transaction. */
  #continue({ from, rest }: MarketEvent & { readonly kind: 'partlyExecuted' }): void {
    const known = this.#orders.get(from) ?? this.#known.order(from);
    if (known !== null) this.#orders.set(rest.ref, { order: known.order, rest });
  }

  /** The `moved` event that follows names the pool's output. */
  #launch(pool: LaunchedToken): void {
    const reserves = { venue: 'CURVE', x: '0', y: pool.supply, owed: '0' } as const;
    this.#pools.set(pool.token, { ...pool, ref: '', reserves });
  }
}

/** Launched tokens that an output holds. */
export function launchedTokens(output: Output, known: KnownState): AssetId[] {
  const tokens: AssetId[] = [];
  for (const asset of output.value.assets.keys()) {
    if (known.pool(asset) !== null) tokens.push(asset);
  }
  return tokens;
}

export function knownState(store: StateStore): KnownState {
  return {
    pool: (token) => store.record<PoolRecord>('pools', token),
    order(ref) {
      const order = store.record<OrderRecord>('orders', store.get('order_outputs', ref) ?? ref);
      if (order?.state !== 'open') return null;
      const rest = order.rest ?? order;
      return rest.ref === ref ? { order, rest } : null;
    },
    lock(ref) {
      const lock = store.record<LockRecord>('locks', ref);
      return lock?.withdrawnBy === null ? lock : null;
    },
    isWatched: (ref) => store.value('outputs', ref) !== null,
  };
}
