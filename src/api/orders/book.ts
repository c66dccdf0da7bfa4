/**
 * The order book of a token: what its pool gives and takes on a grid of prices, and beside it the
 * open orders, which are no liquidity for takers. Computed only where somebody asks.
 *
 * Source: protocol.md section 10.1.
 */
import { crc32 } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { ordersTag } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import {
  type Depth,
  type DepthDigits,
  type DepthLevel,
  depthTotal,
  poolDepth,
} from '../../engine/market/depth.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import { type PoolState, spotOf } from '../../engine/market/pool.ts';
import type { Ratio } from '../../engine/market/ratio.ts';
import { type LimitLevel, OpenOrders, type WaitingOrders } from '../../engine/pools/openOrders.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { type PoolRecord, poolState } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import type { OrderNode } from './orderLookup.ts';
import { type Book, MAX_LEVELS } from './schema.ts';

/** Orders of all tokens that are kept in memory; those read least recently are read again. */
const MAX_KEPT_ORDERS = 1_000_000;
/** Some 25 KB each. */
const MAX_KEPT_DEPTHS = 1_000;
const CHECKED_LEVELS = 10;

/** Books of all tokens, shared by all who ask. */
export class Books {
  readonly #node: OrderNode;
  /** null: not known here. */
  readonly #fees: FeeParameters | null;
  /** Of the epoch; a new one has another. */
  #store: StateStore | null = null;
  readonly #orders = new LRUCache<AssetId, OpenOrders>({
    maxSize: MAX_KEPT_ORDERS,
    sizeCalculation: ({ size }) => size + 1,
  });
  /** By token and digits: depth of the pool's output named. */
  readonly #depths = new LRUCache<string, { readonly ref: string; readonly depth: Depth }>({
    max: MAX_KEPT_DEPTHS,
  });

  constructor(node: OrderNode, fees: FeeParameters | null) {
    this.#node = node;
    this.#fees = fees;
  }

  /** At the applied position; null: no such token. At most `MAX_LEVELS` levels. */
  of(token: AssetId, digits: DepthDigits, levels: number): Book | Failure | null {
    const { store, directory } = this.#node.fold;
    const pool = directory.find(token)?.pool;
    if (pool === undefined) return null;
    const fees = this.#fees;
    if (fees === null) return noDeployment();
    const state = poolState(pool);
    if (pool.ammNft !== undefined && pool.reserves.splash === undefined) return unknownFees(token);
    const { asks, bids } = this.#depth(pool, { state, fees }, token, digits);
    const shown = (kind: 'buy' | 'sell', all: readonly DepthLevel[]) =>
      all.slice(0, levels).map(({ price, amount, tokens }) => ({
        price,
        amount: String(amount),
        total: String(depthTotal(state, fees, kind, tokens)),
      }));
    const sides = { bids: shown('sell', bids), asks: shown('buy', asks) };
    const waiting = this.#openOrders(store, token).beside(state, fees, levels);
    return {
      asset: token,
      pool: pool.ref,
      spot: inAda(spotOf(state)),
      ...sides,
      ...waitingView(waiting),
      checksum: checksumOf(sides),
    };
  }

  #depth(
    pool: PoolRecord,
    { state, fees }: { readonly state: PoolState; readonly fees: FeeParameters },
    token: AssetId,
    digits: DepthDigits,
  ): Depth {
    const key = `${token}/${digits}`;
    const kept = this.#depths.get(key);
    if (kept?.ref === pool.ref) return kept.depth;
    const depth = poolDepth(state, fees, { digits, levels: MAX_LEVELS });
    this.#depths.set(key, { ref: pool.ref, depth });
    return depth;
  }

  #openOrders(store: StateStore, token: AssetId): OpenOrders {
    if (store !== this.#store) this.#orders.clear();
    this.#store = store;
    const kept = this.#orders.get(token);
    if (kept?.follow(store) === true) return kept;
    const orders = new OpenOrders(store, token, ordersTag(token));
    this.#orders.set(token, orders);
    return orders;
  }
}

/** CRC-32 (IEEE) of the best ten of each side, in eight hex digits. */
export function checksumOf({ asks, bids }: Pick<Book, 'asks' | 'bids'>): string {
  const best = [...asks.slice(0, CHECKED_LEVELS), ...bids.slice(0, CHECKED_LEVELS)];
  const text = best.map(({ price, amount }) => `${price}:${amount}`).join('|');
  return crc32(text).toString(16).padStart(8, '0');
}

function waitingView({ limits, pending }: WaitingOrders): Pick<Book, 'limits' | 'pending'> {
  const { buyLovelace, sellTokens } = pending;
  return {
    limits: { buys: limits.buys.map(limitView), sells: limits.sells.map(limitView) },
    pending: { ...pending, buyLovelace: String(buyLovelace), sellTokens: String(sellTokens) },
  };
}

function limitView({ price, tokens, orders }: LimitLevel) {
  return { price: inAda(price), amount: String(tokens), orders };
}

function inAda({ numerator, denominator }: Ratio): string {
  return formatPrice(numerator, denominator);
}

function unknownFees(token: AssetId): Failure {
  const what = `${token} trades in a pool of Splash whose fees this node has not read yet`;
  return new Failure('PROTOCOL_CONFIG', `${what}: they are known from the pool's next trade on.`);
}

function noDeployment(): Failure {
  const what = 'this node knows no deployment, so it cannot say what trades cost';
  return new Failure('PROTOCOL_CONFIG', `${what}: set DEPLOYMENT_FILE, or ask another node.`);
}
