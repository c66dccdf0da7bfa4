/** Orders as the API tells them, feeds, histories, the trade tape and the open-order book. */
import assert from 'node:assert/strict';
import { formatAddress } from '../../../src/cardano/codec/address.ts';
import { blake2b224 } from '../../../src/cardano/codec/hash.ts';
import type { PoolState } from '../../../src/engine/market/pool.ts';
import { naiveBook } from '../../api/orders/naiveBook.ts';
import { adaPrice, ceiling, type Ratio } from './exact.ts';
import type { ModelChain, Order, PoolStep, Trade } from './modelChain.ts';
import { compareTexts, type ModelPools, seconds } from './modelPools.ts';

export type Confirmed = 'none' | 'open' | 'executed' | 'refunded';
export type Waiting = 'none' | 'placing' | 'executing' | 'refunding';

/** The table of protocol.md section 2. */
export function status(confirmed: Confirmed, waiting: Waiting): string {
  if (confirmed === 'executed') return 'Evaluated';
  if (confirmed === 'refunded') return 'Refunded';
  if (waiting === 'executing') return 'MempoolEvaluated';
  if (waiting === 'refunding') return 'MempoolRefunded';
  if (confirmed === 'open') return 'Pending';
  return waiting === 'placing' ? 'MempoolPending' : 'Dropped';
}

export interface Filter {
  readonly token?: string;
  /** Absent or empty: everybody's. */
  readonly pkhs?: readonly string[];
  readonly isOpen?: boolean;
}

export interface Page {
  readonly offset?: number;
  readonly limit?: number;
  /** Rows after this one, newest first. */
  readonly before?: string;
}

const PAGE = 100;

function confirmed({ closed }: Order): Confirmed {
  if (closed === null) return 'open';
  return closed.kind === 'executed' ? 'executed' : 'refunded';
}

function pkhOf({ datum }: Order): string {
  return datum.redeemer.payment.hash;
}

/** Lovelace per token of the worst price. */
function worstRatio({ datum, isBuy }: Order): Ratio {
  const { numerator, denominator } = datum.worstPrice;
  return isBuy ? { n: denominator, d: numerator } : { n: numerator, d: denominator };
}

export function minPartOutput({ datum, amount }: Order): bigint {
  const { numerator, denominator } = datum.worstPrice;
  return ceiling({ n: amount * numerator, d: denominator });
}

/** Its transaction's smallest input and its own output index, hashed. */
function beaconOf({ tx, index }: Order): string {
  const [first] = tx.inputs.toSorted(
    (a, b) => compareTexts(a.txHash, b.txHash) || a.index - b.index,
  );
  const word = (value: number) => value.toString(16).padStart(16, '0');
  const bytes = `${first?.txHash}${word(first?.index ?? 0)}${word(index)}`;
  return blake2b224(Buffer.from(bytes, 'hex'));
}

export class ModelOrders {
  readonly #chain: ModelChain;
  readonly #pools: ModelPools;

  constructor(chain: ModelChain, pools: ModelPools) {
    this.#chain = chain;
    this.#pools = pools;
  }

