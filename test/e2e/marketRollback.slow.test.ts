/**
 * Rollbacks in the middle of trading: the market returns to its earlier state, trading continues,
 * nothing happens twice, and in the end the market of every node equals the chain's.
 */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { Listener } from '../api/marketApi.ts';
import { refusalOf } from '../support/apiError.ts';
import { assertSound, verifyDirectory } from '../support/app.ts';
import { readHealth } from '../support/chart.ts';
import { temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { untilAsked } from '../support/until.ts';
import { audit } from './devnet/audit.ts';
import { assertSeen, retold, seen } from './devnet/truth.ts';
import { ADA, DevnetWorld } from './devnet/world.ts';
import { untilSame } from './market.ts';

interface Scene {
  readonly world: DevnetWorld;
  readonly alice: TradingClient;
  readonly bob: TradingClient;
  readonly token: string;
  readonly client: StrictClient;
  readonly charts: readonly StrictSubscription[];
  readonly caps: Listener;
  /** Orders that were ever placed, dropped ones too. */
  readonly placed: Set<string>;
}

async function setScene(t: TestContext, directory: string): Promise<Scene> {
  const world = await DevnetWorld.start(t, { directory });
  const alice = await world.funded('alice', 500, 6);
  const bob = await world.funded('bob', 500, 6, false);
  const { asset: token } = await world.launch(alice, { initialLovelace: 40n * ADA });
  const client = await StrictClient.connect(t, world.port);
  const charts = [
    await client.chart({ base: token, quote: '.', interval: 'min1' }),
    await client.chart({ base: token, quote: '.', interval: 'hour1' }),
    client.subscribe({ base: token, quote: '.', interval: 'min5' }),
  ];
  const data = { pair: { base: token, quote: '.' }, interval: 'hour1' };
  const caps = await Listener.open(t, world, 'MCapBar', data);
  return { world, alice, bob, token, client, charts, caps, placed: new Set() };
}

/** Places an order that waits in the mempool. */
async function ask(
  scene: Scene,
  trader: TradingClient,
  side: 'BUY' | 'SELL',
  amount: bigint,
): Promise<string> {
  const request = { assetId: scene.token, side, amount, slippage: 'infinity' } as const;
  const { id } = await trader.order(request);
  scene.placed.add(id);
  return id;
}

/** A block in which a batch executes the orders of the last block, and new orders come. */
async function busyBlock(
  scene: Scene,
  number: number,
  before: readonly string[],
): Promise<string[]> {
  const { world, alice, bob } = scene;
  const amount = BigInt(3 + (number % 5)) * ADA;
  const orders = [
    await ask(scene, alice, 'BUY', amount),
    await ask(scene, bob, 'BUY', amount + 1n),
  ];
  if (number % 3 === 2) orders.push(await ask(scene, alice, 'SELL', 700_000n + BigInt(number)));
  for (const id of before) await world.wanted(id);
  await world.mine();
  return orders;
}

/** Blocks until no order is open and nothing waits to be executed. */
async function settle({ world }: Scene): Promise<void> {
  await untilAsked(
    () => `every order is done; open: ${world.rows('open_orders').length}`,
    async () => {
      await world.mine();
      return world.rows('open_orders').length;
    },
    (open) => open === 0,
  );
}

async function rollBack(scene: Scene, depth: number, resubmit: 'all' | 'none'): Promise<void> {
  const { world, alice, charts, caps, token } = scene;
  const what = `${depth} blocks back, resubmit ${resubmit}`;
  let orders = await busyBlock(scene, 1, []);
  for (const id of orders) await world.wanted(id);
  const mark = await seen(world, [token]);
  const { epoch } = await readHealth(world.url);
  const height = world.tip?.height ?? 0;
  const trades = Math.min(depth, 6);
  for (let block = 0; block < trades; block += 1) {
    if (block === trades - 1 && depth > trades) await world.mine(depth - trades);
    orders = await busyBlock(scene, block + 2, orders);
  }
  assert.equal(world.tip?.height, height + depth);
  await untilSame(world.url, charts[0] ?? assert.fail());
  const revised = charts.map(({ revisions }) => revisions);
  const capsRevised = revisionsOf(caps);
  await ask(scene, alice, 'BUY', 9n * ADA);

  await world.fork(depth, resubmit);
  assert.equal(world.tip?.height, height, what);
  assertSeen(await seen(world, [token]), mark, what);
  for (const [index, chart] of charts.entries()) {
    await untilSame(world.url, chart);
    assert(chart.revisions > (revised[index] ?? 0), `${what}: clients receive it`);
    assert.equal(chart.losses, 0);
  }
  await untilCap(scene);
  assert(revisionsOf(caps) > capsRevised, `${what}: those of market caps too`);
  assert.equal((await readHealth(world.url)).epoch, epoch, `${what}: the same epoch`);

  await settle(scene);
  const [, order] = await world.filled(alice, {
    assetId: token,
    side: 'BUY',
    amount: 6n * ADA,
    slippage: '15',
  });
  assert.equal(order.state, 'executed', 'the executor carries on');
  if (resubmit === 'all') {
    for (const id of orders) assert.equal(world.order(id).state, 'executed', `${what}: ${id}`);
  }
  await world.assertSpentOnce();
}

function revisionsOf({ frames }: Listener): number {
  return frames.filter(({ event }) => event === 'BarsRevised').length;
}

/** The last frame says what HTTP says. */
async function untilCap({ world, caps, token }: Scene): Promise<void> {
  const path = `/v1/charts/mcap/initial-state?base=${token}&quote=.&resolution=hour1`;
  const close = (bar: unknown) => Reflect.get(Object(bar), 'mCap');
  await untilAsked(
    'the market cap of HTTP',
    async () => close(Reflect.get(Object((await world.get(path)).body), 'bar')),
    (cap) => close(caps.last?.data) === cap,
  );
}

/** Every order on the chain was filled once; the wallets' outputs equal the market's holdings. */
async function finish(t: TestContext, scene: Scene, again: string, isWhole: boolean) {
  const { world, token, client, charts, alice, bob } = scene;
  for (const chart of charts) await untilSame(world.url, chart);
  await untilCap(scene);
  client.check();
  const known = [...scene.placed].filter((id) => world.rows('orders').some(([key]) => key === id));
  for (const id of known) assert.equal(world.order(id).state, 'executed');
  for (const trader of [alice, bob]) {
    const { address } = trader.wallet;
    const utxos = await trader.utxos();
    const held = utxos.reduce((sum, { value }) => sum + (value.assets.get(token) ?? 0n), 0n);
    assert.equal(String(world.row('holdings', `${token}/${address}`) ?? 0), String(held));
  }
  const executed = world.rows('orders').filter(([, text]) => text.includes('"executed"')).length;
  const last = await seen(world, [token]);
  const { deployment } = world.kit.txContext;
  await world.app.stop();
  assertSound(await verifyDirectory(world.directory, 2160));
  if (isWhole) {
    const { counts } = audit(world.ledgerFile, deployment);
    assert.equal(counts['fill CURVE'], executed, 'each order is filled once');
  }
  const second = await retold(t, world, again);
  assertSeen(await seen(second, [token]), last, 'a replayed market');
  await second.app.stop();
}

/** A launch that is taken back: its token is unknown again, then back or not. */
async function rollBackLaunch(scene: Scene): Promise<void> {
  const { world, bob, token } = scene;
  for (const resubmit of ['none', 'all'] as const) {
    const mark = await seen(world, [token]);
    const { asset } = await world.launch(bob, { name: `Late ${resubmit}` });
    const request = { assetId: asset, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
    await world.filled(bob, request);
    const height = world.tip?.height ?? 0;
    await world.fork(3, resubmit);
    assertSeen(await seen(world, [token]), mark, resubmit);
    assert.equal((await refusalOf(bob.quote(request))).cause, 'ASSET_NOT_FOUND');
    assert.equal(world.tip?.height, height - 3);
    await world.mine(3);
    assert.equal(world.row('pools', asset) !== null, resubmit === 'all');
  }
  await settle(scene);
}

test('rollbacks of 1 and 10 blocks, with and without what they held', async (t) => {
  const scene = await setScene(t, temporaryDirectory());
  for (const depth of [1, 10]) {
    for (const resubmit of ['none', 'all'] as const) {
      await t.test(`${depth}, ${resubmit}`, () => rollBack(scene, depth, resubmit));
    }
  }
  await t.test('a launch', () => rollBackLaunch(scene));
  await t.test('the market is what the chain says', () =>
    finish(t, scene, temporaryDirectory(), true),
  );
});

/**
 * A folder in memory, if the system has one, because 2160 blocks of small commits take long on a
 * disk.
 */
function quickDirectory(t: TestContext): string {
  if (!existsSync('/dev/shm')) return temporaryDirectory();
  const directory = mkdtempSync('/dev/shm/upcurve-');
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('a rollback of 2160 blocks', async (t) => {
  const scene = await setScene(t, quickDirectory(t));
  await rollBack(scene, 2160, 'none');
  await finish(t, scene, quickDirectory(t), false);
});
