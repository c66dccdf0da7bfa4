/** Several nodes that follow an external chain: the chain is the truth, not NATS. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADA, type DevnetWorld } from '../e2e/devnet/world.ts';
import { until, untilAsked } from '../support/until.ts';
import { LIMIT_MS, leaderOf, RealMarket, said, urlsOf } from './realNodes.ts';

async function marketOn(network: DevnetWorld) {
  const alice = await network.funded('alice', 500, 6);
  const { asset: token } = await network.launch(alice, { initialLovelace: 40n * ADA });
  const buy = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: 'infinity' } as const;
  return { token, fill: () => network.filled(alice, buy) };
}

async function assertTrades(network: DevnetWorld, token: string, urls: readonly string[]) {
  const path = `/v1/trades?asset=${token}`;
  const { body } = await network.get(path);
  assert.ok(Array.isArray(body) && body.length > 0);
  for (const url of urls) assert.deepEqual(await (await fetch(url + path)).json(), body, url);
}

/** How often a node has stopped leading. */
async function leadEnds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^upcurve_lead_ends_total (\d+)$/m.exec(text)?.[1] ?? assert.fail(text));
}

test('the leader is killed or stopped, and another one follows the same chain', async (t) => {
  const market = await RealMarket.start(t);
  const { network } = market.world;
  const { token, fill } = await marketOn(network);
  const killed = await market.process('a');
  await market.same(killed.url);
  const rest = (await Promise.all([market.node('b'), market.node('c')])).map(({ app }) => app);
  await fill();
  await market.same(...urlsOf(killed, ...rest));
  await killed.program.kill();
  await fill();
  const stopped = leaderOf(rest, await market.same(...urlsOf(...rest)));
  await stopped.stop();
  await fill();
  const left = rest.find((node) => node !== stopped) ?? assert.fail();
  await market.same(left.url);
  const fresh = await market.process('d');
  await network.fork(3, 'none');
  await network.mine(5);
  await market.same(left.url, fresh.url);
  await assertTrades(network, token, [left.url, fresh.url]);
  // A node can stop without NATS.
  await market.nats.kill();
  await network.mine();
  assert.deepEqual(await fresh.stop(), { code: 0, signal: null });
});

test('all nodes follow a fork, and open a new epoch when NATS lost everything', async (t) => {
  const market = await RealMarket.start(t);
  const { network } = market.world;
  const { token, fill } = await marketOn(network);
  const some = { SNAPSHOT_EVERY: '10' };
  const started = await Promise.all([market.node('a', some), market.node('b', some)]);
  const nodes = started.map(({ app }) => app);
  const urls = urlsOf(...nodes);
  await fill();
  await market.same(...urls);
  await network.fork(4, 'all');
  await network.mine(6);
  await market.same(...urls);
  await fill();
  const all = await market.same(...urls);
  const leader = leaderOf(nodes, all);
  const { ogmios } = market.world.bridge;
  ogmios.faults.refuse();
  ogmios.dropAll();
  const heard = () => Promise.all(nodes.map(({ url }) => said(url)));
  const [from] = await untilAsked(
    'the leader has no new block',
    heard,
    (now) => now.every(({ url, isStale }) => isStale === (url === leader.url)),
    LIMIT_MS,
  );
  assert.equal(from?.position, all[0]?.position, 'and all have what there is');
  ogmios.faults.accept();
  await market.nats.restart('deleted');
  await fill();
  await untilAsked(
    'another epoch',
    heard,
    (now) => now.every(({ epoch }) => epoch !== from?.epoch),
    LIMIT_MS,
  );
  await market.same(...urls);
  await assertTrades(network, token, urls);
  const log = await market.log();
  const begins = await log.first();
  // Snapshots are taken, and the log is trimmed, while entries come. Blocks that no node awaits
  // would take the chain's time ahead of the clocks, and nodes refuse entries of the future.
  const mined = async () => {
    await network.mine(5);
    await market.same(...urls);
    return log.first();
  };
  await untilAsked('the log is trimmed', mined, (first) => first > begins, LIMIT_MS);
  // From a snapshot: the log before it is gone.
  const fresh = await market.node('d', some);
  await market.same(...urls, fresh.app.url);
  await assertTrades(network, token, [fresh.app.url]);
});

test('a leader whose Ogmios is away or behind steps down, and takes nothing back', async (t) => {
  const market = await RealMarket.start(t);
  const { network } = market.world;
  const { token, fill } = await marketOn(network);
  const env = { OGMIOS_PATIENCE_MS: '400' };
  // It begins the log, and cannot lead.
  const late = await market.nodeWithOgmios('a', env, 'refusing');
  const nodes = [late, await market.nodeWithOgmios('b', env)];
  await untilAsked(
    'one leads that can',
    () => Promise.all(nodes.map(({ url }) => said(url))),
    ([a, b]) => a?.role === 'follower' && b?.role === 'leader',
    LIMIT_MS,
  );
  late.bridge.ogmios.faults.accept();
  const urls = urlsOf(...nodes);
  await fill();
  const first = leaderOf(nodes, await market.same(...urls));
  const other = nodes.find((node) => node !== first) ?? assert.fail();
  first.bridge.ogmios.faults.refuse();
  first.bridge.ogmios.dropAll();
  await fill();
  const found = await market.same(...urls);
  assert.equal(leaderOf(nodes, found), other, 'another one leads, and all have the log');
  const [shown = assert.fail()] = found;
  await other.stop();
  const { faults } = first.bridge.ogmios;
  const tried = faults.refused;
  await until('it tries to reach its node', () => faults.refused > tried + 2, LIMIT_MS);
  const alone = await said(first.url);
  assert.deepEqual([alone.role, alone.term], ['follower', shown.term], 'it cannot lead');
  // A block or two behind it leads, waits, and gives way until its node has as much as the log.
  const catchUp = await market.behind(first, 2);
  const ends = await leadEnds(first.url);
  faults.accept();
  await untilAsked(
    'it led, and has given way',
    () => leadEnds(first.url),
    (now) => now > ends,
    LIMIT_MS,
  );
  assert((await said(first.url)).term > shown.term);
  assert.equal((await said(first.url)).hash, shown.hash, 'nothing was taken back');
  await assertTrades(network, token, [first.url]);
  catchUp();
  await market.same(first.url);
  await fill();
  await first.bridge.settled();
  await market.same(first.url);
  // The node had gone elsewhere: its chain counts, once it is as long.
  first.bridge.ogmios.dropAll();
  await network.fork(3, 'none');
  await network.mine(4);
  await first.bridge.settled();
  await market.same(first.url);
  await assertTrades(network, token, [first.url]);
});
