/**
 * The profits of payment keys over time, folded again from their fills: position by position as
 * `traderRows` does it, valued at the spot price that the bars have at the end of each interval.
 *
 * Assumes: the fold's rows of trades agree with the fills of the orders and the initial buys.
 * Never:   more than some hundred tokens and some thousand orders and bars for one answer. It is
 *          made in slices: rows are of the state in which it began, prices of bars and pools of the
 *          slice in which they are read.
 */
import type { Fold } from '../../engine/fold/fold.ts';
import { ordersOfBoth } from '../../engine/fold/orderRows.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';
import { decodeBar } from '../../engine/market/barText.ts';
import { pairName } from '../../engine/market/pair.ts';
import { spotOf } from '../../engine/market/pool.ts';
import {
  afterBuy,
  afterSell,
  NO_POSITION,
  type Position,
  worthLovelace,
} from '../../engine/market/profit.ts';
import type { Ratio } from '../../engine/market/ratio.ts';
import {
  EARLIEST_START_MS,
  intervalEnd,
  intervalStart,
  STORED_RESOLUTION_IDS,
} from '../../engine/market/resolution.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import {
  fillsOfOrder,
  type OrderRecord,
  type PoolRecord,
  poolState,
  readRecord,
  type TradeRecord,
  type TraderRecord,
} from '../../engine/store/records.ts';
import { eachUnder, type HeldState, type Steps } from '../schemas/slicedReads.ts';
import { eachOfKeys, tokenOf, tooMany } from './portfolio.ts';
import type { PortfolioPoint } from './portfolioSchema.ts';
import { ada, poolOf } from './routes.ts';

/** Per answer: a token costs about 0.3 ms, a value of a token 0.25 µs. */
const MAX_TOKENS = 500;
const MAX_VALUES = 200_000;
const MAX_ORDERS = 5_000;
const MAX_BARS = 20_000;
/** Rows, bars or points, some 1 ms of them. */
const A_STEP = 250;

interface HistoryRequest {
  readonly resolution: 'min1' | 'min5' | 'hour1' | 'day1';
  /** Unix seconds; points that start in [from, to). */
  readonly from?: number;
  readonly to?: number;
  /** At most this many, the newest ones. */
  readonly limit: number;
}

interface History {
  readonly points: readonly PortfolioPoint[];
  /** Older ones in the span were left out. */
  readonly isCut: boolean;
}

interface Interval {
  readonly startMs: number;
  readonly endMs: number;
  value: bigint;
  cost: bigint;
  realized: bigint;
}

export function* portfolioHistory(
  fold: Fold,
  rows: HeldState['rows'],
  keys: ReadonlySet<string>,
  request: HistoryRequest,
): Steps<History | Failure> {
  const { marketMs } = fold;
  const traded: { pkh: string; token: AssetId; firstMs: number }[] = [];
  const own = { table: 'traders', keys, most: MAX_TOKENS } as const;
  const areFew = yield* eachOfKeys(rows, own, ({ key, value }) => {
    const pkh = key.slice(0, key.indexOf('/'));
    const { firstMs } = readRecord<TraderRecord>(value);
    traded.push({ pkh, token: tokenOf(key), firstMs });
  });
  if (!areFew) return tooMany(`${MAX_TOKENS} traded tokens`);
  const firstMs = traded.reduce((first, row) => Math.min(first, row.firstMs), Infinity);
  const { intervals, isCut } = intervalsOf(request, firstMs, marketMs);
  if (intervals.length === 0) return { points: [], isCut };
  if (intervals.length * traded.length > MAX_VALUES) return tooLong();
  const orders = traded.reduce((sum, { pkh, token }) => {
    return sum + Number(rows.get('counts', ordersOfBoth(pkh, token)) ?? 0);
  }, 0);
  if (orders > MAX_ORDERS) return tooMany(`${MAX_ORDERS} orders`);
  const prices = new SpotPrices(fold, marketMs, request.resolution, intervals);
  for (const { pkh, token } of traded) {
    const pool = poolOf(fold, token);
    if (pool === null) continue;
    const refused = yield* prices.read(pool);
    if (refused !== null) return refused;
    add(yield* fillsOf(rows, pkh, pool), pool, intervals, prices);
    yield;
  }
  const points: PortfolioPoint[] = [];
  for (const interval of intervals) {
    points.push(viewPoint(interval, marketMs));
    if (points.length % A_STEP === 0) yield;
  }
  return { points, isCut };
}

/** From the first trade to market time, within the span. */
function intervalsOf(
  { resolution, from = 0, to = Infinity, limit }: HistoryRequest,
  firstMs: number,
  marketMs: number,
): { intervals: Interval[]; isCut: boolean } {
  if (firstMs === Infinity) return { intervals: [], isCut: false };
  const least = Math.max(firstMs, from * 1000);
  const aligned = intervalStart(resolution, least);
  const firstStart = from * 1000 > aligned ? intervalEnd(resolution, aligned) : aligned;
  const lastStart = intervalStart(resolution, Math.min(marketMs, to * 1000 - 1));
  const lengthMs = intervalEnd(resolution, firstStart) - firstStart;
  const count = Math.max(0, (lastStart - firstStart) / lengthMs + 1);
  const shown = Math.min(count, limit);
  const intervals = Array.from({ length: shown }, (_, index): Interval => {
    const startMs = lastStart - (shown - 1 - index) * lengthMs;
    return { startMs, endMs: startMs + lengthMs, value: 0n, cost: 0n, realized: 0n };
  });
  return { intervals, isCut: count > shown };
}

