/** The topics of a market, and what HTTP says of the same things. */
import assert from 'node:assert/strict';
import { recordOf } from '../../support/subscription.ts';
import { adaPrice, ceiling, compareRatios, type Ratio } from '../api/exact.ts';
import { BarsState } from './bars.ts';
import {
  ListState,
  OrdersState,
  type Row,
  rowsOf,
  type State,
  TradesState,
  WholeState,
} from './states.ts';

/** A question over HTTP. `null` as body of the answer: 404. */
export interface Question {
  readonly path: string;
  readonly body?: unknown;
  check(state: State, answer: unknown): void;
  /** The same as a state from which a client may go on. */
  readonly state?: (answer: unknown) => State;
}

export interface StreamSpec {
  readonly topic: string;
  readonly data: object;
  told(data: unknown): State;
  readonly questions: readonly Question[];
}

export interface Person {
  readonly pkh: string;
  readonly address: string;
}

const LISTS = ['Latest', 'New', 'MCapDesc', 'CompletedCreateOn', 'CompletedMCap', 'Trending'];
const INTERVALS = ['min1', 'min5'];
const SUPPLY = 1_000_000_000n;
const ALL_TIME = 'from=0&to=253402300799';

/** Streams that do not belong to one token. */
export function marketStreams(people: readonly Person[]): StreamSpec[] {
  return [
    ...LISTS.map(listStream),
    ...people.map(({ pkh, address }) =>
      ordersStream('UserHistoryByAddress', { address }, '/v1/user-history-feed/initial/state', [
        pkh,
      ]),
    ),
    wholeStream('KOTH', {}, '/v1/pools-main-page/koth'),
  ];
}

export function tokenStreams(token: string, people: readonly Person[]): StreamSpec[] {
  const [{ address, pkh } = assert.fail('there is somebody')] = people;
  const data = { asset: token };
  const of = `?asset=${token}`;
  const feed = `/v1/orders-feed/initial/state${of}`;
  const pkhs = people.map((person) => person.pkh);
  const byAsset = `/v1/user-history-feed/initial/state/by/asset${of}`;
  const both = { address, asset: token };
  return [
    ...INTERVALS.flatMap((interval) =>
      [false, true].flatMap((isFilled) => [
        barStream('LastBar', '', token, interval, isFilled),
        barStream('MCapBar', '/mcap', token, interval, isFilled),
      ]),
    ),
    wholeStream('PoolFeed', data, `/v1/pools-feed/initial/state${of}`),
    wholeStream('Insights', data, `/v1/tokens/insights${of}`),
    ordersStream('LiveOrdersFeed', { ...data, pkhFilter: null }, feed, null),
    ordersStream('LiveOrdersFeed', { ...data, pkhFilter: pkhs }, feed, pkhs),
    ordersStream('UserHistoryByAddressAndAsset', both, byAsset, [pkh]),
    tradesStream(token),
    bookStream(token, feed),
  ];
}

function listStream(topic: string): StreamSpec {
  const state = (answer: unknown) => new ListState(rowsOf(answer));
  const path = `/v1/pools-main-page/initial/state?filter=${topic}`;
  const check: Question['check'] = (mine, answer) => mine.assertSame(state(answer));
  return { topic, data: {}, told: ListState.told, questions: [{ path, check, state }] };
}

function wholeStream(topic: string, data: object, path: string): StreamSpec {
  const state = (value: unknown) => new WholeState(value);
  const check: Question['check'] = (mine, answer) => mine.assertSame(state(answer));
  return { topic, data, told: state, questions: [{ path, check, state }] };
}

function ordersStream(topic: string, data: object, path: string, body: unknown): StreamSpec {
  const check: Question['check'] = (mine, answer) => mine.assertSame(ordersOf(answer));
  return {
    topic,
    data,
    told: OrdersState.told,
    questions: [{ path, body, check, state: ordersOf }],
  };
}

function ordersOf(answer: unknown): OrdersState {
  if (answer === null) return new OrdersState(null);
  const { ledger, mempool } = recordOf(answer);
  const { items, count } = recordOf(ledger);
  const rows = rowsOf(items);
  const times = rows.map(({ timestamp }) => Number(timestamp));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
    'newest first',
  );
  return OrdersState.page(rows, rowsOf(mempool), Number(count));
}

function tradesStream(token: string): StreamSpec {
  const path = `/v1/trades?asset=${token}`;
  const check: Question['check'] = (mine, answer) => mine.assertSame(TradesState.told(answer));
  const questions = [{ path, check, state: TradesState.told }];
  return { topic: 'Trades', data: { asset: token }, told: TradesState.told, questions };
}