  #row(order: Order) {
    const { datum, closed, token, isBuy, placed, ref, amount } = order;
    const { numerator, denominator } = datum.worstPrice;
    const venue = closed?.venue ?? this.#pools.now(token).venue;
    const received = closed === null ? minPartOutput(order) : closed.received;
    return {
      entityId: ref,
      beacon: beaconOf(order),
      from: isBuy ? '.' : token,
      fromAmount: String(amount),
      to: isBuy ? token : '.',
      toAmount: String(received),
      filledAmount: confirmed(order) === 'executed' ? String(amount) : '0',
      remaining: confirmed(order) === 'executed' ? '0' : String(amount),
      address: formatAddress(datum.redeemer),
      worstPrice: { numerator: String(numerator), denominator: String(denominator) },
      pendingTransactionId: placed.txHash,
      evaluatedTransactionId: closed?.at.txHash ?? null,
      timestamp: seconds(placed.timeMs),
      status: status(confirmed(order), 'none'),
      orderType: venue === 'CURVE' ? 'Spot' : 'CFMM',
      pkh: pkhOf(order),
      venue,
      evaluatedAt: closed === null ? null : seconds(closed.at.timeMs),
      expiresAt: Number(datum.refundAfterMs),
      refundReason: closed === null || closed.kind === 'executed' ? null : closed.kind,
      feeLovelace: confirmed(order) === 'executed' ? String(datum.feeLovelace) : '0',
    };
  }

  /** Newest first; the walk appended them in chain order. */
  #matching({ token, pkhs = [], isOpen = false }: Filter): Order[] {
    return this.#chain.orders
      .filter((order) => token === undefined || order.token === token)
      .filter((order) => pkhs.length === 0 || pkhs.includes(pkhOf(order)))
      .filter((order) => !isOpen || order.closed === null)
      .toReversed();
  }

  /** With nothing in the mempool. */
  feed(filter: Filter, { offset = 0, limit = PAGE, before }: Page = {}) {
    const all = this.#matching(filter);
    const cursor = before === undefined ? -1 : all.findIndex(({ ref }) => ref === before);
    assert(before === undefined || cursor >= 0, 'the cursor is a row');
    const items = all.slice(cursor + 1).slice(offset, offset + limit);
    const ledger = { count: all.length, items: items.map((order) => this.#row(order)) };
    return { ledger, mempool: [] };
  }

  all() {
    return this.#matching({}).map((order) => this.#row(order));
  }

  beacons(): string[] {
    return this.#chain.orders.map(beaconOf);
  }

  byBeacon(beacon: string) {
    const order = this.#chain.orders.find((one) => beaconOf(one) === beacon);
    assert(order !== undefined);
    const { closed } = order;
    const row = this.#row(order);
    const states = { open: 'open', executed: 'closed', refunded: 'cancelled', none: '' };
    const moved = closed?.moved ?? null;
    const ratio = moved === null ? worstRatio(order) : { n: moved.lovelace, d: moved.tokens };
    const price = adaPrice(ratio);
    const { fromAmount, toAmount } = row;
    const time = row.evaluatedAt;
    const fill = { txHash: closed?.at.txHash, time, fromAmount, toAmount, price };
    return {
      ...row,
      orderStatus: states[confirmed(order)],
      inputAmount: fromAmount,
      outputAmount: toAmount,
      price,
      filled: moved === null ? '0' : '100',
      fills: moved === null ? [] : [fill],
    };
  }

  /** Newest first. */
  tape(token: string, { limit = PAGE, before }: Page = {}) {
    const rows = this.#chain.trades.filter((trade) => trade.token === token).map(tradeRow);
    const newest = rows.toReversed();
    const cursor = before === undefined ? -1 : newest.findIndex(({ id }) => id === before);
    return newest.slice(cursor + 1).slice(0, limit);
  }

  book(token: string) {
    const { orders, deployment } = this.#chain;
    const open = orders
      .filter((order) => order.token === token && order.closed === null)
      .map(({ isBuy, amount, datum }) => {
        const kind = isBuy ? ('buy' as const) : ('sell' as const);
        return { kind, amount, worstPrice: datum.worstPrice };
      });
    const now = this.#pools.now(token);
    const of = { asset: token, pool: now.ref, spot: adaPrice(this.#pools.spot(token)) };
    return naiveBook(of, { state: stateOf(deployment, now), fees: deployment.fees, open });
  }
}

/** The state of a pool as the market's arithmetic takes it. */
function stateOf({ curve, thresholdLovelace }: ModelChain['deployment'], now: PoolStep): PoolState {
  const { venue, x, y, owed } = now;
  if (venue === 'AMM') return { venue, x, y, owed, supply: curve.supply };
  return { venue, x, y, curve, thresholdLovelace };
}

function tradeRow({ at, fillIndex, isBuy, lovelace, tokens, pkh, spotAfter }: Trade) {
  const part = (value: number, digits: number) => String(value).padStart(digits, '0');
  return {
    id: `${part(at.slot, 12)}.${part(at.txIndex, 6)}.${part(fillIndex, 4)}`,
    time: seconds(at.timeMs),
    side: isBuy ? 'buy' : 'sell',
    price: adaPrice({ n: lovelace, d: tokens }),
    baseAmount: String(tokens),
    quoteAmount: String(lovelace),
    txHash: at.txHash,
    pkh,
    spotAfter: adaPrice(spotAfter),
  };
}
