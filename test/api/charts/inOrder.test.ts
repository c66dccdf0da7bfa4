/**
 * Bars live while trades come late: ordinary updates never go back in time and each end is sent
 * once (`StrictSubscription` checks both), for streams that are fast, slow, resumed or filled.
 * Replay a property: `{ seed, path }` as printed.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { lastBarTopic } from '../../../src/api/charts/topics.ts';
import { askSince } from '../../../src/api/topics/port.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { untilSame } from '../../e2e/market.ts';
import { newTestApp } from '../../support/app.ts';
import { type FeedTrade, linesOf, rollbackLine, TOKEN_COIN, tradeAt } from '../../support/feeds.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { StrictClient } from '../../support/strictClient.ts';
import { recordOf, type StrictSubscription } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { openSource } from '../topics/openSource.ts';

const START_MS = Date.UTC(2024, 4, 1);
const LATENESS_MS = 180_000;

async function openStreams(t: TestContext) {
  const app = await newTestApp(t);
  const { port } = app.app;
  await app.feed(linesOf([tradeAt(START_MS, '1', { id: 'first' })]), LATENESS_MS);
  const clients = await Promise.all([1, 2, 3].map(() => StrictClient.connect(t, port)));
  const [steady, slow, wandering] = clients;
  assert(steady !== undefined && slow !== undefined && wandering !== undefined);
  const streams: StrictSubscription[] = [];
  for (const client of clients) {
    streams.push(await client.chart({ ...TOKEN_COIN, interval: 'min1', price: 'spot' }));
    streams.push(await client.chart({ ...TOKEN_COIN, interval: 'min3', price: 'spot' }));
    streams.push(await client.chart({ ...TOKEN_COIN, interval: 'min3', fill: 'previous' }));
    for (const interval of ['min1', 'min5', 'min3'] as const) {
      streams.push(await client.chart({ ...TOKEN_COIN, interval }));
      streams.push(await client.chart({ ...TOKEN_COIN, interval, maxHz: 20 }));
      streams.push(await client.chart({ ...TOKEN_COIN, interval, fill: 'previous' }));
    }
  }
  await until('answered', () => streams.every(({ asking }) => !asking));
  return { app, steady, slow, wandering, clients, streams };
}

const move = fc.oneof(
  fc.integer({ min: -170_000, max: 20_000 }),
  fc.integer({ min: 0, max: 90_000 }),
  fc.constant(600_000),
);
const step = fc.record({
  moves: fc.array(move, { minLength: 1, maxLength: 12 }),
  before: fc.constantFrom('reconnect', 'pause', 'resume', 'nothing', 'rollback'),
});

test('ordinary updates never go back in time, and each end is sent once', async (t) => {
  const { app, steady, slow, wandering, clients, streams } = await openStreams(t);
  let newestMs = START_MS;
  let nextId = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      for (const { moves, before } of steps) {
        if (before === 'reconnect') await wandering.reconnect();
        if (before === 'pause') slow.pause();
        if (before === 'resume') slow.resume();
        const back = before === 'rollback' ? `${rollbackLine(newestMs - 200_000)}\n` : '';
        if (back !== '') newestMs -= 200_000;
        const trades = moves.map((by): FeedTrade => {
          const timeMs = newestMs + by;
          newestMs = Math.max(newestMs, timeMs);
          nextId += 1;
          const price = `1.${(nextId * 37) % 100}1`;
          return tradeAt(timeMs, price, { id: `${nextId}` });
        });
        await app.feed(back + linesOf(trades), LATENESS_MS);
      }
      slow.resume();
      for (const client of clients) client.check();
      for (const stream of streams) {
        await untilSame(app.url, stream);
        assert.equal(stream.refusals.length, 0);
      }
      for (const client of clients) client.check();
    }),
    // A failing run may take a minute, because its wait has to time out: shrinking would take the
    // time of the whole file.
    { numRuns: 25, includeErrorInReport: true, endOnFailure: true },
  );
  const [plain] = streams;
  assert(plain !== undefined && plain.told === 0);
  assert(plain.revisions > 0 && plain.updates > plain.revisions);
  steady.check();
});

test('a spot bar whose open changed comes at the position of that change', async (t) => {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'), {
    latenessMs: LATENESS_MS,
  });
  const feed = async (afterMs: number, price: string) => {
    await world.feed([linesOf([tradeAt(START_MS + afterMs, price)])]);
    return world.seq;
  };
  const first = await feed(0, '1.1');
  await feed(60_000, '1.2');
  // The first minute is open to late trades: its close moves, and with it the open of the second.
  const late = await feed(30_000, '1.3');
  const params = { pair: TOKEN_COIN, interval: 'min1', price: 'spot' };
  const source = openSource(lastBarTopic(world.node), params);
  const changes = askSince(source, first, world.seq);
  assert(changes !== null && !(changes instanceof Failure));
  // A client that already had every bar hears of the change too.
  const revised = changes.parts.find(({ event }) => event === 'BarsRevised');
  assert.equal(revised?.seq, late);
  const { bars } = recordOf(revised?.data);
  assert(Array.isArray(bars));
  const told = bars.map((bar) => {
    const { time, open, close } = recordOf(bar);
    return [Number(time) * 1000 - START_MS, open, close];
  });
  assert.deepEqual(told, [
    [0, '1.1', '1.3'],
    [60_000, '1.3', '1.2'],
  ]);
});
