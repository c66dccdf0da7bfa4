/** Trades on the curve: to the lovelace, up to the cap, and what else a trade may not do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Assets, Constr, type Data } from '@lucid-evolution/lucid';
import { costOf, DEFAULT_CURVE, sellLovelace } from '../../../../src/engine/market/curve.ts';
import { attack, legal } from '../cases.ts';
import type { Input, Output, Plan } from '../judge.ts';
import {
  changed,
  curveDatum,
  type Ids,
  launched,
  longer,
  NEVER_AGAIN,
  redeemers,
} from '../layouts.ts';
import {
  ADA,
  ALICE,
  BOB,
  CAP,
  EXECUTOR,
  KEEP,
  type Key,
  PLATFORM,
  SUPPLY,
  utxo,
  type World,
} from '../world.ts';

const SOLD = 200_000_000n;
const STEP = 1_000_000n;
const BUY_COST = costOf(DEFAULT_CURVE, SOLD, STEP);
const SELL_GAIN = sellLovelace(DEFAULT_CURVE, SOLD, STEP);
const RESERVE = costOf(DEFAULT_CURVE, 0n, SOLD);
const MOST = CAP + CAP / 1000n;

interface Case {
  readonly cap?: bigint;
  readonly coin0?: bigint;
  readonly coin1: bigint;
  /** Tokens that leave the pool. */
  readonly out: bigint;
  readonly datum1?: (datum: Constr<Data>) => Constr<Data>;
  readonly address1?: (world: World) => string;
  readonly assets1?: (assets: Assets, ids: Ids) => Assets;
  readonly redeemer?: Data;
  readonly signer?: Key;
}

const COIN = KEEP + RESERVE;
const buy: Case = { coin1: COIN + BUY_COST, out: STEP };
const sell: Case = { coin1: COIN - SELL_GAIN, out: -STEP };

/** Pool and successor of a trade; `index` is where both lie. */
function pool(world: World, ids: Ids, index: number, trade: Case): [Input, Output] {
  const { coin0 = COIN, coin1, out, cap } = trade;
  const { redeemer = redeemers.trade(index), datum1, address1, assets1 } = trade;
  const address = world.address('curvePool', PLATFORM);
  const datum = curveDatum(world, ids, cap);
  const tokens = SUPPLY - SOLD;
  const before = { lovelace: coin0, [ids.token]: tokens, [ids.nft]: 1n };
  const after = { lovelace: coin1, [ids.token]: tokens - out, [ids.nft]: 1n };
  return [
    { utxo: utxo(`1${index}`, 0, address, before, datum), redeemer },
    {
      address: address1?.(world) ?? address,
      assets: assets1?.(after, ids) ?? after,
      datum: datum1?.(datum) ?? datum,
    },
  ];
}

/** What Bob holds covers every difference. */
function withBob(pools: readonly [Input, Output][], signer: Key): Plan {
  const inputs = pools.map(([input]) => input);
  const outputs = pools.map(([, output]) => output);
  const sum = (of: readonly Assets[], unit: string) =>
    of.reduce((total, assets) => total + (assets[unit] ?? 0n), 0n);
  const before = inputs.map(({ utxo: own }) => own.assets);
  const after = outputs.map(({ assets }) => assets);
  const units = new Set([...before, ...after].flatMap((assets) => Object.keys(assets)));
  const tokens: Assets = {};
  const left: Assets = {};
  for (const unit of units) {
    tokens[unit] = 100n * ADA;
    left[unit] = 100n * ADA + (unit === 'lovelace' ? 0n : sum(before, unit) - sum(after, unit));
  }
  const bob = { utxo: utxo('20', 0, BOB.enterprise, tokens) };
  return {
    inputs: [...inputs, bob],
    outputs: [...outputs, { address: BOB.enterprise, assets: left }],
    signers: [signer, BOB],
  };
}

const trade = (world: World, one: Case, signer: Key = one.signer ?? EXECUTOR): Plan =>
  withBob([pool(world, launched(world), 0, one)], signer);

const two = (world: World, first: Case, second: Case): Plan =>
  withBob(
    [pool(world, launched(world), 0, first), pool(world, launched(world, 'bb'), 1, second)],
    EXECUTOR,
  );

test('the vector of onchain.md is what is traded here', () => {
  assert.equal(BUY_COST, 7_470_760n);
  assert.equal(SELL_GAIN, 7_421_748n);
});

legal('curve: a buy for exactly its cost', (world) => trade(world, buy));
legal('curve: a sell for exactly what it frees', (world) => trade(world, sell));
legal('curve: the last trade below the cap, to the last lovelace above it', (world) =>
  trade(world, { coin0: CAP - 1n, coin1: MOST, out: STEP }),
);
legal('curve: 2 ADA beyond a small cap', (world) =>
  trade(world, { cap: COIN + BUY_COST - 2n * ADA, ...buy }),
);
legal('curve: two pools at once', (world) => two(world, buy, sell));

