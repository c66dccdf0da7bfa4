/**
 * A batch as the executor sends it: a pool and many orders, half with and half without stake part.
 * Every order counts its inputs up to itself, so cost grows with the square of the batch. Only the
 * deployed build is measured: the other one never runs on a network.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Assets } from '@lucid-evolution/lucid';
import { minFee } from '../../../src/cardano/transactions/cost.ts';
import { amountOut } from '../../../src/engine/market/amm.ts';
import {
  buyTokens,
  costOf,
  DEFAULT_CURVE,
  sellLovelace,
} from '../../../src/engine/market/curve.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { legal } from './cases.ts';
import type { Input, Output, Plan, Verdict } from './judge.ts';
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
  REFUND_FEE,
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

/** Order `i`: every third one sells; `fill` returns its result. */
function order(world: World, { token, nft }: Ids, i: number, fill: Fill): Slot {
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
    market: nft,
  });
  const floor = ORDER_FEE + DEPOSIT;
  const value: Assets = sells ? { lovelace: floor, [token]: amount } : { lovelace: floor + amount };
  const got = fill(sells, amount);
  const assets: Assets = sells ? { lovelace: DEPOSIT + got } : { lovelace: DEPOSIT, [token]: got };
  const at = world.address('order', i % 2 ? undefined : owner);
  const hash = (0x20 + i * 3).toString(16);
  return {
    input: { utxo: utxo(hash, 0, at, value, datum), redeemer: redeemers.execute(i + 1, 0) },
    output: { address: to, assets },
  };
}

type Fill = (sells: boolean, amount: bigint) => bigint;

/** In the order of their inputs, which is the dearest to look up: so is every other. */
const trade = (count: number) =>
  redeemers.trade(
    0,
    Array.from({ length: count }, (_, i) => i + 1),
  );

function onCurve(world: World, count: number): Plan {
  const ids = launched(world);
  let sold = SOLD;
  let coin = KEEP + costOf(DEFAULT_CURVE, 0n, sold);
  const datum = curveDatum(world, ids);
  const address = world.address('curvePool', PLATFORM);
  const value = () => ({ lovelace: coin, [ids.token]: SUPPLY - sold, [ids.nft]: 1n });
  const pool = { utxo: utxo('10', 0, address, value(), datum), redeemer: trade(count) };
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
  const datum = () => ammDatum(world, ids, { owed });
  const pool = { utxo: utxo('10', 0, address, value(), datum()), redeemer: trade(count) };
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

/** The same, with the pool behind all orders: the dearest place for them to find it. */
function behind({ inputs: [pool, ...orders], outputs: [next, ...paid], signers }: Plan): Plan {
  assert.ok(pool && next);
  const count = orders.length;
  const listed = Array.from(orders.keys());
  return {
    inputs: [
      ...orders.map(({ utxo: held }, i) => ({ utxo: held, redeemer: redeemers.execute(i, count) })),
      {
        utxo: { ...pool.utxo, txHash: 'fe'.repeat(32) },
        redeemer: redeemers.trade(count, listed),
      },
    ],
    outputs: [...paid, next],
    signers,
  };
}

/** Sells of one token that cannot fill. */
function refunds(world: World, count: number): Plan {
  const ids = launched(world);
  const orders = Array.from({ length: count }, (_, i): Slot => {
    const { input, output } = order(world, ids, 2 + 3 * i, () => 0n);
    const { lovelace, ...tokens } = input.utxo.assets;
    const assets = { lovelace: (lovelace ?? 0n) - REFUND_FEE, ...tokens };
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

const { maxMemory, maxCpu } = PARAMETERS;

type Accepted = Extract<Verdict, { accepted: true }>;

function within(percent: bigint, { costs, sizeBytes }: Accepted, context: TestContext): void {
  const all = [...costs.values()];
  const mem = all.reduce((sum, cost) => sum + cost.mem, 0n);
  const cpu = all.reduce((sum, cost) => sum + cost.cpu, 0n);
  const [ofMem, ofCpu] = [Number(mem) / Number(maxMemory), Number(cpu) / Number(maxCpu)];
  context.diagnostic(`memory ${ofMem * 100} %, CPU ${ofCpu * 100} %, ${sizeBytes} bytes`);
  assert.ok(mem * 100n <= maxMemory * percent, `memory ${mem} of ${maxMemory}`);
  assert.ok(cpu * 100n <= maxCpu * percent, `steps ${cpu} of ${maxCpu}`);
}

/** The lowest fee that the network takes for the batch; its scripts lie in references. */
function feeOf(world: World, venue: 'curvePool' | 'ammPool', { costs, sizeBytes }: Accepted) {
  const units = [...costs.values()].map(({ mem, cpu }) => ({ memory: mem, cpu }));
  const scripts = (['order', venue] as const).map((name) => {
    const { scriptRef } = world.references.get(world.hash(name)) ?? assert.fail();
    return (scriptRef ?? assert.fail()).script.length / 2;
  });
  const bytes = scripts.reduce((sum, each) => sum + each, 0);
  return minFee(PARAMETERS, sizeBytes, units, BigInt(bytes));
}

/** In lovelace by the number of orders, as Trade compared only the pool's two ends (c511e6b7). */
const BEFORE = {
  curvePool: { 1: 284_623n, 4: 347_741n, 8: 448_777n, 12: 565_482n },
  ammPool: { 1: 294_460n, 4: 357_578n, 8: 458_613n, 12: 575_318n },
} as const;

for (const [venue, batch] of [
  ['curvePool', onCurve],
  ['ammPool', onAmm],
] as const) {
  const afford = (
    count: keyof (typeof BEFORE)['curvePool'],
    verdict: Accepted,
    world: World,
    context: TestContext,
  ) => {
    const [fee, before] = [feeOf(world, venue, verdict), BEFORE[venue][count]];
    context.diagnostic(`${fee} lovelace, ${Number(fee) / count} an order, ${before} before`);
    assert.ok(fee * 100n <= before * 125n, `${fee} lovelace, ${before} before`);
  };
  for (const count of [1, 4, 8] as const) {
    legal(
      `fee: ${count} with the ${venue} at most 1.25 of what it was`,
      (world) => batch(world, count),
      (verdict, world, context) => afford(count, verdict, world, context),
      ['release'],
    );
  }
  for (const [where, placed] of [
    ['before', (plan: Plan) => plan],
    ['behind', behind],
  ] as const) {
    legal(
      `batch: 12 orders with the ${venue} ${where} them: 31 %, and 1.25 of what it cost`,
      (world) => placed(batch(world, 12)),
      (verdict, world, context) => {
        within(31n, verdict, context);
        afford(12, verdict, world, context);
      },
      ['release'],
    );
  }
  legal(
    `batch: 16 orders with the ${venue} within 60 %`,
    (world) => batch(world, 16),
    (verdict, _, context) => within(60n, verdict, context),
    ['release'],
  );
}
legal(
  'batch: 16 refunds within 60 %',
  (world) => refunds(world, 16),
  (verdict, _, context) => within(60n, verdict, context),
  ['release'],
);
