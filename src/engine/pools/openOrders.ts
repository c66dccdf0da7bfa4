/**
 * Open orders of one token that stand in a block, by worst price; the best price of each side
 * first. Prices are exact fractions (lovelace per token), so that equal ones share a level however
 * they were written. Made from the rows once, then changed order by order: a new one costs as much
 * among many as among few. Source: protocol.md section 10.1.
 */
import sortedBtree from 'sorted-btree';
import type { AssetId } from '../market/asset.ts';
import type { RefText } from '../market/events.ts';
import type { FeeParameters } from '../market/fees.ts';
import { fillOrder, minimumOutput, type OrderTerms } from '../market/order.ts';
import { type PoolState, spotOf } from '../market/pool.ts';
import { compareRatios, type Ratio, reduced } from '../market/ratio.ts';
import { type OrderRecord, readRecord } from '../store/records.ts';
import type { StateStore } from '../store/state.ts';

export interface LimitLevel {
  /** Lovelace per token, reduced: the worst price of these orders. */
  readonly price: Ratio;
  /** Tokens that are left of sells, or that buys take at least. */
  readonly tokens: bigint;
  readonly orders: number;
}

export interface WaitingOrders {
  /** Orders that the pool would not fill now, by worst price. */
  readonly limits: { readonly buys: readonly LimitLevel[]; readonly sells: readonly LimitLevel[] };
  /** Orders that the pool, at this position and alone, would fill; offers are without fees. */
  readonly pending: {
    readonly buys: number;
    readonly sells: number;
    readonly buyLovelace: bigint;
    readonly sellTokens: bigint;
  };
}

interface Entry {
  readonly terms: OrderTerms;
  /** Lovelace per token, reduced; null: any price is taken. */
  readonly price: Ratio | null;
  readonly tokens: bigint;
}

interface Level {
  readonly entries: Set<Entry>;
  /** Sum over all entries. */
  tokens: bigint;
}

/** More than a token has open at once. */
const MANY = 1_000_000;
const SIDES = ['buy', 'sell'] as const;
type Kind = (typeof SIDES)[number];

export class OpenOrders {
  readonly #store: StateStore;
  readonly #orders = new Map<RefText, Entry>();
  /** Orders that take any price. */
  readonly #anyPrice = new Set<Entry>();
  readonly #levels = {
    buy: new sortedBtree.default<Ratio, Level>(undefined, (a, b) => compareRatios(b, a)),
    sell: new sortedBtree.default<Ratio, Level>(undefined, compareRatios),
  };

  constructor(store: StateStore, token: AssetId) {
    this.#store = store;
    const open = store.withPrefix('open_orders', `${token}/`, MANY);
    for (const { value: ref } of open) this.update(ref);
  }

  get size(): number {
    return this.#orders.size;
  }

  /** At most `maxLevels` a side. */
  beside(pool: PoolState, fees: FeeParameters, maxLevels: number): WaitingOrders {
    const wouldFill = ({ terms }: Entry) => fillOrder(pool, fees, terms) !== null;
    const spot = spotOf(pool);
    const pending = { buy: this.#anyOf('buy'), sell: this.#anyOf('sell') };
    const limits: Record<Kind, LimitLevel[]> = { buy: [], sell: [] };
    for (const kind of SIDES) {
      for (const [price, level] of this.#levels[kind].entries()) {
        // No fill is at a better price than spot: all orders from here on wait.
        const compared = compareRatios(price, spot);
        const mayFill = kind === 'buy' ? compared >= 0 : compared <= 0;
        const isFull = limits[kind].length === maxLevels;
        if (!mayFill && isFull) break;
        let [tokens, orders] = [level.tokens, level.entries.size];
        if (mayFill) {
          for (const entry of [...level.entries].filter(wouldFill)) {
            pending[kind].push(entry);
            tokens -= entry.tokens;
            orders -= 1;
          }
        }
        if (orders > 0 && !isFull) limits[kind].push({ price, tokens, orders });
      }
    }
    const offered = (kind: Kind) =>
      pending[kind].reduce((sum, { terms }) => sum + terms.amount, 0n);
    return {
      limits: { buys: limits.buy, sells: limits.sell },
      pending: {
        buys: pending.buy.length,
        sells: pending.sell.length,
        buyLovelace: offered('buy'),
        sellTokens: offered('sell'),
      },
    };
  }

  #anyOf(kind: Kind): Entry[] {
    return [...this.#anyPrice].filter(({ terms }) => terms.kind === kind);
  }

  /** Reads an order of the token again, whose row changed. */
  update(ref: RefText): void {
    const before = this.#orders.get(ref);
    if (before !== undefined) this.#remove(before);
    const after = this.#read(ref);
    if (after === null) this.#orders.delete(ref);
    else {
      this.#orders.set(ref, after);
      this.#add(after);
    }
  }

  #add(entry: Entry): void {
    const { price, tokens, terms } = entry;
    if (price === null) this.#anyPrice.add(entry);
    else {
      const levels = this.#levels[terms.kind];
      const level = levels.get(price) ?? { entries: new Set(), tokens: 0n };
      level.entries.add(entry);
      level.tokens += tokens;
      levels.set(price, level);
    }
  }

  #remove(entry: Entry): void {
    const { price, tokens, terms } = entry;
    this.#anyPrice.delete(entry);
    const level = price === null ? undefined : this.#levels[terms.kind].get(price);
    if (price === null || level === undefined) return;
    level.entries.delete(entry);
    level.tokens -= tokens;
    if (level.entries.size === 0) this.#levels[terms.kind].delete(price);
  }

  #read(ref: RefText): Entry | null {
    const text = this.#store.get('orders', ref);
    const order = text === null ? null : readRecord<OrderRecord>(text);
    if (order?.state !== 'open') return null;
    const amount = BigInt((order.rest ?? order).amount);
    const worstPrice = {
      numerator: BigInt(order.worstPrice.numerator),
      denominator: BigInt(order.worstPrice.denominator),
    };
    const { numerator, denominator } = worstPrice;
    const terms = { kind: order.side, amount, worstPrice };
    if (numerator === 0n) return { terms, price: null, tokens: 0n };
    return order.side === 'buy'
      ? { terms, price: reduced(denominator, numerator), tokens: minimumOutput(amount, worstPrice) }
      : { terms, price: reduced(numerator, denominator), tokens: amount };
  }
}
