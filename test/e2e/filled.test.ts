/** A stream with `fill:"previous"`: flat bars begin, end and jump, and equal what HTTP fills. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { newTestApp } from '../support/app.ts';
import { readHistory } from '../support/chart.ts';
import {
  type FeedTrade,
  linesOf,
  type PairIds,
  rollbackLine,
  TOKEN_COIN,
  tradeAt,
} from '../support/feeds.ts';
import { StrictClient } from '../support/strictClient.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { untilSame } from './market.ts';

const START_MS = Date.UTC(2024, 4, 1);
const OTHER: PairIds = { base: `${'0d'.repeat(28)}.`, quote: '.' };

function at(minute: number, price: string): FeedTrade {
  return tradeAt(START_MS + minute * 60_000 + 5_000, price);
}

/** A trade of another pair: for the one we watch only time passes. */
function elsewhere(minute: number): FeedTrade {
  return tradeAt(START_MS + minute * 60_000 + 5_000, '1', { pair: OTHER });
}

async function filledStreams(t: TestContext) {
  const app = await newTestApp(t);
  const client = await StrictClient.connect(t, app.app.port);
  await app.feed(linesOf([at(0, '3')]), 0);
  const streams: StrictSubscription[] = [];
  for (const interval of ['min1', 'min5', 'hour1'] as const) {
    streams.push(await client.chart({ ...TOKEN_COIN, interval, fill: 'previous' }));
    const reversed = { base: TOKEN_COIN.quote, quote: TOKEN_COIN.base };
    streams.push(await client.chart({ ...reversed, interval, fill: 'previous' }));
    streams.push(await client.chart({ ...TOKEN_COIN, interval, fill: 'previous', maxHz: 20 }));
  }
  await until('answered', () => streams.every(({ asking }) => !asking));
  const same = async () => {
    client.check();
    for (const stream of streams) await untilSame(app.url, stream);
  };
  return { app, client, streams, same };
}

test('a flat bar begins with each interval, ends with it, and gives way to a trade', async (t) => {
  const { app, client, streams, same } = await filledStreams(t);
  await same();
  const [min1] = streams;
  assert(min1 !== undefined);
  for (const minute of [1, 2, 3, 4, 5, 6]) {
    await app.feed(linesOf([elsewhere(minute)]), 0);
    await same();
    assert.deepEqual([min1.newest?.trades, min1.newest?.close], [0, '3']);
    assert.equal(min1.newest?.time, START_MS / 1000 + minute * 60);
  }
  await app.feed(linesOf([at(7, '4'), elsewhere(8), at(8, '5')]), 0);
  await same();
  const bars = min1.sorted.map(({ trades, close }) => `${close}x${trades}`);
  assert.deepEqual(bars, ['3x1', '3x0', '3x0', '3x0', '3x0', '3x0', '3x0', '4x1', '5x1']);
  const finals = min1.finals.map(({ time }) => time);
  assert.equal(new Set(finals).size, finals.length, 'each final bar once');
  assert.deepEqual(min1.told, 0);
  client.check();
});

test('a jump of time brings every flat bar between; too many, a snapshot', async (t) => {
  const { app, streams, same } = await filledStreams(t);
  const [min1] = streams;
  assert(min1 !== undefined);
  await app.feed(linesOf([elsewhere(100)]), 0);
  await same();
  assert.equal(min1.bars.size, 101);
  assert.equal(min1.told, 0);
  await app.feed(linesOf([at(200, '6'), elsewhere(300)]), 0);
  await same();
  await app.feed(linesOf([elsewhere(2_000)]), 0);
  await same();
  assert.equal(min1.told, 1, 'more than 500 changed');
  assert.equal(min1.newest?.time, START_MS / 1000 + 2_000 * 60);
});

test('a late trade in a flat interval revises it and the flat bars that follow', async (t) => {
  const { app, streams, same } = await filledStreams(t);
  await app.feed(linesOf([elsewhere(10)]), 0);
  await same();
  await app.feed(linesOf([at(4, '9')]), 3_600_000);
  await same();
  const [min1] = streams;
  const known = min1?.sorted.filter(({ time }) => time >= START_MS / 1000 + 4 * 60);
  for (const bar of known ?? []) assert.equal(bar.close, '9');
});

test('a rollback takes flat bars back: a snapshot says what is left', async (t) => {
  const { app, client, streams, same } = await filledStreams(t);
  await app.feed(linesOf([elsewhere(3), at(5, '7'), elsewhere(20)]), 0);
  await same();
  await app.feed(`${rollbackLine(START_MS + 4 * 60_000)}\n`, 0);
  await same();
  for (const stream of streams) await client.reload(stream);
  await app.feed(linesOf([at(6, '8'), elsewhere(30)]), 0);
  await same();
  const history = await readHistory(app.url, { ...TOKEN_COIN, interval: 'min1', fill: 'previous' });
  assert.equal(history?.bars.length, 31);
});
