/** Three of the faults of `npm run sim -- cluster`, one after another on the same market. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish, play, setUp } from './setup.ts';

/** The test users are enough; `npm run sim -- cluster` adds traders. */
const ENV = { TRADERS_PACE: '0', BLOCK_EVERY_MS: '400' };
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);

test('three nodes under trading recover from faults, and no client gets a wrong answer', {
  timeout: 400_000,
}, async (t) => {
  t.diagnostic(
    `seed ${SEED}; again: SEED=${SEED} node --test test/cluster/faults/faults.slow.test.ts`,
  );
  const setup = await setUp(t, SEED, (text) => t.diagnostic(text), ENV);
  for (const name of [
    'kill -9 of the leader',
    'the leader frozen past its lease',
    'NATS killed, its state deleted',
  ] as const) {
    await t.test(name, () => play(setup, name));
  }
  const { counts } = await finish(setup);
  assert((counts['fill CURVE'] ?? 0) > 0, 'orders were filled');
});
