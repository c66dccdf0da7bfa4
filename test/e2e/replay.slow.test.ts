/** Real trades in, the exchange's own candles out, over HTTP and as final bars over WebSocket. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { readHistory } from '../support/chart.ts';
import {
  DOGE_COIN,
  dogeCandles,
  linesOf,
  shuffledWithinMinute,
  tradesOfCandles,
  withDuplicates,
  XRP_ETH,
  xrpTrades,
} from '../support/feeds.ts';
import { IS_LONG } from '../support/long.ts';
import { startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import {
  assertBarsOverHttp,
  assertCandles,
  assertSame,
  assertVerified,
  assertXrp,
  endOf,
  marketAfter,
} from './market.ts';

async function openReplay(t: TestContext, args: readonly string[] = []) {
  const directory = temporaryDirectory();
  const env = { DATA_DIR: `${directory}/data` };
  const server = await startServer(t, ['replay', '-', ...args], env);
  return { directory, env, server };
}

test('XRP/ETH gives every candle of the exchange, over HTTP and as final bars', async (t) => {
  const { env, server } = await openReplay(t);
  const { port, url } = server;
  const trades = xrpTrades();
  const clients = await Promise.all([
    StrictClient.connect(t, port, 'json'),
    StrictClient.connect(t, port, 'msgpack'),
  ]);
  const streams = clients.map((client) => ({
    min1: client.subscribe({ ...XRP_ETH, interval: 'min1' }),
    min5: client.subscribe({ ...XRP_ETH, interval: 'min5' }),
  }));
  for (const { min1, min5 } of streams) {
    await until('subscribed', () => min1.snapshots === 1 && min5.snapshots === 1);
  }
  server.program.stdin.end(linesOf(trades));
  const counts = await server.fed();
  assert.deepEqual([counts.trades, counts.rejected, counts.late], [trades.length, 0, 0]);
  await assertXrp(url, trades);
  for (const { min1, min5 } of streams) {
    const minutes = await readHistory(url, { ...XRP_ETH, interval: 'min1' });
    await until('all final', () => min1.finals.length >= 2469 && min5.newest?.final === true);
    assert.equal(assertCandles(finalBars(min1), '1m'), 2469);
    assert.deepEqual(finalBars(min1), minutes?.bars);
    assert.equal(assertCandles(finalBars(min5), '5m'), 706);
    for (const stream of [min1, min5]) {
      assert.deepEqual([stream.losses, stream.told], [0, 0]);
      await assertSame(url, stream);
    }
  }
  for (const client of clients) client.check();
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  await assertVerified(env);
});

test('shuffled within each minute and with duplicates it gives the same candles', async (t) => {
  const { env, server } = await openReplay(t);
  const trades = xrpTrades();
  const seed = 20191011;
  const fed = withDuplicates(shuffledWithinMinute(trades, seed), seed, 5);
  const client = await StrictClient.connect(t, server.port);
  const min1 = client.subscribe({ ...XRP_ETH, interval: 'min1' });
  await until('subscribed', () => min1.snapshots === 1);
  server.program.stdin.end(linesOf(fed));
  const counts = await server.fed();
  assert(fed.length > trades.length + 2000, `${fed.length} lines`);
  assert.equal(counts.trades, trades.length);
  assert.equal(counts.duplicates, fed.length - trades.length);
  await assertXrp(server.url, trades);
  await until('all final', () => min1.finals.length >= 2469);
  client.check();
  assert.equal(assertCandles(finalBars(min1), '1m'), 2469);
  assert.deepEqual([min1.losses, min1.told], [0, 0]);
  await server.stop();
  await assertVerified(env);
});

test('coarse bars are the roll-up of traded bars, and the exchange agrees (DOGE)', async (t) => {
  const { server } = await openReplay(t);
  // A week. `npm run test:long` compares a month too.
  const endS = (IS_LONG ? Date.UTC(2024, 1, 5) : Date.UTC(2024, 0, 8)) / 1000;
  const fine = dogeCandles('5m').filter(({ time }) => time < endS);
  const trades = tradesOfCandles(fine, DOGE_COIN);
  server.program.stdin.end(linesOf(trades));
  await server.fed();
  await assertBarsOverHttp(server.url, DOGE_COIN, trades, marketAfter(trades));
  for (const [interval, name] of [
    ['min5', '5m'],
    ['hour1', '1h'],
    ['day1', '1d'],
    ['week1', '1w'],
    ['month1', '1Mo'],
  ] as const) {
    const history = await readHistory(server.url, { ...DOGE_COIN, interval });
    const whole = history?.bars.filter(({ time }) => endOf(interval, time) <= endS) ?? [];
    const theirs = dogeCandles(name).filter(({ time }) => endOf(interval, time) <= endS);
    const ours = whole.map(({ time, open, high, low, close, baseVolume }) => {
      return { time, open, high, low, close, baseVolume };
    });
    assert.deepEqual(ours, theirs, name);
  }
});

function finalBars({ finals }: StrictSubscription) {
  return finals.map(({ bar }) => bar);
}
