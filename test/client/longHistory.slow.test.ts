/**
 * More bars than one answer has: the client loads all of them at the start, on request and after a
 * reload.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { HISTORY_LIMIT } from '../../src/api/charts/schema.ts';
import { type PeriodParams, tradingViewDatafeed } from '../../src/client/datafeed/index.ts';
import type { TradingViewBar } from '../../src/client/datafeed/tradingViewTypes.ts';
import { Client } from '../../src/client/index.ts';
import { newTestApp } from '../support/app.ts';
import { linesOf, rollbackLine, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { until } from '../support/until.ts';

const NOON_MS = Date.UTC(2026, 0, 5, 12);
const MORE = 20;
/** More than an answer has, and older ones than a mirror asks for at first. */
const WANTED = HISTORY_LIMIT + MORE;
const MINUTES = WANTED + MORE;

const timeOf = (minute: number) => NOON_MS / 1000 + 60 * minute;
const timesFrom = (minute: number, end = MINUTES) =>
  Array.from({ length: end - minute }, (_, index) => timeOf(minute + index));
const tradesOf = (from: number, end: number) =>
  linesOf(timesFrom(from, end).map((time) => tradeAt(time * 1000, '2')));

async function open(t: TestContext) {
  const app = await newTestApp(t, { env: { NETWORK: 'none', HORIZON_BLOCKS: '3' } });
  const client = new Client({ url: app.url });
  t.after(() => client.close());
  await app.feed(tradesOf(0, MINUTES));
  return { app, client };
}

test('a mirror of more bars than an answer has is whole, also after a reload', async (t) => {
  const { app, client } = await open(t);
  const bars = client.bars(TOKEN_COIN, 'min1', { limit: WANTED });
  const times = () => bars.state.bars.map(({ time }) => time);
  await bars.ready();
  assert.deepEqual(times(), timesFrom(MORE));
  assert.equal(bars.state.hasOlder, true);
  assert.equal(await bars.loadOlder(), true);
  assert.deepEqual(times(), timesFrom(0));
  assert.equal(bars.state.hasOlder, false);
  const caps = client.bars(TOKEN_COIN, 'min1', { limit: 10 });
  await caps.ready();
  assert.equal(await caps.loadOlder(WANTED), true, 'older ones, more than an answer has');
  assert.deepEqual(
    caps.state.bars.map(({ time }) => time),
    timesFrom(MORE - 10),
  );
  for (let minute = MINUTES; minute < MINUTES + 6; minute += 1) {
    await app.feed(tradesOf(minute, minute + 1));
  }
  await until('it is live', () => times().length === MINUTES + 6);
  const epoch = bars.position?.epoch;
  await app.feed(rollbackLine(timeOf(MINUTES) * 1000));
  await until('it is loaded again', () => bars.isClosed || bars.position?.epoch !== epoch);
  assert.equal(bars.error, null);
  await until('it is whole', () => times().length <= MINUTES + 1);
  assert.deepEqual(times().slice(0, MINUTES), timesFrom(0));
});

test('TradingView gets as many bars as it asks for, or all of a span', async (t) => {
  const { client } = await open(t);
  const feed = tradingViewDatafeed(client);
  const minutesOf = async (period: PeriodParams) => {
    const bars = await new Promise<TradingViewBar[]>((done, fail) => {
      const failed = (reason: string) => fail(new Error(reason));
      feed.getBars({ ticker: TOKEN_COIN.base }, '1', period, done, failed);
    });
    return bars.map(({ time }) => time / 1000);
  };
  const to = timeOf(MINUTES);
  const counted = { from: to - 60, to, countBack: WANTED, firstDataRequest: true };
  assert.deepEqual(await minutesOf(counted), timesFrom(MORE));
  const span = { from: timeOf(5), to, firstDataRequest: true };
  assert.deepEqual(await minutesOf(span), timesFrom(5));
});