attack('curve: a buy one lovelace short', 'below the curve', (world) =>
  trade(world, { ...buy, coin1: buy.coin1 - 1n }),
);
attack('curve: a sell one lovelace short', 'below the curve', (world) =>
  trade(world, { ...sell, coin1: sell.coin1 - 1n }),
);
attack('curve: two pools, the second one lovelace short', 'below the curve', (world) =>
  two(world, buy, { ...sell, coin1: sell.coin1 - 1n }),
);
attack('curve: two pools, both paired with the first', 'not my index', (world) =>
  two(world, buy, { ...sell, redeemer: redeemers.trade(0) }),
);
attack('curve: a trade without the executor', 'executor signature missing', (world) =>
  trade(world, { ...buy, signer: ALICE }),
);
attack('curve: an unknown redeemer', 'no such redeemer', (world) =>
  trade(world, { ...buy, redeemer: NEVER_AGAIN }),
);
attack('curve: Never', 'no such redeemer', (world) =>
  trade(world, { ...buy, redeemer: new Constr<Data>(2, []) }),
);
attack('curve: a negative index', 'negative index', (world) =>
  trade(world, { ...buy, redeemer: redeemers.trade(-1) }),
);
attack('curve: the index of another input', 'not my index', (world) =>
  trade(world, { ...buy, redeemer: redeemers.trade(1) }),
);
attack('curve: the NFT stolen', 'wrong value', (world) =>
  trade(world, { ...buy, assets1: ({ [launched(world).nft]: _, ...rest }) => rest }),
);
attack('curve: a foreign token put into the pool', 'wrong value', (world) =>
  trade(world, { ...buy, assets1: (assets) => ({ ...assets, [launched(world, 'bb').token]: 1n }) }),
);
attack('curve: one token taken', 'below the curve', (world) =>
  trade(world, { ...buy, out: STEP + 1n }),
);
for (const field of [0, 1, 2]) {
  attack(`curve: field ${field} of the datum changed`, 'datum changed', (world) =>
    trade(world, { ...buy, datum1: (datum) => changed(datum, field, new Constr(0, ['', '61'])) }),
  );
}
for (const field of [3, 4, 6]) {
  attack(`curve: field ${field} of the datum changed`, 'datum changed', (world) =>
    trade(world, { ...buy, datum1: (datum) => changed(datum, field, 1n) }),
  );
}
for (const field of [5, 7, 8]) {
  attack(`curve: field ${field} of the datum changed`, 'datum changed', (world) =>
    trade(world, { ...buy, datum1: (datum) => changed(datum, field, ALICE.pkh) }),
  );
}
attack('curve: a field added to the datum', 'datum changed', (world) =>
  trade(world, { ...buy, datum1: longer }),
);
attack('curve: another constructor', 'datum changed', (world) =>
  trade(world, { ...buy, datum1: ({ fields }) => new Constr(1, fields) }),
);
attack('curve: the stake part swapped', 'address changed', (world) =>
  trade(world, { ...buy, address1: ({ address }) => address('curvePool', ALICE) }),
);
attack('curve: the stake part dropped', 'address changed', (world) =>
  trade(world, { ...buy, address1: ({ address }) => address('curvePool') }),
);
attack('curve: a trade to the AMM', 'address changed', (world) =>
  trade(world, { ...buy, address1: ({ address }) => address('ammPool', PLATFORM) }),
);
attack('curve: a trade at the cap', 'cap reached', (world) =>
  trade(world, { coin0: CAP, coin1: CAP + BUY_COST, out: STEP }),
);
attack('curve: a sell after the cap', 'cap reached', (world) =>
  trade(world, { coin0: CAP + 1n, coin1: CAP + 1n - SELL_GAIN, out: -STEP }),
);
attack('curve: one lovelace too far beyond the cap', 'beyond the cap', (world) =>
  trade(world, { coin0: CAP - 1n, coin1: MOST + 1n, out: STEP }),
);
attack('curve: 2 ADA and a lovelace beyond a small cap', 'beyond the cap', (world) =>
  trade(world, { cap: COIN + BUY_COST - 2n * ADA - 1n, ...buy }),
);
attack('curve: a successor without datum', 'not an inline datum', (world) => {
  const plan = trade(world, buy);
  const [{ address, assets } = { address: '', assets: {} }, ...others] = plan.outputs;
  return { ...plan, outputs: [{ address, assets }, ...others] };
});
attack('curve: a redeemer that is a number', 'Warning: invalid Redeemer data', (world) =>
  trade(world, { ...buy, redeemer: 5n }),
);
