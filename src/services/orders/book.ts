/**
 * Open orders of a token by worst price. Prices are exact fractions (lovelace per token), so that
 * equal ones share a level however they were written.
 */
import type { Fold } from '../../actors/fold.ts';
import type { AssetId } from '../../market/asset.ts';
import { formatRatio } from '../../market/decimal.ts';
import { minimumOutput } from '../../market/order.ts';
import { spotOf } from '../../market/pool.ts';
import { type Ratio, reduced } from '../../market/ratio.ts';
import type { Json } from '../../runtime/json.ts';
import { type OrderRecord, poolState, readRecord } from '../../store/records.ts';
import type { Part, Source } from '../../topics/port.ts';
import type { OrderNode } from './market.ts';

const LOVELACE_PER_ADA = 1_000_000n;
const MOST_LEVELS = 100;
/** More than a token has open at once. */
const MOST_OPEN = 100_000;

interface Level {
  /** Lovelace per token, reduced. */
  readonly price: Ratio;
  tokens: bigint;
}

export class BookSource implements Source {
  readonly key: string;
  readonly tags: readonly string[];
  readonly #node: OrderNode;
  readonly #token: AssetId;

  constructor(node: OrderNode, token: AssetId, tags: readonly string[]) {
    this.key = `OrderBook:${token}`;
    this.tags = tags;
    this.#node = node;
    this.#token = token;
  }

  snapshot(): Json {
    return bookOf(this.#node.fold, this.#token);
  }

  /** The whole book is a recovery too. */
  since(seq: number): Part[] | null {
    const { store } = this.#node.fold;
    if (seq < store.horizonSeq) return null;
    const applied = store.checkpoint?.seq ?? 0;
    if (seq >= applied) return [];
    return [{ event: 'OrderBookUpdate', seq: applied, data: this.snapshot() }];
  }
}

/** null for a token that we do not know. */
export function bookOf({ store, directory }: Fold, token: AssetId): Json {
  const listed = directory.find(token);
  if (listed === null) return null;
  const [bids, asks] = [new Map<string, Level>(), new Map<string, Level>()];
  for (const { value: ref } of store.withPrefix('open_orders', `${token}/`, MOST_OPEN)) {
    const text = store.get('orders', ref);
    if (text === null) continue;
    const order = readRecord<OrderRecord>(text);
    add(order.side === 'buy' ? bids : asks, order);
  }
  const spot = spotOf(poolState(listed.pool));
  return {
    bids: levels(bids, (a, b) => compare(b, a)),
    asks: levels(asks, compare),
    spot: inAda(spot),
  };
}

function add(side: Map<string, Level>, order: OrderRecord): void {
  const worst = {
    numerator: BigInt(order.worstPrice.numerator),
    denominator: BigInt(order.worstPrice.denominator),
  };
  const amount = BigInt(order.amount);
  const isBuy = order.side === 'buy';
  const price = isBuy
    ? reduced(worst.denominator, worst.numerator)
    : reduced(worst.numerator, worst.denominator);
  const name = `${price.numerator}/${price.denominator}`;
  const level = side.get(name) ?? { price, tokens: 0n };
  level.tokens += isBuy ? minimumOutput(amount, worst) : amount;
  side.set(name, level);
}

function levels(
  side: ReadonlyMap<string, Level>,
  order: (a: Ratio, b: Ratio) => number,
): [string, string][] {
  const sorted = [...side.values()].sort((a, b) => order(a.price, b.price));
  return sorted.slice(0, MOST_LEVELS).map(({ price, tokens }) => [inAda(price), String(tokens)]);
}

function inAda({ numerator, denominator }: Ratio): string {
  return formatRatio(numerator, denominator * LOVELACE_PER_ADA);
}

function compare(a: Ratio, b: Ratio): number {
  const [left, right] = [a.numerator * b.denominator, b.numerator * a.denominator];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
