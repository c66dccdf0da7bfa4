/**
 * The order book of a token: what its pool gives and takes on a grid of prices, and beside it the
 * open orders, which are no liquidity for takers. Computed only where somebody asks.
 *
 * Source: protocol.md section 10.1.
 */
import { crc32 } from 'node:zlib';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { type DepthDigits, type DepthLevel, depthTotal } from '../../engine/market/depth.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import { spotOf } from '../../engine/market/pool.ts';
import type { Ratio } from '../../engine/market/ratio.ts';
import type { LimitLevel, WaitingOrders } from '../../engine/pools/openOrders.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { poolState } from '../../engine/store/records.ts';
import type { OrderNode } from './orderLookup.ts';
import { type Book, MAX_LEVELS } from './schema.ts';

const CHECKED_LEVELS = 10;

/** Books of all tokens, shared by all callers. */
export class Books {
  readonly #node: OrderNode;
  /** null: not known here. */
  readonly #fees: FeeParameters | null;

  constructor(node: OrderNode, fees: FeeParameters | null) {
    this.#node = node;
    this.#fees = fees;
  }

  /** At the applied position; null: no such token. At most `MAX_LEVELS` levels. */
  of(token: AssetId, digits: DepthDigits, levels: number): Book | Failure | null {
    const { actors } = this.#node.fold;
    const actor = actors.of(token);
    if (actor === null || actor.listed === null) return null;
    const { pool } = actor.listed;
    const fees = this.#fees;
    if (fees === null) return noDeployment();
    const state = poolState(pool);
    if (pool.ammNft !== undefined && pool.reserves.splash === undefined) return unknownFees(token);
    const { depth, waiting } = actors.readBook(actor, ({ openOrders }) => ({
      depth: actor.depth(fees, digits, MAX_LEVELS),
      waiting: openOrders.beside(state, fees, levels),
    }));
    const shown = (kind: 'buy' | 'sell', all: readonly DepthLevel[]) =>
      all.slice(0, levels).map(({ price, amount, tokens }) => ({
        price,
        amount: String(amount),
        total: String(depthTotal(state, fees, kind, tokens)),
      }));
    const sides = { bids: shown('sell', depth.bids), asks: shown('buy', depth.asks) };
    return {
      asset: token,
      pool: pool.ref,
      spot: inAda(spotOf(state)),
      ...sides,
      ...waitingView(waiting),
      checksum: checksumOf(sides),
    };
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
