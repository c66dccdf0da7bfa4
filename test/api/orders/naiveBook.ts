/** The order book from the blocks that are left, the plain way: all orders, one after the other. */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { type DepthLevel, depthTotal, poolDepth } from '../../../src/engine/market/depth.ts';
import { DEFAULT_FEES, type FeeParameters } from '../../../src/engine/market/fees.ts';
import { fillOrder } from '../../../src/engine/market/order.ts';
import type { PoolState } from '../../../src/engine/market/pool.ts';
import { SUPPLY } from '../../chain/foldState.ts';
import { capAfter } from '../../chain/foldTruth.ts';
import { chainOf, type Facts, openRefs } from '../../chain/mempoolTruth.ts';
import { adaPrice, ceiling, compareRatios, type Ratio, sum } from '../../e2e/api/exact.ts';

const LEVELS = 100;

export function bookOf(facts: Facts, token: string) {
  const events = facts.blocks.flatMap((block) => block.events);
  const moved = events.flatMap((event) =>
    event.kind === 'moved' && event.token === token ? [event] : [],
  );
  const [last] = moved.slice(-1);
  assert(last !== undefined, 'a token lies in a pool');
  const { top, bottom } = capAfter({ after: last.to });
  const state = stateOf(events, token, last.to);
  const { orders } = chainOf(facts);
  const open = openRefs(facts).flatMap((ref): OpenOrder[] => {
    const order = orders.get(ref)?.order;
    if (order?.token !== token) return [];
    const { numerator, denominator } = order.worstPrice;
    const worstPrice = { numerator: BigInt(numerator), denominator: BigInt(denominator) };
    return [{ kind: order.side, amount: BigInt(order.amount), worstPrice }];
  });
  const spot = adaPrice({ n: top, d: bottom * SUPPLY });
  return naiveBook({ asset: token, pool: last.ref, spot }, { state, fees: DEFAULT_FEES, open });
}

type OpenOrder = Parameters<typeof fillOrder>[2];

interface Waiting {
  readonly state: PoolState;
  readonly fees: FeeParameters;
  readonly open: readonly OpenOrder[];
}

/** `of`: token, output of the pool and spot price, as they are shown. */
export function naiveBook<Of extends object>(of: Of, { state, fees, open }: Waiting) {
  const { asks, bids } = poolDepth(state, fees, { digits: 3, levels: LEVELS });
  const levels = (kind: 'buy' | 'sell', side: readonly DepthLevel[]) =>
    side.map(({ price, amount, tokens }) => {
      return { price, amount: `${amount}`, total: `${depthTotal(state, fees, kind, tokens)}` };
    });
  const sides = { asks: levels('buy', asks), bids: levels('sell', bids) };
  return { ...of, ...sides, ...waitingOf(open, state, fees), checksum: checksumOf(sides) };
}

/** CRC-32, as protocol.md 10.1 words it. */
export function checksumOf({ asks, bids }: { asks: readonly Level[]; bids: readonly Level[] }) {
  const best = [...asks.slice(0, 10), ...bids.slice(0, 10)];
  const text = best.map(({ price, amount }) => `${price}:${amount}`).join('|');
  return `0000000${crc32(text).toString(16)}`.slice(-8);
}

export interface Level {
  readonly price: string;
  readonly amount: string;
}

function stateOf(
  events: Facts['blocks'][number]['events'],
  token: string,
  to: Reserves,
): PoolState {
  const [pool] = events
    .flatMap((event) =>
      event.kind === 'launched' && event.pool.token === token ? [event.pool] : [],
    )
    .slice(-1);
  assert(pool !== undefined);
  const supply = BigInt(pool.supply);
  const [x, y, owed] = [BigInt(to.x), BigInt(to.y), BigInt(to.owed)];
  if (to.venue === 'AMM') return { venue: 'AMM', x, y, owed, supply };
  const curve = { aNum: BigInt(pool.aNum), bNum: BigInt(pool.bNum), supply };
  return { venue: 'CURVE', x, y, curve, thresholdLovelace: BigInt(pool.thresholdLovelace) };
}

type Reserves = Extract<Facts['blocks'][number]['events'][number], { kind: 'moved' }>['to'];

function waitingOf(all: readonly OpenOrder[], state: PoolState, fees: FeeParameters) {
  const open = all.map((order) => {
    const { kind, amount, worstPrice: worst } = order;
    const isPending = worst.numerator === 0n || fillOrder(state, fees, order) !== null;
    return { kind, amount, worst, isPending };
  });
  const limits = (wanted: 'buy' | 'sell') => {
    const levels: { price: Ratio; tokens: bigint[] }[] = [];
    for (const { kind, worst, amount, isPending } of open) {
      if (kind !== wanted || isPending) continue;
      const { numerator: n, denominator: d } = worst;
      const price = wanted === 'buy' ? { n: d, d: n } : { n, d };
      const tokens = wanted === 'buy' ? ceiling({ n: amount * n, d }) : amount;
      const level = levels.find((each) => compareRatios(each.price, price) === 0);
      if (level === undefined) levels.push({ price, tokens: [tokens] });
      else level.tokens.push(tokens);
    }
    const sign = wanted === 'buy' ? -1 : 1;
    levels.sort((a, b) => sign * compareRatios(a.price, b.price));
    return levels.slice(0, LEVELS).map(({ price, tokens }) => {
      return { price: adaPrice(price), amount: `${sum(tokens)}`, orders: tokens.length };
    });
  };
  const pending = (wanted: 'buy' | 'sell') =>
    open.filter(({ kind, isPending }) => kind === wanted && isPending).map(({ amount }) => amount);
  const [buys, sells] = [pending('buy'), pending('sell')];
  return {
    limits: { buys: limits('buy'), sells: limits('sell') },
    pending: {
      buys: buys.length,
      sells: sells.length,
      buyLovelace: `${sum(buys)}`,
      sellTokens: `${sum(sells)}`,
    },
  };
}
