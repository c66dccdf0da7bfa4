/** SIGTERM: sockets get a shutdown notice, everything is written, the exit code is 0. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHealth } from '../support/chart.ts';
import { linesOf, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { feedFile, startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import { until, untilAsked } from '../support/until.ts';
import { assertVerified } from './market.ts';

const START_MS = Date.UTC(2024, 4, 1);
const TRADES = 6_000;
/** Half of the trades come at once and the rest in an hour: the replay is never over too soon. */
const SPEED = '200000';
const GAP_MS = 3_600_000 * Number(SPEED);

test('SIGTERM tells every socket, closes with 4001 and exits with 0', async (t) => {
  const env = { DATA_DIR: `${temporaryDirectory()}/data` };
  const server = await startServer(t, [], env);
  const clients = [
    await StrictClient.connect(t, server.port),
    await StrictClient.connect(t, server.port, 'msgpack'),
  ];
  const streams = clients.map((client) => client.subscribe({ ...TOKEN_COIN, interval: 'min1' }));
  await until('subscribed', () => streams.every(({ snapshots }) => snapshots === 1));
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  for (const client of clients) {
    assert.equal(await client.closed(), 4001);
    assert.equal(typeof Reflect.get(Object(client.shutdown), 'reconnectAfterMs'), 'number');
    client.check();
  }
});

test('SIGTERM within a replay: exit 0, a sound state, and the same file continues', async (t) => {
  const directory = temporaryDirectory();
  const trades = Array.from({ length: TRADES }, (_, index) => {
    const timeMs = START_MS + index * 20_000 + (index < TRADES / 2 ? 0 : GAP_MS);
    return tradeAt(timeMs, `${1 + (index % 90)}`, { id: `${index}` });
  });
  const file = feedFile(directory, 'feed.ndjson', linesOf(trades));
  const env = { DATA_DIR: `${directory}/data` };
  const server = await startServer(t, ['replay', file, '--speed', SPEED], env);
  const client = await StrictClient.connect(t, server.port);
  client.subscribe({ ...TOKEN_COIN, interval: 'min1' });
  await untilAsked(
    'some entries',
    () => readHealth(server.url),
    ({ seq }) => seq > 500,
  );
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.equal(await client.closed(), 4001);
  client.check();
  await assertVerified(env);
  const second = await startServer(t, ['replay', file], env);
  const counts = await second.fed();
  assert(Number(counts.resumedAfterLine) > 0 && Number(counts.trades) > 0);
  assert.equal(Number(counts.resumedAfterLine) + Number(counts.lines), trades.length);
  const history = await readHealth(second.url);
  assert.equal(history.synced, true);
  await second.stop();
  await assertVerified(env);
});

test('SIGTERM while standard input rests ends the program', async (t) => {
  const env = { DATA_DIR: `${temporaryDirectory()}/data` };
  const server = await startServer(t, ['replay', '-'], env);
  server.program.stdin.write(linesOf([tradeAt(START_MS, '1')]));
  await untilAsked(
    'the trade',
    () => readHealth(server.url),
    ({ seq }) => seq > 1,
  );
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  await assertVerified(env);
});
