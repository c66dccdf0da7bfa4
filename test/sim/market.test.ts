/** A short slice of `npm run sim`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from './property.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
/** So that it plays the same markets, however fast the machine is. */
const MARKETS = 5;
const MAX_SECONDS = 180;

test('random trades, rollbacks, restarts and subscriptions: clients = server = rebuild', {
  timeout: 240_000,
}, async (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test test/sim/market.test.ts`);
  const tally = await simulate({ seed: SEED, seconds: MAX_SECONDS, markets: MARKETS });
  t.diagnostic(JSON.stringify(tally));
  assert(tally.scenarios > 0 && tally.checks > 0);
});
