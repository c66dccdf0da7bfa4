/**
 * The actor of one pool: everything that the program has in memory of it.
 *
 * | part                          | changed by              | stored in              |
 * | price, market cap: bars       | trades, passing time    | `bars`, `trade_ids`    |
 * | ticker: windows, traders      | the same trades         | read from the above    |
 * | listed: reserves, trust, rank | blocks, transfers       | `pools`                |
 * | open orders by worst price    | orders                  | `orders`, `open_orders`|
 * | depth: amounts by price       | the pool's output       | computed from `pools`  |
 *
 * A rollback puts the stored rows back. The actor then drops the values that it computed from the
 * old rows, and computes them again when they are asked for. A pair of a feed has the same actor,
 * with only a price and a ticker.
 *
 * All actors share one mailbox, the log, and one thread: an entry is applied whole before the next.
 *
 * Never: reads a clock, changes another pool, or holds state that the store cannot restore.
 */
import { type AssetId, COIN } from '../market/asset.ts';
import { type Depth, type DepthDigits, poolDepth } from '../market/depth.ts';
import type { FeeParameters } from '../market/fees.ts';
import { MARKET_CAP, type Pair, pairName } from '../market/pair.ts';
import { intervalStart } from '../market/resolution.ts';
import { assert } from '../runtime/assert.ts';
import { poolState, type TradeRecord } from '../store/records.ts';
import { type RowValue, recordOf } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { type ListedPool, ListedRow } from './listedPool.ts';
import { OpenOrders } from './openOrders.ts';
import type { PairBars } from './pairBars.ts';
import { PoolTicker } from './poolTicker.ts';

/** One of the two charts of a pool. */
export interface PoolPair {
  readonly pair: Pair;
  readonly name: string;
  /** null: not in memory. */
  bars: PairBars | null;
  /** Index of its work among that of the entry being applied. */
  workIndex: number;
}

export class PoolActor {
  readonly base: AssetId;
  /** Quote of its price: the coin, if it has a pool. */
  readonly quote: AssetId;
  readonly #store: StateStore;
  #price: PoolPair | null = null;
  #marketCap: PoolPair | null = null;
  #ticker: PoolTicker | null = null;
  #listed: ListedRow | null = null;
  #openOrders: OpenOrders | null = null;
  readonly #depths = new Map<DepthDigits, { readonly ref: string; readonly depth: Depth }>();

  constructor(store: StateStore, base: AssetId, quote: AssetId) {
    this.#store = store;
    this.base = base;
    this.quote = quote;
  }

  /** null: neither traded nor launched, or a rollback undid that. */
  get price(): PoolPair | null {
    return this.#price;
  }

  /** Its row of the directory; null: a pair of a feed. */
  get listed(): ListedPool | null {
    return this.#listed;
  }

  /** null: it has no price in the coin. */
  get ticker(): PoolTicker | null {
    if (this.#price === null || this.quote !== COIN) return null;
    this.#ticker ??= new PoolTicker(this.#store, this.#price.pair);
    return this.#ticker;
  }

  /** Made from the rows when it is first asked for, then kept in step by `orderChanged`. */
  get openOrders(): OpenOrders {
    this.#openOrders ??= new OpenOrders(this.#store, this.base);
    return this.#openOrders;
  }

  /** Of its pool. `fees` and `levels` are the same at every call. */
  depth(fees: FeeParameters, digits: DepthDigits, levels: number): Depth {
    assert(this.#listed !== null, `${this.base} has a pool`);
    const { pool } = this.#listed;
    const known = this.#depths.get(digits);
    if (known?.ref === pool.ref) return known.depth;
    const depth = poolDepth(poolState(pool), fees, { digits, levels });
    this.#depths.set(digits, { ref: pool.ref, depth });
    return depth;
  }

  /** Open orders, and levels of depth, in memory. */
  get bookRows(): number {
    let rows = this.#openOrders?.size ?? 0;
    for (const { depth } of this.#depths.values()) rows += depth.asks.length + depth.bids.length;
    return rows;
  }

  get isEmpty(): boolean {
    return this.#price === null && this.#marketCap === null && this.#listed === null;
  }

  pair(quote: AssetId): PoolPair | null {
    return quote === MARKET_CAP ? this.#marketCap : this.#price;
  }

  /** A pair of it is new, or a rollback brought it back. */
  openPair(pair: Pair): PoolPair {
    const { base } = this;
    const name = pairName(base, pair.quote);
    const opened = { pair: { ...pair, base }, name, bars: null, workIndex: -1 };
    this.#setPair(pair.quote, opened);
    return opened;
  }

  closePair(quote: AssetId): void {
    this.#setPair(quote, null);
  }

  #setPair(quote: AssetId, pair: PoolPair | null): void {
    if (quote === MARKET_CAP) this.#marketCap = pair;
    else [this.#price, this.#ticker] = [pair, null];
  }

  /**
   * Its row of `pools` after entry `seq`; null: a rollback took it away. Answers whether lists
   * show a difference.
   */
  setRow(row: RowValue | null, seq: number): boolean {
    const before = this.#listed;
    if (row === (before?.row ?? null)) return false;
    const after = row === null ? null : new ListedRow(row, seq);
    const isSame = after !== null && before?.isSameToLists(after) === true;
    this.#listed = isSame ? before.withHolders(after.row, seq) : after;
    return !isSame;
  }

  /** Entry `seq` changed something that clients see and that is not in its row. */
  markChanged(seq: number): void {
    this.#listed = this.#listed?.at(seq) ?? null;
  }

  /** A trade at `timeMs` was counted in its price. */
  traded(timeMs: number): void {
    this.#ticker?.noteMinute(intervalStart('min1', timeMs));
  }

  /** A row of `trades` is new. Answers whether its ticker counts who traded. */
  tradedBy(row: RowValue): boolean {
    if (this.#ticker?.knowsTraders !== true) return false;
    const { pkh, atMs } = recordOf<TradeRecord>(row);
    if (pkh !== '') this.#ticker.noteTrader(pkh, atMs);
    return pkh !== '';
  }

  /** The row of an order of it is another one. */
  orderChanged(ref: string): void {
    this.#openOrders?.update(ref);
  }

  forgetBook(): void {
    this.#openOrders = null;
    this.#depths.clear();
  }

  forgetDay(): void {
    this.#ticker?.forgetDay();
  }

  forgetTraders(): void {
    this.#ticker?.forgetTraders();
  }
}
