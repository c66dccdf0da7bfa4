/** The pusher fills one curve after the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  afterGraduation,
  firstPusherState,
  push,
  smallerStep,
  stepEveryMs,
  targetOf,
} from '../../../src/client/traders/pusher.ts';
import type { View } from '../../../src/client/traders/view.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { ADA, CONFIG, NOW_MS, OTHER, TOKEN, token, view } from './views.ts';

const RICH = { lovelace: 100_000n * ADA };
const FIRST = firstPusherState(CONFIG, 1);
const holding = (amount: bigint) => new Map([[TOKEN, amount]]);
const decided = (seen: View, state = FIRST) => push(seen, state, CONFIG, seededRng(1));

test('without a token of its own it launches one, and buys the one it holds', () => {
  assert.equal(decided(view(RICH)).kind, 'launch');
  const buys = decided(view({ ...RICH, tokens: holding(5n) }));
  assert(buys.kind === 'order' && buys.side === 'BUY' && buys.asset === TOKEN);
  assert.equal(buys.amount, BigInt(CONFIG.pusher.orderAda) * ADA);
});

test('its target is what it holds most of on the curve', () => {
  const market = [token(), token({ asset: OTHER })];
  const tokens = new Map([
    [TOKEN, 5n],
    [OTHER, 6n],
  ]);
  assert.equal(targetOf({ market, tokens })?.asset, OTHER);
  assert.equal(targetOf({ market: [token({ venue: 'AMM' })], tokens }), null);
});

test('steps of a pool that fills up get smaller, and always fit at the end', () => {
  const most = 18_188_400_000n;
  const overshoot = 18_191_400n;
  fc.assert(
    fc.property(fc.bigInt(0n, most - 1n), (reserve) => {
      let state = FIRST;
      let held = reserve;
      for (let turn = 0; held < most && turn < 500; turn += 1) {
        const net = state.stepLovelace - state.stepLovelace / 100n;
        if (held + net > most + overshoot) state = smallerStep(state);
        else held += net;
      }
      assert(held >= most, `stuck at ${held}`);
    }),
  );
});

test('after a graduation it rests, and sells on the AMM only while it lacks coins', () => {
  const market = [token({ venue: 'AMM', marketCapLovelace: 69_000n * ADA })];
  const tokens = holding(700_000_000n);
  const state = afterGraduation(CONFIG, NOW_MS, 1);
  assert.equal(decided(view({ ...RICH, market, tokens }), state).kind, 'rest');
  const rested = view({ ...RICH, market, tokens, nowMs: state.restUntilMs });
  assert.equal(decided(rested, state).kind, 'launch');
  const poor = decided(view({ lovelace: 500n * ADA, market, tokens }), state);
  assert(poor.kind === 'order' && poor.side === 'SELL' && poor.amount < 100_000_000n);
  assert.equal(decided(view({ lovelace: 500n * ADA, market: [] }), state).kind, 'rest');
});

test('at pace 1 the curve is full within five minutes, at a higher pace sooner', () => {
  for (const pace of [0.5, 1, 2, 5, 20]) {
    const step = Number(firstPusherState(CONFIG, pace).stepLovelace / ADA);
    const fullMs = Math.ceil(18_188.4 / (step * 0.99)) * stepEveryMs(CONFIG, pace);
    assert(fullMs * pace <= 240_000, `${pace}: ${fullMs} ms`);
  }
});
