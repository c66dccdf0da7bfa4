/**
 * The whole app on a real network, which is a devnet behind a fake Ogmios: this app shows the
 * network's events over HTTP and WebSocket, and has the same market as a second devnet app over the
 * same chain.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { assertSound, verifyDirectory } from '../support/app.ts';
import { temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import { retold } from './devnet/truth.ts';
import { ADA } from './devnet/world.ts';
import { untilSame } from './market.ts';
import { type Real, RealWorld } from './realChainWorld.ts';

const LISTS = ['New', 'Latest', 'MCapDesc', 'CompletedCreateOn', 'CompletedMCap', 'Trending'];

/** Makes launches, trades, a cancelled order, and one that stays open. */
async function trade(world: RealWorld): Promise<string> {
  const { network } = world;
  const alice = await network.funded('alice', 500, 6);
  const { asset: token } = await network.launch(alice, { initialLovelace: 40n * ADA });
  const buy = { assetId: token, side: 'BUY', amount: 20n * ADA, slippage: 'infinity' } as const;
  await network.filled(alice, buy);
  await network.filled(alice, { ...buy, side: 'SELL', amount: 1_000_000n });
  return token;
}

async function settled({ network, bridge }: RealWorld, real: Real): Promise<void> {
  await bridge.settled();
  await real.shows(network.tip?.hash ?? null);
}

/** Compares both apps' answers about the market, over HTTP. */
async function assertSame({ network }: RealWorld, real: Real, token: string): Promise<void> {
  const pair = `base=${token}&quote=.&from=0&to=253402300799`;
  const paths = [
    ...LISTS.map((filter) => `/v1/pools-main-page/initial/state?filter=${filter}`),
    `/v1/pools-feed/initial/state?asset=${token}`,
    `/v1/trades?asset=${token}`,
    `/balances/v1/pool/holders?assetId=${token}`,
    ...['min1', 'hour1', 'month1'].map((each) => `/v1/charts/history?${pair}&resolution=${each}`),
  ];
  for (const path of paths) {
    const [there, here] = [await network.get(path), await real.get(path)];
    assert.equal(here.status, there.status, path);
    assert.deepEqual(here.body, there.body, path);
    assert.equal(here.headers.get('x-block-hash'), network.tip?.hash, path);
  }
}

async function servesWhatHappens(t: TestContext, world: RealWorld): Promise<void> {
  const real = await world.follow();
  await settled(world, real);
  const client = await StrictClient.connect(t, real.app.app.port);
  const token = await trade(world);
  await settled(world, real);
  await assertSame(world, real, token);
  const chart = await client.chart({ base: token, quote: '.', interval: 'min1' });
  const { network } = world;
  const alice = network.trader('alice');
  const buy = { assetId: token, side: 'BUY', amount: 7n * ADA, slippage: 'infinity' } as const;
  await network.filled(alice, buy);
  await settled(world, real);
  await assertSame(world, real, token);
  await untilSame(real.app.url, chart);
  client.check();
  await real.app.stop();
  assertSound(await verifyDirectory(real.directory, 2160));
}

/** Ends the network. */
async function makesTheSame(t: TestContext, world: RealWorld): Promise<void> {
  await world.network.mine(40);
  const real = await world.follow();
  await settled(world, real);
  const { stateHash, seq } = (await real.ready()).body;
  await real.app.stop();
  await world.bridge.stop();
  await world.network.app.stop();
  const again = await retold(t, world.network, temporaryDirectory());
  const { node } = again.app.app;
  assert.equal(node.applied().seq, seq);
  assert.equal(node.stateHash(), stateHash);
}

test('a real network: what happens there shows here', async (t) => {
  const world = await RealWorld.start(t);
  await t.test('over HTTP and WebSocket', (each) => servesWhatHappens(each, world));
  await t.test('both adapters make the same of one chain', (each) => makesTheSame(each, world));
});
