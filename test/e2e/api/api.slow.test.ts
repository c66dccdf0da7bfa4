/**
 * Compares every row of protocol.md, over real HTTP and WebSocket, with the answer of a naive
 * reader of the chain.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTraderConfig } from '../../../src/traders/config.ts';
import { LONG_ONLY } from '../../support/long.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { DevnetWorld } from '../devnet/world.ts';
import { compareAll } from './compare.ts';
import { Documents } from './conforms.ts';
import { settle } from './rest.ts';
import { REFUND_AFTER_MS, Scene } from './scene.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const FILLS = 24;
const STRANGER = 'cd'.repeat(28);

async function compare(what: string, world: DevnetWorld, walletPkhs: readonly string[]) {
  const market = await settle(world);
  assert(market.chain.trades.length >= FILLS, 'there is something to compare');
  const { url } = world;
  return { market, answers: await compareAll(what, { url, market, walletPkhs }) };
}

/** The check of types finds a planted fault. */
async function assertBites(url: string): Promise<void> {
  const documents = await Documents.read(url);
  const route = 'GET /v1/pools-main-page/koth';
  const answer = await fetch(`${url}${route.slice(4)}`);
  const pool = Object(await answer.json());
  documents.answer(route, 200, pool);
  const { info: _info, ...less } = pool;
  for (const wrong of [
    less,
    { ...pool, more: 1 },
    { ...pool, pool: { ...pool.pool, aNum: '1' } },
    { ...pool, pool: { ...pool.pool, x: { ...pool.pool.x, amount: 1 } } },
    { ...pool, info: { ...pool.info, socials: { ...pool.info.socials, twitter: undefined } } },
    { ...pool, metrics: { ...pool.metrics, crowned: 'never' } },
    [pool],
  ]) {
    assert.throws(() => documents.answer(route, 200, wrong), /documented type/);
  }
  assert.throws(() => documents.answer(route, 418, pool), /not documented/);
}

test('every answer is what the chain says: at rest, after a fork, after a restart', async (t) => {
  const directory = temporaryDirectory();
  const env = { ORDER_REFUND_AFTER_MS: String(REFUND_AFTER_MS) };
  const world = await DevnetWorld.start(t, { directory, env });
  const { pkhs, stranded } = await Scene.play(world);
  await t.test('at rest', async () => {
    const { market, answers } = await compare('at rest', world, pkhs);
    t.diagnostic(`${answers} answers at height ${world.tip?.height}`);
    const open = market.chain.orders.filter(({ closed }) => closed === null);
    assert.deepEqual(new Set(open.map(({ ref }) => ref)), stranded);
    assert(market.tokens.filter((token) => market.pools.crowned(token) !== null).length > 1);
  });
  await t.test('another type, a field too many or too few is noticed', async () => {
    await assertBites(world.url);
  });
  await t.test('after a fork, and one that lost what it held', async () => {
    await world.fork(3, 'all');
    await settle(world);
    await world.fork(6, 'none');
    await compare('after forks', world, pkhs);
  });
  await t.test('after a restart', async () => {
    await world.app.stop();
    const again = await DevnetWorld.start(t, { directory, env });
    await compare('after a restart', again, pkhs);
  });
});

test('a market made by simulated traders is what the chain says', LONG_ONLY, async (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test test/e2e/api/api.slow.test.ts`);
  const directory = temporaryDirectory();
  const config = readTraderConfig();
  const traders = { ...config, wallets: 5, launches: { ...config.launches, atStart: 3 } };
  const world = await DevnetWorld.start(t, {
    directory,
    env: { BLOCK_EVERY_MS: '100' },
    devnet: { traders, pace: 20, seed: SEED },
  });
  const fills = () => world.rows('orders').filter(([, text]) => text.includes('"executed"')).length;
  await until('the first fills', () => fills() >= FILLS / 2);
  const { data } = await world.client.devnet.fork({ depth: 6, resubmit: 'all' });
  assert(data.height > 0);
  await until('more fills', () => fills() >= FILLS + FILLS / 2);
  await world.app.stop();
  const quiet = await DevnetWorld.start(t, { directory, devnet: world.atRest });
  // The wallets of traders come from the genesis, which no block tells.
  const { answers } = await compare('the traders’ market', quiet, [STRANGER]);
  t.diagnostic(`${answers} answers at height ${quiet.tip?.height}`);
});
