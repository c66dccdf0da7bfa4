/**
 * Trades of a pool as the executor makes them: the executor executes its orders one after the
 * other, each order gets the amount that the quote code computes, and the pool keeps the rest.
 * `change` then breaks one thing.
 */
import assert from 'node:assert/strict';
import type { Assets, Constr, Data, Script } from '@lucid-evolution/lucid';
import { amountOut } from '../../../src/engine/market/amm.ts';
import {
  buyTokens,
  costOf,
  DEFAULT_CURVE,
  sellLovelace,
} from '../../../src/engine/market/curve.ts';
import type { Input, Output, Plan } from './judge.ts';
import {
  ammDatum,
  curveDatum,
  type Ids,
  LOVELACE,
  launched,
  orderDatum,
  redeemers,
} from './layouts.ts';
import {
  ADA,
  ALICE,
  BOB,
  DEPOSIT,
  EXECUTOR,
  KEEP,
  type Key,
  ORDER_FEE,
  PLATFORM,
  SUPPLY,
  utxo,
  type World,
} from './world.ts';

export interface OrderCase {
  readonly side: 'buy' | 'sell';
  /** Lovelace of a buy, tokens of a sell. */
  readonly amount: bigint;
  readonly owner?: Key;
  /** Where it is paid, in the datum. */
  readonly redeemer?: string;
  readonly worst?: readonly [bigint, bigint];
  readonly market?: string;
  /** Replaces the pool's token in the datum. */
  readonly token?: string;
  readonly action?: Data;
  /** Paid beyond the right amount. */
  readonly moreTokens?: bigint;
  readonly moreLovelace?: bigint;
  readonly to?: string;
  readonly scriptRef?: Script;
  /** In the datum alone. */
  readonly fee?: bigint;
}

export interface PoolChange {
  /** In the redeemer, in place of the orders in their order. */
  readonly listed?: readonly number[];
  readonly index?: number;
  readonly moreTokens?: bigint;
  readonly moreLovelace?: bigint;
  readonly datum1?: (datum: Constr<Data>) => Constr<Data>;
  readonly address1?: (world: World) => string;
  readonly assets1?: (assets: Assets, ids: Ids) => Assets;
  readonly redeemer?: Data;
  readonly signer?: Key;
  readonly scriptRef?: Script;
  /** The pool is the last input, so that orders speak first. */
  readonly isLast?: boolean;
  /** Beside them, sorted by their hashes in between. */
  readonly others?: readonly Placed[];
}

/** An input and the output with its index. */
export interface Placed {
  readonly input: Input;
  readonly output: Output;
}

/** A pool; an order moves it and gets the return value: tokens, or lovelace. */
export interface Venue {
  readonly script: 'curvePool' | 'ammPool';
  readonly value: (ids: Ids) => Assets;
  readonly datum: (world: World, ids: Ids) => Constr<Data>;
  readonly fill: (side: OrderCase['side'], amount: bigint) => bigint;
}

export function curveVenue(sold0 = 200_000_000n, extra = 0n, cap?: bigint): Venue {
  let sold = sold0;
  let coin = KEEP + costOf(DEFAULT_CURVE, 0n, sold0) + extra;
  return {
    script: 'curvePool',
    value: ({ token, nft }) => ({ lovelace: coin, [token]: SUPPLY - sold, [nft]: 1n }),
    datum: (world, ids) => curveDatum(world, ids, cap),
    fill(side, amount) {
      const isBuy = side === 'buy';
      const gain = isBuy ? amount - amount / 100n : -sellLovelace(DEFAULT_CURVE, sold, amount);
      const tokens = isBuy ? buyTokens(DEFAULT_CURVE, sold, gain) : -amount;
      coin += gain;
      sold += tokens;
      return isBuy ? tokens : -gain - -gain / 100n;
    },
  };
}

export const AMM = { x: 18_188_400_000n, y: 263_536_686n, owed: 7_000_000n };

export function ammVenue(): Venue {
  let { x, y, owed } = AMM;
  return {
    script: 'ammPool',
    value: ({ token, nft }) => ({ lovelace: x + KEEP + owed, [token]: y, [nft]: 1n }),
    datum: (world, ids) => ammDatum(world, ids, { owed }),
    fill(side, amount) {
      const isBuy = side === 'buy';
      const gross = isBuy ? amount : amountOut(amount, y, x, 15n);
      const creator = gross / 100n;
      const net = gross - creator - (gross * 15n) / 10_000n;
      const out = isBuy ? amountOut(net, x, y, 15n) : 0n;
      x += isBuy ? net : -gross;
      y += isBuy ? -out : amount;
      owed += creator;
      return isBuy ? out : net;
    },
  };
}

