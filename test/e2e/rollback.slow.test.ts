/** A feed that is rolled back and fed again ends where it would have ended anyway. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { readHealth } from '../support/chart.ts';
import { type FeedTrade, linesOf, rollbackLine, XRP_ETH, xrpTrades } from '../support/feeds.ts';
import {
  type Environment,
  feedFile,
  runProgram,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { assertSame, assertVerified, assertXrp, markOf, untilSame } from './market.ts';

/** Rolls back to the moment of trade `to`, then continues from trade `from`. */
function rolledBack(trades: readonly FeedTrade[], to: number, from: number): string {
  const toMs = trades[to]?.timeMs ?? 0;
  return `${rollbackLine(toMs)}\n${linesOf(trades.slice(from))}`;
}

async function chartsOf(t: TestContext, port: number) {
  const json = await StrictClient.connect(t, port);
  const packed = await StrictClient.connect(t, port, 'msgpack');
  const subscriptions = [
    json.subscribe({ ...XRP_ETH, interval: 'min1' }),
    packed.subscribe({ ...XRP_ETH, interval: 'hour1' }),
    packed.subscribe({ ...XRP_ETH, interval: 'min5', maxHz: 20 }),
  ];
  await until('subscribed', () => subscriptions.every(({ snapshots }) => snapshots === 1));
  return { clients: [json, packed], subscriptions };
}

async function assertClients(
  url: string,
  clients: readonly StrictClient[],
  subscriptions: readonly StrictSubscription[],
): Promise<void> {
  for (const subscription of subscriptions) {
    await untilSame(url, subscription);
    assert.equal(subscription.losses, 0);
  }
  for (const client of clients) client.check();
}

test('one file with a shallow rollback: same candles, clients receive changed bars', async (t) => {
  const trades = xrpTrades();
  const env = { DATA_DIR: `${temporaryDirectory()}/data` };
  const server = await startServer(t, ['replay', '-'], env);
  const { clients, subscriptions } = await chartsOf(t, server.port);
  const { epoch } = await readHealth(server.url);
  server.program.stdin.write(linesOf(trades.slice(0, 6000)));
  server.program.stdin.end(rolledBack(trades, 5000, 0));
  const counts = await server.fed();
  assert.deepEqual([counts.rollbacks, counts.rejected], [1, 0]);
  await assertXrp(server.url, trades);
  await assertClients(server.url, clients, subscriptions);
  for (const { told } of subscriptions) assert.equal(told, 0, 'no snapshot was needed');
  for (const { revisions } of subscriptions.slice(0, 1)) assert(revisions > 0);
  assert.equal((await readHealth(server.url)).epoch, epoch);
  await server.stop();
  await assertVerified(env);
});

test('one file with a rollback beyond the horizon: new epoch, Resync and a snapshot', async (t) => {
  const trades = xrpTrades();
  const env = { DATA_DIR: `${temporaryDirectory()}/data`, HORIZON_BLOCKS: '500' };
  const server = await startServer(t, ['replay', '-'], env);
  const { clients, subscriptions } = await chartsOf(t, server.port);
  const before = await readHealth(server.url);
  server.program.stdin.write(linesOf(trades.slice(0, 6000)));
  server.program.stdin.end(rolledBack(trades, 2000, 1500));
  const counts = await server.fed();
  assert.deepEqual([counts.rollbacks, counts.rejected], [1, 0]);
  await assertXrp(server.url, trades);
  await assertClients(server.url, clients, subscriptions);
  for (const { told, resyncs, own } of subscriptions) {
    // With so small a horizon a flush may find that it lies beyond it: the client learns that too.
    assert.deepEqual(
      resyncs.filter((reason) => reason !== 'slow'),
      ['epoch'],
    );
    assert(told >= 1);
    assert.notEqual(own?.epoch, before.epoch);
  }
  const after = await readHealth(server.url);
  assert.equal(Number.parseInt(after.epoch, 10), Number.parseInt(before.epoch, 10) + 1);
  await server.stop();
  await assertVerified(env);
});

for (const [depth, horizon, back] of [
  ['within the horizon', '2160', 1000],
  ['beyond the horizon', '100', 6000],
] as const) {
  test(`a second feed rolls back ${depth}, brings the tail; the first adds nothing`, async (t) => {
    const trades = xrpTrades();
    const directory = temporaryDirectory();
    const env = { DATA_DIR: `${directory}/data`, HORIZON_BLOCKS: horizon };
    const file = feedFile(directory, 'first.ndjson', linesOf(trades));
    const target = trades.length - back;
    await replayed(file, env);
    const second = await startServer(t, ['replay', '-'], env);
    const client = await StrictClient.connect(t, second.port);
    const chart = await client.chart({ ...XRP_ETH, interval: 'min1' });
    await until('recovered', () => chart.recovered[0] === true);
    second.program.stdin.end(rolledBack(trades, target, target - 50));
    const counts = await second.fed();
    assert.deepEqual([counts.rollbacks, counts.rejected], [1, 0]);
    await assertXrp(second.url, trades);
    await untilSame(second.url, chart);
    assert.equal(chart.whole, depth === 'within the horizon');
    if (!chart.whole) await client.reload(chart);
    await assertSame(second.url, chart);
    client.check();
    const mark = await markOf(second);
    await second.stop();
    await assertVerified(env);
    const third = await startServer(t, ['replay', file], env);
    const again = await third.fed();
    assert.equal(again.trades, 0);
    // This is the hash of the state whose bars were compared above.
    assert.deepEqual(await markOf(third), mark, 'the first file adds nothing');
    await third.stop();
  });
}

async function replayed(file: string, env: Environment): Promise<void> {
  const { exit, program } = await runProgram(['replay', file, '--exit'], env);
  assert.equal(exit.code, 0, program.text);
}
