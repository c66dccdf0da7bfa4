/** A client stops reading for so long that the server skips frames for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type Notice } from '../../src/client/index.ts';
import { newTestApp, type TestApp } from '../support/app.ts';
import { lineOf, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { TcpProxy } from '../support/tcpProxy.ts';
import { until } from '../support/until.ts';
import { assertSame, barsLikeHttp } from './sameAsHttp.ts';

const NOON_MS = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const DEADLINE_MS = 60_000;
/** No client is disconnected here, however slow this machine is. */
const PATIENT = { silenceMs: 10 * MINUTE_MS, behindMs: 10 * MINUTE_MS, sweepMs: 10 };
const SMALL = { behindBytes: 4_096, wakeBytes: 1_024, bufferBytes: 16_384 };
/**
 * Each mirror subscribes to one stream; together they soon fill the kernel's buffer of a socket
 * that is not read.
 */
const MIRRORS = 40;
const MINUTES_A_ROUND = 50;
const MAX_ROUNDS = 90;

async function socketsBehind({ url }: TestApp): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^upcurve_sockets_behind_total (\d+)/m.exec(text)?.[1] ?? Number.NaN);
}

test('a client too slow for everything is notified, and loads what it missed', async (t) => {
  const gateway = { ...PATIENT, ...SMALL };
  const app = await newTestApp(t, { env: { NETWORK: 'none', HORIZON_BLOCKS: '10000' }, gateway });
  const proxy = await TcpProxy.start(t, app.app.port);
  const client = new Client({ url: proxy.url, silenceMs: 10 * MINUTE_MS });
  t.after(() => client.close());
  const notices: Notice[] = [];
  client.connection.onNotice((notice) => notices.push(notice));
  let minutes = 0;
  const feed = async (count: number) => {
    const lines = Array.from({ length: count }, () => {
      minutes += 1;
      const trade = tradeAt(NOON_MS + minutes * MINUTE_MS, `${1 + (minutes % 90)}`);
      return lineOf({ ...trade, id: `${minutes}` });
    });
    await app.feed(lines.join('\n'));
  };
  await feed(3);
  const mirrors = Array.from({ length: MIRRORS }, () => client.bars(TOKEN_COIN, 'min1'));
  await Promise.all(mirrors.map((mirror) => mirror.ready()));
  await feed(1);
  const isWhole = () => mirrors.every(({ state }) => state.bars.length === minutes);
  await until('all are live', isWhole, DEADLINE_MS);
  assert.deepEqual(notices, []);

  proxy.stopReading();
  let rounds = 0;
  while ((await socketsBehind(app)) === 0) {
    assert(rounds < MAX_ROUNDS, 'the socket is full at last');
    rounds += 1;
    await feed(MINUTES_A_ROUND);
  }
  // The server skips these frames, more than it may skip on one socket.
  await feed(MINUTES_A_ROUND);
  assert.deepEqual(notices, []);
  proxy.readOn();
  await until('it is notified', () => notices.length > 0, DEADLINE_MS);
  const bars = () => mirrors.map(({ state }) => state.bars.length);
  await until(() => `all ${minutes} bars, not ${bars()}`, isWhole, DEADLINE_MS);
  for (const { reason, topic, skipped } of notices) {
    assert.deepEqual([reason, topic], ['slow', 'LastBar']);
    assert(skipped > 0, 'with what was left out');
  }
  assert.equal(client.connection.state.is, 'open', 'on the same socket');
  for (const mirror of mirrors.slice(0, 2)) {
    await assertSame(barsLikeHttp(client, mirror, TOKEN_COIN, 'min1'), 'after the gap');
  }
  await feed(1);
  await until('live again', isWhole, DEADLINE_MS);
});