/** The order's output and its payment, exact to the unit except for the changes of its case. */
export function placedOrder(
  world: World,
  ids: Ids,
  one: OrderCase,
  hash: string,
  got: bigint,
): Placed {
  const { side, amount, owner = ALICE, redeemer = owner.address, worst = [1n, amount] } = one;
  const { market = ids.nft, token = ids.token, moreTokens = 0n, moreLovelace = 0n } = one;
  const [isBuy, floor] = [side === 'buy', ORDER_FEE + DEPOSIT];
  const datum = orderDatum({
    ...{ input: isBuy ? LOVELACE : token, output: isBuy ? token : LOVELACE },
    ...{ worst, owner, redeemer, market },
    ...(one.fee === undefined ? {} : { fee: one.fee }),
  });
  const value = isBuy ? { lovelace: floor + amount } : { lovelace: floor, [ids.token]: amount };
  const tokens = (isBuy ? got : 0n) + moreTokens;
  const lovelace = DEPOSIT + (isBuy ? 0n : got) + moreLovelace;
  return {
    input: { utxo: utxo(hash, 0, world.address('order', owner), value, datum) },
    output: {
      address: one.to ?? redeemer,
      assets: tokens === 0n ? { lovelace } : { lovelace, [ids.token]: tokens },
      ...(one.scriptRef === undefined ? {} : { scriptRef: one.scriptRef }),
    },
  };
}

/** Orders lie at indices 1, 2, …, or from 0 on where the pool is last; Bob covers differences. */
export function trade(
  world: World,
  ids: Ids,
  venue: Venue,
  orders: readonly OrderCase[],
  change: PoolChange = {},
): Plan {
  const { isLast = false, others = [], signer = EXECUTOR, scriptRef } = change;
  const address = world.address(venue.script, venue.script === 'curvePool' ? PLATFORM : undefined);
  const held = utxo(isLast ? 'e0' : '10', 0, address, venue.value(ids), venue.datum(world, ids));
  const filled = orders.map((one, at) =>
    placedOrder(world, ids, one, (0x20 + at).toString(16), venue.fill(one.side, one.amount)),
  );
  const { moreTokens = 0n, moreLovelace = 0n } = change;
  const kept = venue.value(ids);
  kept.lovelace = (kept.lovelace ?? 0n) + moreLovelace;
  kept[ids.token] = (kept[ids.token] ?? 0n) + moreTokens;
  const datum = venue.datum(world, ids);
  const next: Output = {
    address: change.address1?.(world) ?? address,
    assets: change.assets1?.(kept, ids) ?? kept,
    datum: change.datum1?.(datum) ?? datum,
    ...(scriptRef === undefined ? {} : { scriptRef }),
  };
  const pool: Placed = { input: { utxo: held }, output: next };
  const all = [pool, ...filled, ...others].sort((a, b) =>
    a.input.utxo.txHash < b.input.utxo.txHash ? -1 : 1,
  );
  const at = all.indexOf(pool);
  const listed = change.listed ?? filled.map((one) => all.indexOf(one));
  const pairs = all.map((one, index): Placed => {
    const order = orders[filled.indexOf(one)];
    const trades = change.redeemer ?? redeemers.trade(change.index ?? at, listed);
    const acts = one === pool ? trades : (order?.action ?? redeemers.execute(index, at));
    return one === pool || order !== undefined
      ? { ...one, input: { ...one.input, redeemer: acts } }
      : one;
  });
  return balanced(pairs, signer);
}

/** For every asset, Bob adds the amount that the outputs lack and takes the rest. */
export function balanced(
  pairs: readonly Placed[],
  signer: Key,
  signers: readonly Key[] = [],
): Plan {
  const inputs = pairs.map(({ input }) => input);
  const outputs = pairs.map(({ output }) => output);
  const units = new Set(
    [...inputs.map(({ utxo: { assets } }) => assets), ...outputs.map(({ assets }) => assets)]
      .flatMap((assets) => Object.keys(assets))
      .filter((unit) => unit !== 'lovelace'),
  );
  const sum = (all: readonly Assets[], unit: string) =>
    all.reduce((total, assets) => total + (assets[unit] ?? 0n), 0n);
  const brought: Assets = { lovelace: 100n * ADA };
  const left: Assets = { lovelace: 5n * ADA };
  for (const unit of units) {
    const before = inputs.map(({ utxo: { assets } }) => assets);
    const surplus =
      sum(before, unit) -
      sum(
        outputs.map(({ assets }) => assets),
        unit,
      );
    brought[unit] = SUPPLY;
    left[unit] = SUPPLY + surplus;
    assert.ok(SUPPLY + surplus > 0n, 'Bob has enough');
  }
  return {
    inputs: [...inputs, { utxo: utxo('f0', 0, BOB.enterprise, brought) }],
    outputs: [...outputs, { address: BOB.enterprise, assets: left }],
    signers: [signer, BOB, ...signers],
  };
}

/** A step of the pool that is the plan's first input, and an order that gets 1 token beside it. */
export function withOrder(plan: Plan, world: World, owner: Key): Plan {
  const ids = launched(world);
  const order: OrderCase = { side: 'buy', amount: 30n * ADA, owner };
  const { input, output } = placedOrder(world, ids, order, '18', 1n);
  const [pool, ...inputs] = plan.inputs;
  const [next, ...outputs] = plan.outputs;
  assert.ok(pool && next);
  const filled = { ...input, redeemer: redeemers.execute(1, 0) };
  const brought = { lovelace: 5n * ADA, [ids.token]: 1n };
  const wallet = { utxo: utxo('1a', 0, EXECUTOR.enterprise, brought) };
  const kept = { address: EXECUTOR.enterprise, assets: { lovelace: 5n * ADA } };
  return {
    ...plan,
    inputs: [pool, filled, wallet, ...inputs],
    outputs: [next, output, kept, ...outputs],
  };
}