/** Adds what one key has of one token at the end of each interval. */
function add(
  fills: readonly Fill[],
  pool: PoolRecord,
  intervals: readonly Interval[],
  prices: SpotPrices,
): void {
  let position: Position = NO_POSITION;
  let next = 0;
  for (const [index, interval] of intervals.entries()) {
    let fill = fills[next];
    while (fill !== undefined && fill.atMs < interval.endMs) {
      position = (fill.isBuy ? afterBuy : afterSell)(position, fill.tokens, fill.lovelace);
      next += 1;
      fill = fills[next];
    }
    interval.realized += position.realizedLovelace;
    interval.cost += position.openCostLovelace;
    if (position.openTokens === 0n) continue;
    interval.value += worthLovelace(position.openTokens, prices.at(pool, index));
  }
}

interface Fill {
  readonly atMs: number;
  /** Sorts within a moment: place of the trade in the chain. */
  readonly place: string;
  readonly isBuy: boolean;
  readonly tokens: bigint;
  /** Cost of a buy with all fees, or proceeds of a sell. */
  readonly lovelace: bigint;
}

/** Fills of one key and one token, in the order of the chain. */
function* fillsOf(rows: HeldState['rows'], pkh: string, pool: PoolRecord): Steps<Fill[]> {
  const { token } = pool;
  const fills: Fill[] = [];
  const prefix = `${ordersOfBoth(pkh, token)}/`;
  yield* eachUnder(rows, 'order_index', { prefix, most: MAX_ORDERS }, ({ value: ref }) => {
    const text = rows.get('orders', ref);
    if (text !== null) fills.push(...fillsOfRecord(readRecord<OrderRecord>(text)));
  });
  if (pool.author.pkh === pkh) {
    const [first] = rows.withPrefix('trades', `${token}/`, 1);
    const trade = first === undefined ? null : readRecord<TradeRecord>(first.value);
    if (trade !== null && trade.tx === pool.launchTx) {
      const { tokens, lovelace, atMs } = trade;
      const amounts = { tokens: BigInt(tokens), lovelace: BigInt(lovelace) };
      fills.push({ atMs, place: '', isBuy: true, ...amounts });
    }
  }
  return fills.sort((a, b) => a.atMs - b.atMs || (a.place < b.place ? -1 : 1));
}

function fillsOfRecord(order: OrderRecord): Fill[] {
  const isBuy = order.side === 'buy';
  return fillsOfOrder(order).map(({ atMs, tradeAt, amount, received, feeLovelace }) => {
    const [offered, got] = [BigInt(amount), BigInt(received)];
    const at = { atMs, place: tradeAt ?? order.at, isBuy };
    return isBuy
      ? { ...at, tokens: got, lovelace: offered + BigInt(feeLovelace) }
      : { ...at, tokens: offered, lovelace: got };
  });
}

/** Spot prices of tokens at the ends of intervals, from their bars. */
class SpotPrices {
  readonly #fold: Fold;
  readonly #marketMs: number;
  readonly #resolution: HistoryRequest['resolution'];
  readonly #intervals: readonly Interval[];
  readonly #known = new Map<AssetId, readonly Ratio[]>();
  #barsRead = 0;

  constructor(
    fold: Fold,
    marketMs: number,
    resolution: HistoryRequest['resolution'],
    intervals: readonly Interval[],
  ) {
    this.#fold = fold;
    this.#marketMs = marketMs;
    this.#resolution = resolution;
    this.#intervals = intervals;
  }

  /** Lovelace per token at the end of an interval; at market time where it has not ended. */
  at(pool: PoolRecord, index: number): Ratio {
    return this.#known.get(pool.token)?.[index] ?? spotOf(poolState(pool));
  }

  /** Before `at`. */
  *read(pool: PoolRecord): Steps<Failure | null> {
    if (this.#known.has(pool.token)) return null;
    const { store } = this.#fold;
    const pair = this.#fold.pairBars(pairName(pool.token, COIN));
    if (pair === 'quarantined' || pair === null) {
      const message = `${pool.token} is being repaired: its state was damaged. Try again later.`;
      return new Failure('NOT_READY', message, { retryAfterSeconds: 30 });
    }
    const resolution = STORED_RESOLUTION_IDS[this.#resolution];
    const closes = (fromMs: number, toMs: number, limit: number) =>
      store.bars(pair.pair.id, resolution, fromMs, toMs, limit).map(({ start, value }) => {
        return { start, close: decodeBar(start, value ?? '').pool?.close };
      });
    const prices: Ratio[] = [];
    let last = closes(EARLIEST_START_MS, this.#intervals[0]?.startMs ?? 0, 1)[0]?.close;
    for (let at = 0; at < this.#intervals.length; at += A_STEP) {
      const part = this.#intervals.slice(at, at + A_STEP);
      const bars = closes(part[0]?.startMs ?? 0, part.at(-1)?.endMs ?? 0, part.length);
      this.#barsRead += bars.length;
      if (this.#barsRead > MAX_BARS) return tooLong();
      const byStart = new Map(bars.map(({ start, close }) => [start, close]));
      for (const { startMs, endMs } of part) {
        last = byStart.get(startMs) ?? last;
        const isOpen = endMs > this.#marketMs || last === undefined;
        prices.push(isOpen || last === undefined ? spotOf(poolState(pool)) : last);
      }
      yield;
    }
    this.#known.set(pool.token, prices);
    return null;
  }
}

function tooLong(): Failure {
  return invalid('query', 'This is too much for one answer: ask for a shorter span, or days.');
}

function viewPoint(interval: Interval, marketMs: number): PortfolioPoint {
  const { startMs, endMs, value, cost, realized } = interval;
  return {
    time: startMs / 1000,
    valueAda: ada(value),
    costAda: ada(cost),
    realizedPnlAda: ada(realized),
    unrealizedPnlAda: ada(value - cost),
    final: endMs <= marketMs,
  };
}