function barStream(
  topic: string,
  kind: string,
  token: string,
  interval: string,
  isFilled: boolean,
): StreamSpec {
  const pair = `base=${token}&quote=.&resolution=${interval}`;
  const fill = isFilled ? '&fill=previous' : '';
  const history: Question = {
    path: `/v1/charts${kind}/history?${pair}&${ALL_TIME}${fill}`,
    check: (mine, answer) => {
      assert(mine instanceof BarsState);
      if (answer === null) mine.assertNewest(null);
      else mine.assertHistory(rowsOf(answer), isFilled);
    },
  };
  const newest: Question = {
    path: `/v1/charts${kind}/initial-state?${pair}`,
    check: (mine, answer) => {
      assert(mine instanceof BarsState);
      mine.assertNewest(answer);
    },
  };
  const data = { pair: { base: token, quote: '.' }, interval };
  return {
    topic,
    data: isFilled ? { ...data, fill: 'previous' } : data,
    told: BarsState.told,
    // HTTP's newest bar has trades; a filled series may end with an empty one.
    questions: isFilled ? [history] : [history, newest],
  };
}

/**
 * No route has the book of a topic, so its orders are compared with the lists of open orders, and
 * its spot price from the pool.
 */
function bookStream(token: string, feed: string): StreamSpec {
  return {
    topic: 'OrderBook',
    data: { asset: token },
    told: (value) => new WholeState(value),
    questions: [
      { path: feed, body: [], check: assertBook },
      { path: `/v1/pools-feed/initial/state?asset=${token}`, check: assertSpot },
    ],
  };
}

/** onchain.md: on a curve from the tokens sold, on an AMM from the reserves. */
function assertSpot(mine: State, answer: unknown): void {
  assert(mine instanceof WholeState);
  if (answer === null) {
    assert.equal(mine.value, null);
    return;
  }
  const { x, y, aNum, bNum, cpmmPoolId } = recordOf(recordOf(answer).pool);
  const [lovelace, tokens, a, b] = [recordOf(x).amount, recordOf(y).amount, aNum, bNum].map(
    (each) => BigInt(String(each)),
  );
  assert(lovelace !== undefined && tokens !== undefined && a !== undefined && b !== undefined);
  const sold = SUPPLY - tokens;
  const curve = { n: a * sold * sold + 10n ** 21n * b, d: 10n ** 27n };
  const spot = cpmmPoolId === null ? curve : { n: lovelace, d: tokens };
  assert.equal(recordOf(mine.value).spot, adaPrice(spot));
}

const MAX_ON_PAGE = 100;
const CONFIRMED_OPEN = ['Pending', 'MempoolEvaluated', 'MempoolRefunded'];

function assertBook(mine: State, answer: unknown): void {
  assert(mine instanceof WholeState);
  if (answer === null) {
    assert.equal(mine.value, null);
    return;
  }
  const { items, count } = recordOf(recordOf(answer).ledger);
  if (Number(count) > MAX_ON_PAGE) return;
  const open = rowsOf(items).filter(({ status }) => CONFIRMED_OPEN.includes(String(status)));
  const buys = open.filter(({ from }) => from === '.');
  const sells = open.filter(({ from }) => from !== '.');
  const { limits, pending } = recordOf(mine.value);
  const { buys: bids, sells: asks } = recordOf(limits);
  const { sellTokens, ...filling } = recordOf(pending);
  // Each open order is a limit, or pending; a limit appears at its worst price.
  assert.equal(sumOfOrders(bids) + Number(filling.buys), buys.length);
  assert.equal(sumOfOrders(asks) + Number(filling.sells), sells.length);
  const offered = sells.reduce((sum, { fromAmount }) => sum + BigInt(String(fromAmount)), 0n);
  const limited = rowsOf(asks).reduce((sum, { amount }) => sum + BigInt(String(amount)), 0n);
  assert.equal(limited + BigInt(String(sellTokens)), offered);
  for (const [side, orders, isBuy] of [
    [bids, buys, true],
    [asks, sells, false],
  ] as const) {
    const known = levels(orders, isBuy).map(([price]) => price);
    const prices = rowsOf(side).map(({ price }) => String(price));
    assert.deepEqual(
      prices,
      known.filter((price) => prices.includes(price)),
    );
  }
}

function sumOfOrders(levels: unknown): number {
  return rowsOf(levels).reduce((sum, { orders }) => sum + Number(orders), 0);
}

function levels(orders: readonly Row[], isBuy: boolean): [string, string][] {
  const byPrice = new Map<string, { price: Ratio; tokens: bigint }>();
  for (const { worstPrice, fromAmount } of orders) {
    const { numerator, denominator } = recordOf(worstPrice);
    const [n, d] = [BigInt(String(numerator)), BigInt(String(denominator))];
    const amount = BigInt(String(fromAmount));
    const price = isBuy ? { n: d, d: n } : { n, d };
    const same = [...byPrice.values()].find((level) => compareRatios(level.price, price) === 0);
    const level = same ?? { price, tokens: 0n };
    level.tokens += isBuy ? ceiling({ n: amount * n, d }) : amount;
    if (same === undefined) byPrice.set(`${n}/${d}`, level);
  }
  const sorted = [...byPrice.values()].sort((a, b) => compareRatios(a.price, b.price));
  if (isBuy) sorted.reverse();
  return sorted.slice(0, MAX_ON_PAGE).map(({ price, tokens }) => [adaPrice(price), String(tokens)]);
}
