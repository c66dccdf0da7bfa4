/**
 * Trades on the curve: each order is executed to the unit, up to the cap, and forbidden changes are
 * refused.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf, DEFAULT_CURVE, sellLovelace } from '../../../../src/engine/market/curve.ts';
import { attack, legal } from '../cases.ts';
import type { Plan } from '../judge.ts';
import { launched } from '../layouts.ts';
import { curveVenue, type OrderCase, type PoolChange, trade } from '../trades.ts';
import { ADA, BOB, KEEP, type World } from '../world.ts';
import { trading } from './trading.ts';

const SOLD = 200_000_000n;
const RESERVE = costOf(DEFAULT_CURVE, 0n, SOLD);
/** Brings 7,470,760 lovelace into the pool, for a million tokens. */
const BUY: OrderCase = { side: 'buy', amount: 7_546_222n };
const SELL: OrderCase = { side: 'sell', amount: 1_000_000n, owner: BOB };

const one = (world: World, change: PoolChange = {}, order: OrderCase = BUY): Plan =>
  trade(world, launched(world), curveVenue(), [order], change);

test('the vector of onchain.md is what is traded here', () => {
  assert.equal(costOf(DEFAULT_CURVE, SOLD, 1_000_000n), 7_470_760n);
  assert.equal(sellLovelace(DEFAULT_CURVE, SOLD, 1_000_000n), 7_421_748n);
  const venue = curveVenue();
  assert.equal(venue.fill('buy', BUY.amount), 1_000_000n);
});
trading('curve', curveVenue, 'not what the curve gives');

/** A pool that is `short` lovelace below its cap, of which a thousandth is more than 2 ADA. */
const near = (world: World, short: bigint, order: OrderCase): Plan =>
  trade(world, launched(world), curveVenue(MAX_SOLD, 0n, capAt(short)), [order]);
const MAX_SOLD = 730_000_000n;
const capAt = (short: bigint) => KEEP + costOf(DEFAULT_CURVE, 0n, MAX_SOLD) + short;
/** A buy of which exactly `net` enters the pool. */
const bringing = (net: bigint): OrderCase => ({
  side: 'buy',
  amount: (100n * (net - 1n)) / 99n + 1n,
});

legal('curve: the last trade below the cap, to the last lovelace above it', (world) =>
  near(world, 1n, bringing(1n + maxBeyond(1n))),
);
legal('curve: a buy that just reaches the cap', (world) =>
  near(world, 10n * ADA, bringing(10n * ADA)),
);
attack('curve: one lovelace too far beyond the cap', 'beyond the cap', (world) =>
  near(world, 1n, bringing(2n + maxBeyond(1n))),
);
legal('curve: 2 ADA beyond a small cap', (world) => small(world, 2n * ADA));
attack('curve: 2 ADA and a lovelace beyond a small cap', 'beyond the cap', (world) =>
  small(world, 2n * ADA + 1n),
);
attack('curve: a buy at the cap', 'cap reached', (world) => near(world, 0n, BUY));
attack('curve: a sell after the cap', 'cap reached', (world) => near(world, -1n, SELL));
attack('curve: a sell behind the buy that reached the cap', 'cap reached', (world) => {
  const venue = curveVenue(SOLD, 0n, KEEP + RESERVE + ADA);
  return trade(world, launched(world), venue, [BUY, SELL]);
});
attack('curve: a successor without datum', 'not an inline datum', (world) => {
  const plan = one(world);
  const [{ address, assets } = { address: '', assets: {} }, ...others] = plan.outputs;
  return { ...plan, outputs: [{ address, assets }, ...others] };
});
attack('curve: a redeemer that is a number', 'Warning: invalid Redeemer data', (world) =>
  one(world, { redeemer: 5n }),
);

/** The most beyond the cap of the pool that is `short` of it. */
function maxBeyond(short: bigint): bigint {
  return capAt(short) / 1000n;
}

/** Ends so far beyond a cap of which a thousandth is less than 2 ADA. */
function small(world: World, beyond: bigint): Plan {
  const [sold, short] = [10_000_000n, ADA];
  const cap = KEEP + costOf(DEFAULT_CURVE, 0n, sold) + short;
  return trade(world, launched(world), curveVenue(sold, 0n, cap), [bringing(short + beyond)]);
}
