/** Coming back with `since`: from HTTP, from another epoch, while the feed runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTestApp } from '../support/app.ts';
import { readHealth } from '../support/chart.ts';
import { linesOf, rollbackLine, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { until, untilAsked } from '../support/until.ts';
import { assertSame, untilSame } from './market.ts';

const START_MS = Date.UTC(2024, 4, 1);
const params = { ...TOKEN_COIN, interval: 'min1' } as const;

test('HTTP history, then since its X-Position: no gap under a running feed', async (t) => {
  const server = await startServer(t, ['replay', '-', '--lateness', '0'], {
    DATA_DIR: temporaryDirectory(),
  });
  const client = await StrictClient.connect(t, server.port);
  let fed = 0;
  let feeding = true;
  const feed = async () => {
    for (; feeding; fed += 1) {
      const trade = tradeAt(START_MS + fed * 7_000, `${1 + (fed % 50)}`);
      server.program.stdin.write(linesOf([trade]));
      await new Promise((resolve) => setImmediate(resolve));
      // No faster than the server answers: a horizon of blocks must not pass between two requests.
      if (fed % 20 === 0) await readHealth(server.url);
    }
  };
  const done = feed();
  await untilAsked(
    'some trades',
    () => readHealth(server.url),
    ({ seq }) => seq > 20,
  );
  const charts: StrictSubscription[] = [];
  for (let i = 0; i < 10; i += 1) {
    charts.push(await client.chart(params));
    const enough = fed + 10;
    await until('more trades', () => fed > enough);
  }
  feeding = false;
  await done;
  server.program.stdin.end();
  await server.fed();
  for (const chart of charts) {
    await untilSame(server.url, chart);
    assert.deepEqual([chart.whole, chart.recovered, chart.losses], [true, [true], 0]);
  }
  client.check();
});

test('since in an older epoch: recovered:false and a snapshot, then updates', async (t) => {
  const app = await newTestApp(t, { env: { HORIZON_BLOCKS: '3' } });
  const trades = Array.from({ length: 20 }, (_, n) => tradeAt(START_MS + n * 60_000, `${n + 1}`));
  await app.feed(linesOf(trades));
  const client = await StrictClient.connect(t, app.app.port);
  const old = app.app.node.applied();
  const { epoch } = old;
  await app.feed(`${rollbackLine(START_MS + 5 * 60_000)}\n${linesOf(trades.slice(10))}`);
  const { epoch: now } = app.app.node.applied();
  assert.notEqual(now, epoch);
  const stream = client.subscribeSince(params, old);
  await until('answered', () => stream.snapshots === 1);
  assert.deepEqual([stream.recovered, stream.told, stream.own?.epoch], [[false], 1, now]);
  await app.feed(linesOf([tradeAt(START_MS + 30 * 60_000, '7')]));
  await untilSame(app.url, stream);
  client.check();
});

test('since beyond the horizon: recovered:false; within it only what changed', async (t) => {
  const app = await newTestApp(t, { env: { HORIZON_BLOCKS: '5' } });
  const trades = Array.from({ length: 20 }, (_, n) => tradeAt(START_MS + n * 60_000, `${n + 1}`));
  await app.feed(linesOf(trades));
  const { epoch, seq } = app.app.node.applied();
  const client = await StrictClient.connect(t, app.app.port);
  const far = client.subscribeSince(params, { epoch, seq: 3 });
  const near = client.subscribeSince(params, { epoch, seq: seq - 1 });
  const here = client.subscribeSince(params, { epoch, seq });
  await until('answered', () => [far, near, here].every(({ asking }) => !asking));
  await until('the snapshot', () => far.snapshots === 1);
  assert.deepEqual(far.recovered, [false]);
  assert.deepEqual([near.recovered, near.bars.size], [[true], 1]);
  assert.deepEqual([here.recovered, here.bars.size], [[true], 0]);
  await app.feed(linesOf([tradeAt(START_MS + 30 * 60_000, '7')]));
  for (const stream of [far, near, here]) {
    await until('the new trade', () => stream.newest?.close === '7' && stream.newest.final);
    await assertSame(app.url, stream);
  }
  client.check();
});

test('since that the only log does not have gets a snapshot, and says so', async (t) => {
  const app = await newTestApp(t, { gateway: { positionWaitMs: 30 } });
  await app.feed(linesOf([tradeAt(START_MS, '1')]));
  const { epoch, seq } = app.app.node.applied();
  const client = await StrictClient.connect(t, app.app.port);
  const ahead = client.subscribeSince(params, { epoch, seq: seq + 1 });
  const later = client.subscribeSince(params, { epoch: `9-${epoch.slice(2)}`, seq: 1 });
  for (const stream of [ahead, later]) {
    await until('answered', () => stream.recovered.length > 0);
    assert.deepEqual(stream.recovered, [false]);
    await untilSame(app.url, stream);
  }
  client.check();
});

test("a rollback of the newest bar leaves the client with the server's newest", async (t) => {
  const app = await newTestApp(t);
  const client = await StrictClient.connect(t, app.app.port);
  const all = client.subscribe(params);
  const other = { base: `${'0d'.repeat(28)}.`, quote: '.' };
  // The other pair's trade ends the first bar, so that the rollback leaves it as it is.
  const between = tradeAt(START_MS + 600_000, '9', { pair: other });
  const trades = [tradeAt(START_MS, '1'), between, tradeAt(START_MS + 1_200_000, '2')];
  await app.feed(linesOf(trades));
  const late = client.subscribe(params);
  await until('subscribed', () => late.snapshots === 1);
  assert.equal(late.bars.size, 1, 'only the bar that will be removed');
  await app.feed(`${rollbackLine(START_MS + 600_000)}\n`);
  for (const stream of [all, late]) {
    await untilSame(app.url, stream);
    assert.equal(stream.newest?.close, '1');
  }
  await app.feed(`${rollbackLine(START_MS - 1)}\n`);
  for (const stream of [all, late]) await untilSame(app.url, stream);
  assert.deepEqual([all.newest, late.newest], [null, null], 'nothing is traded any more');
  client.check();
});
