/**
 * A launched market with a life: minutes of trades of one token and of five hundred, by one wallet
 * and by a thousand; graduated pools, holders, open orders and locks. Expensive requests find the
 * most data here.
 */
import { formatAddress } from '../../src/cardano/codec/address.ts';
import { buyTokens, DEFAULT_CURVE } from '../../src/engine/market/curve.ts';
import {
  chainOrder,
  type MarketEvent,
  type PlacedOrder,
  type Reserves,
} from '../../src/engine/market/events.ts';
import { idOf, launchedToken } from './launchedMarket.ts';

/** Trades in this many tokens, and has locks. */
export const WALLET = idOf('wallet', 56);
export const WALLET_ADDRESS = formatAddress({
  network: 'testnet',
  payment: { kind: 'key', hash: WALLET },
  stake: null,
  pointer: false,
});
const TRADED_TOKENS = 500;
const TRADERS = 1_000;
const OPEN_ORDERS = 500;
const LOCKS = 200;
const EACH_GRADUATED = 10;
const BUY_LOVELACE = 5_000_000n;
const HELD = { lovelace: '2000000', datum: null };

/** The events of block `number` of a life of that many blocks, each a minute. */
export function eventsOf(number: number, slot: number, pools: number): MarketEvent[] {
  if (number === 0) return [...graduations(pools), ...locks(), ...openOrders(slot)];
  // The first token every minute, the others in turn.
  const other = 1 + (number % Math.min(TRADED_TOKENS, pools - 1));
  return [0, other].flatMap((index, at) => trade(index, number, { slot, txIndex: at }));
}

function reservesOf(index: number): { readonly curve: Reserves; readonly bought: bigint } {
  const lovelace = BigInt(1 + (index % 900)) * 10_000_000n;
  const [tokens, more] = [lovelace, lovelace + BUY_LOVELACE].map((x) =>
    buyTokens(DEFAULT_CURVE, 0n, x),
  );
  const [y, after] = [DEFAULT_CURVE.supply - (tokens ?? 0n), DEFAULT_CURVE.supply - (more ?? 0n)];
  return {
    curve: {
      venue: isGraduated(index) ? 'AMM' : 'CURVE',
      x: String(lovelace),
      y: String(y),
      owed: '0',
    },
    bought: y - after,
  };
}

function isGraduated(index: number): boolean {
  return index % EACH_GRADUATED === EACH_GRADUATED - 1;
}

/** Buys and sells in turn, so that a pool's reserves stay. */
function trade(
  index: number,
  number: number,
  { slot, txIndex }: { slot: number; txIndex: number },
): MarketEvent[] {
  const token = launchedToken(index);
  const { curve, bought } = reservesOf(index);
  const round = index === 0 ? number : Math.floor(number / TRADED_TOKENS);
  const side = round % 2 === 0 ? 'buy' : 'sell';
  const moved: Reserves = {
    ...curve,
    x: String(BigInt(curve.x) + BUY_LOVELACE),
    y: String(BigInt(curve.y) - bought),
  };
  const after = side === 'buy' ? moved : curve;
  const pkh = number % 2 === 0 || index > 0 ? WALLET : trader(number);
  const placed = orderOf(`${token} ${number}`, { token, side, slot, txIndex, pkh, bought });
  const tx = idOf(`fill ${placed.ref}`);
  const amounts = { tokens: String(bought), lovelace: String(BUY_LOVELACE) };
  const at = chainOrder(slot, txIndex, 1);
  const received = side === 'buy' ? amounts.tokens : amounts.lovelace;
  return [
    { tx: idOf(`place ${placed.ref}`), kind: 'placed', order: placed },
    { tx, kind: 'filled', at, token, order: placed.ref, side, ...amounts, after },
    { tx, kind: 'executed', order: placed.ref, received },
    { tx, kind: 'moved', token, ref: `${tx}:0`, to: after },
    {
      ...{ tx, kind: 'made', ref: `${tx}:1`, address: WALLET_ADDRESS, pkh, isOurs: false, ...HELD },
      assets: { [token]: amounts.tokens },
    },
  ];
}

function orderOf(
  name: string,
  {
    token,
    side,
    slot,
    txIndex,
    pkh,
    bought,
  }: {
    readonly token: string;
    readonly side: 'buy' | 'sell';
    readonly slot: number;
    readonly txIndex: number;
    readonly pkh: string;
    readonly bought: bigint;
  },
): PlacedOrder {
  const ref = `${idOf(`order ${name}`)}:0`;
  return {
    ref,
    at: chainOrder(slot, txIndex, 0),
    token,
    side,
    amount: String(side === 'buy' ? BUY_LOVELACE : bought),
    worstPrice: { numerator: side === 'buy' ? '11276389' : '1', denominator: '100000000' },
    feeLovelace: '1100000',
    depositLovelace: '1500000',
    refundAfterMs: 0,
    address: WALLET_ADDRESS,
    pkh,
    beacon: idOf(ref, 56),
  };
}

function trader(number: number): string {
  return idOf(`trader ${number % TRADERS}`, 56);
}

function graduations(pools: number): MarketEvent[] {
  return Array.from({ length: pools }, (_, index) => index)
    .filter(isGraduated)
    .flatMap((index): MarketEvent[] => {
      const [token, tx] = [launchedToken(index), idOf(`graduation ${index}`)];
      const to = reservesOf(index).curve;
      return [
        { tx, kind: 'graduated', token },
        { tx, kind: 'moved', token, ref: `${tx}:0`, to },
      ];
    });
}

function locks(): MarketEvent[] {
  return Array.from({ length: LOCKS }, (_, at) => {
    const ref = `${idOf(`lock ${at}`)}:0`;
    const owner = { owner: WALLET, ownerAddress: WALLET_ADDRESS };
    const lock = { ref, token: launchedToken(0), amount: '1000', unlockMs: '1', ...owner };
    return { tx: idOf(`lock ${at}`), kind: 'locked', lock };
  });
}

/** At prices that the pool does not give now. */
function openOrders(slot: number): MarketEvent[] {
  const token = launchedToken(0);
  return Array.from({ length: OPEN_ORDERS }, (_, at): MarketEvent => {
    const side = at % 2 === 0 ? 'buy' : 'sell';
    const pkh = at % 3 === 0 ? WALLET : trader(at);
    const order = orderOf(`open ${at}`, { token, side, slot, txIndex: at, pkh, bought: 1_000n });
    const worstPrice =
      side === 'buy'
        ? { numerator: String(1 + at), denominator: '1000000000000' }
        : { numerator: String(1_000_000 + at), denominator: '1' };
    return { tx: idOf(`open ${at}`), kind: 'placed', order: { ...order, worstPrice } };
  });
}
