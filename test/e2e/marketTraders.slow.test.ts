/** Simulated traders at full speed while the chain forks under them: everybody carries on. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { test } from 'node:test';
import { readTraderConfig, type TraderConfig } from '../../src/traders/config.ts';
import { assertSound, verifyDirectory } from '../support/app.ts';
import { temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { audit } from './devnet/audit.ts';
import { assertSeen, retold, seen } from './devnet/truth.ts';
import { DevnetWorld } from './devnet/world.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

function busyTraders(): TraderConfig {
  const config = readTraderConfig();
  return { ...config, wallets: 6, launches: { ...config.launches, atStart: 2 } };
}

test('traders and executor carry on over forks, and the books are right', async (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test test/e2e/marketTraders.slow.test.ts`);
  const directory = temporaryDirectory();
  const traders = busyTraders();
  const world = await DevnetWorld.start(t, {
    directory,
    env: { BLOCK_EVERY_MS: '100' },
    devnet: { traders, pace: 20, seed: SEED },
  });
  const fills = () => {
    const orders = world.rows('orders').filter(([, text]) => text.includes('"executed"'));
    return Promise.resolve(orders.length);
  };
  await untilAsked('the first fills', fills, (count) => count >= 8);
  for (const [depth, resubmit] of [
    [1, 'all'],
    [10, 'none'],
    [8, 'all'],
  ] as const) {
    const before = (await world.client.devnet.fork({ depth, resubmit })).data.height;
    assert(before > 0);
    const left = await fills();
    await untilAsked(`fills after ${depth} ${resubmit}`, fills, (count) => count >= left + 5);
  }
  const { deployment } = world.kit.txContext;
  assert.equal(world.kit.isStale(), false, 'the chain is followed');
  await world.app.stop();
  const { counts, transactions } = audit(world.ledgerFile, deployment);
  t.diagnostic(`${transactions} transactions: ${JSON.stringify(counts)}`);
  assertSound(await verifyDirectory(directory, 2160));
  const others = /another genesis: continue it with the traders of .*npm start -- reset/;
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  await assert.rejects(DevnetWorld.start(t, { directory: copy }), others);
  // No more blocks: a market over the same chain that saw no fork gives the same answers.
  const last = await DevnetWorld.start(t, { directory, devnet: world.atRest });
  const tokens = last.rows('pools').map(([token]) => token);
  assert(tokens.length >= 2);
  const market = await seen(last, tokens);
  await last.app.stop();
  const second = await retold(t, last, temporaryDirectory());
  assertSeen(await seen(second, tokens), market, 'a replayed market');
});
