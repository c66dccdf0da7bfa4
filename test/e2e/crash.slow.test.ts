/** kill -9 in the middle of a replay: the same file continues behind its last entry. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { readHealth } from '../support/chart.ts';
import { linesOf, XRP_ETH, xrpTrades } from '../support/feeds.ts';
import { type Environment, feedFile, startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { until, untilAsked } from '../support/until.ts';
import { assertSame, assertVerified, assertXrp, type Mark, markOf, untilSame } from './market.ts';

/** Fed before clients come, and before the kill; the rest comes after it. */
const [FIRST_TRADES, KILLED_TRADES] = [300, 6_000];
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** Kills the replay at the first moment that its position is at or past `seq`. */
async function killedAt(t: TestContext, file: string, env: Environment, seq: number) {
  const server = await startServer(t, ['replay', file], env);
  const reached = await untilAsked(
    `position ${seq}`,
    () => readHealth(server.url),
    (health) => health.seq >= seq,
  );
  await server.program.kill();
  return reached;
}

/** Runs the whole file, checks its bars, and answers where it ended. */
async function finished(t: TestContext, file: string, env: Environment): Promise<Mark> {
  const server = await startServer(t, ['replay', file], env);
  await server.fed();
  await assertXrp(server.url, xrpTrades());
  const mark = await markOf(server);
  await server.stop();
  return mark;
}

test('a replay killed at random moments continues and ends in the same state', async (t) => {
  const again = `SEED=${SEED} node --test test/e2e/crash.slow.test.ts`;
  t.diagnostic(`seed ${SEED}; again: ${again}`);
  const rng = seededRng(SEED);
  const directory = temporaryDirectory();
  const file = feedFile(directory, 'xrp.ndjson', linesOf(xrpTrades()));
  const reference = await finished(t, file, { DATA_DIR: `${directory}/reference` });
  const last = Number(reference.position.split(':')[1]);
  const env = { DATA_DIR: `${directory}/data` };
  const kills = [1, 2, 3].map(() => Math.floor(rng.unit() * last * 0.9)).sort((a, b) => a - b);
  for (const seq of kills) await killedAt(t, file, env, seq);
  const second = await finished(t, file, env);
  await assertVerified(env);
  const third = await finished(t, file, env);
  assert.deepEqual(third, second, `a third run adds nothing; ${again}`);
  assert.equal(Number(second.position.split(':')[1]), last, `as many entries; ${again}`);
  assert.equal(second.stateHash, reference.stateHash, `the same state hash; ${again}`);
});

test('sockets resume with since across kill -9 and a restart: no gap, no duplicate', async (t) => {
  const directory = temporaryDirectory();
  const trades = xrpTrades();
  const env = { DATA_DIR: `${directory}/data` };
  // By a pipe that rests while clients come: the horizon must not pass while they ask.
  const first = await startServer(t, ['replay', '-'], env);
  first.program.stdin.write(linesOf(trades.slice(0, FIRST_TRADES)));
  const clients = [
    await StrictClient.connect(t, first.port),
    await StrictClient.connect(t, first.port, 'msgpack'),
  ];
  const charts: StrictSubscription[] = [];
  await untilAsked(
    'the first bars',
    () => readHealth(first.url),
    ({ seq }) => seq > 100,
  );
  for (const client of clients) {
    charts.push(await client.chart({ ...XRP_ETH, interval: 'min1' }));
    charts.push(await client.chart({ ...XRP_ETH, interval: 'hour1' }));
  }
  await until('recovered', () => charts.every(({ recovered }) => recovered[0] === true));
  first.program.stdin.write(linesOf(trades.slice(FIRST_TRADES, KILLED_TRADES)));
  await untilAsked(
    'some more',
    () => readHealth(first.url),
    ({ seq }) => seq > 3000,
  );
  await first.program.kill();
  for (const client of clients) await client.closed();
  const seen = charts.map(({ finals }) => finals.length);
  const second = await startServer(t, ['replay', '-'], env);
  for (const client of clients) await client.reconnect(second.port);
  await until('answered', () => charts.every(({ asking }) => !asking));
  // Trades of before the kill are known by their ids.
  second.program.stdin.end(linesOf(trades));
  await second.fed();
  for (const chart of charts) await untilSame(second.url, chart);
  for (const [index, chart] of charts.entries()) {
    assert.deepEqual(chart.recovered, [true, true], 'both times from since');
    assert.deepEqual([chart.told, chart.losses, chart.snapshots], [0, 0, 0]);
    assert(chart.finals.length > (seen[index] ?? 0));
    const times = chart.finals.map(({ time }) => time);
    assert.equal(new Set(times).size, times.length, 'each final bar once');
    await assertSame(second.url, chart);
  }
  for (const client of clients) client.check();
});
