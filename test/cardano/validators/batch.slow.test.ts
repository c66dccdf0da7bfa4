/**
 * A batch as the executor sends it: a pool and many orders, half with and half without stake part.
 * Every order counts its inputs up to itself, so cost grows with the square of the batch. Only the
 * deployed build is measured: the other one never runs on a network.
 */
import assert from 'node:assert/strict';
import { type Assets, PROTOCOL_PARAMETERS_DEFAULT } from '@lucid-evolution/lucid';
import { amountOut } from '../../../src/engine/market/amm.ts';
import {
  buyTokens,
  costOf,
  DEFAULT_CURVE,
  sellLovelace,
} from '../../../src/engine/market/curve.ts';
import { legal } from './cases.ts';
import type { Cost, Input, Output, Plan } from './judge.ts';
import {
  ammDatum,
  curveDatum,
  type Ids,
  LOVELACE,
  launched,
  orderDatum,
  REFUND_AFTER_MS,
  redeemers,
} from './layouts.ts';
import {
  ADA,
  DEPOSIT,
  EXECUTOR,
  KEEP,
  key,
  ORDER_FEE,
  PLATFORM,
  SUPPLY,
  utxo,
  type World,
} from './world.ts';

const SELL = 1_000_000n;
const SOLD = 200_000_000n;

interface Slot {
  readonly input: Input;
  readonly output: Output;
}

/** Order `i`: every third one sells; `fill` gives what it gets. */
function order(world: World, { token }: Ids, i: number, fill: Fill): Slot {
  const owner = key(20 + i);
  const sells = i % 3 === 2;
  const amount = sells ? SELL : BigInt(5 + i) * ADA;
  const to = i % 2 ? owner.enterprise : owner.address;
  const datum = orderDatum({
    input: sells ? token : LOVELACE,
    output: sells ? LOVELACE : token,
    worst: sells ? [4n, 10n] : [10n, 1000n],
    owner,
    redeemer: to,
  });
  const floor = ORDER_FEE + DEPOSIT;
  const value: Assets = sells ? { lovelace: floor, [token]: amount } : { lovelace: floor + amount };
  const got = fill(sells, amount);
  const assets: Assets = sells ? { lovelace: DEPOSIT + got } : { lovelace: DEPOSIT, [token]: got };
  const at = world.address('order', i % 2 ? undefined : owner);
  const hash = (0x20 + i * 3).toString(16);
  return {
    input: { utxo: utxo(hash, 0, at, value, datum), redeemer: redeemers.execute(i + 1) },
    output: { address: to, assets },
  };
}

type Fill = (sells: boolean, amount: bigint) => bigint;

function onCurve(world: World, count: number): Plan {
  const ids = launched(world);
  let sold = SOLD;
  let coin = KEEP + costOf(DEFAULT_CURVE, 0n, sold);
  const datum = curveDatum(world, ids);
  const address = world.address('curvePool', PLATFORM);
  const value = () => ({ lovelace: coin, [ids.token]: SUPPLY - sold, [ids.nft]: 1n });
  const pool = { utxo: utxo('10', 0, address, value(), datum), redeemer: redeemers.trade(0) };
  const fill: Fill = (sells, amount) => {
    const gain = sells ? -sellLovelace(DEFAULT_CURVE, sold, amount) : amount - amount / 100n;
    const tokens = sells ? -amount : buyTokens(DEFAULT_CURVE, sold, gain);
    coin += gain;
    sold += tokens;
    return sells ? -gain + gain / 100n : tokens;
  };
  const orders = Array.from({ length: count }, (_, i) => order(world, ids, i, fill));
  return plan(pool, { address, assets: value(), datum }, orders);
}

function onAmm(world: World, count: number): Plan {
  const ids = launched(world);
  let [x, y, owed] = [18_188_400_000n, 263_536_686n, 1_000_000n];
  const address = world.address('ammPool');
  const value = () => ({ lovelace: x + KEEP + owed, [ids.token]: y, [ids.nft]: 1n });
  const datum = () => ammDatum(ids, { owed });
  const pool = { utxo: utxo('10', 0, address, value(), datum()), redeemer: redeemers.trade(0) };
  const fill: Fill = (sells, amount) => {
    const gross = sells ? amountOut(amount, y, x, 15n) : amount;
    const creator = gross / 100n;
    const rest = gross - creator - (gross * 15n) / 10_000n;
    const out = sells ? 0n : amountOut(rest, x, y, 15n);
    x += sells ? -gross : rest;
    y += sells ? amount : -out;
    owed += creator;
    return sells ? rest : out;
  };
  const orders = Array.from({ length: count }, (_, i) => order(world, ids, i, fill));
  return plan(pool, { address, assets: value(), datum: datum() }, orders);
}

function plan(pool: Input, next: Output, orders: readonly Slot[]): Plan {
  return {
    inputs: [pool, ...orders.map(({ input }) => input)],
    outputs: [next, ...orders.map(({ output }) => output)],
    signers: [EXECUTOR],
  };
}

/** Sells of one token that cannot fill. */
function refunds(world: World, count: number): Plan {
  const ids = launched(world);
  const orders = Array.from({ length: count }, (_, i): Slot => {
    const { input, output } = order(world, ids, 2 + 3 * i, () => 0n);
    const { lovelace, ...tokens } = input.utxo.assets;
    const assets = { lovelace: (lovelace ?? 0n) - ORDER_FEE, ...tokens };
    return {
      input: { utxo: input.utxo, redeemer: redeemers.refund(i) },
      output: { ...output, assets },
    };
  });
  return {
    inputs: orders.map(({ input }) => input),
    outputs: orders.map(({ output }) => output),
    signers: [EXECUTOR],
    fromMs: REFUND_AFTER_MS,
  };
}

const { maxTxExMem, maxTxExSteps } = PROTOCOL_PARAMETERS_DEFAULT;

function within(costs: ReadonlyMap<string, Cost>, percent: bigint): void {
  const all = [...costs.values()];
  const mem = all.reduce((sum, cost) => sum + cost.mem, 0n);
  const cpu = all.reduce((sum, cost) => sum + cost.cpu, 0n);
  assert.ok(mem * 100n <= maxTxExMem * percent, `memory ${mem} of ${maxTxExMem}`);
  assert.ok(cpu * 100n <= maxTxExSteps * percent, `steps ${cpu} of ${maxTxExSteps}`);
}

for (const [venue, batch] of [
  ['curve', onCurve],
  ['AMM', onAmm],
] as const) {
  legal(
    `batch: 12 orders on the ${venue} within 30 % of a transaction`,
    (world) => batch(world, 12),
    ({ costs }) => within(costs, 30n),
    ['release'],
  );
  legal(
    `batch: 16 orders on the ${venue} within 60 %`,
    (world) => batch(world, 16),
    ({ costs }) => within(costs, 60n),
    ['release'],
  );
}
legal(
  'batch: 16 refunds within 60 %',
  (world) => refunds(world, 16),
  ({ costs }) => within(costs, 60n),
  ['release'],
);
