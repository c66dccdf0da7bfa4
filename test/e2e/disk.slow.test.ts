/** A full disk, by DATA_MAX_MB: the server says so, still serves, and continues with room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/engine/store/database.ts';
import { startTestApp } from '../support/app.ts';
import { historyPath, readHealth, readHistory } from '../support/chart.ts';
import { linesOf, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { barsOf } from '../support/model.ts';
import { feedFile, startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import { until, untilAsked } from '../support/until.ts';
import { assertBarsOverHttp, assertVerified, marketAfter, untilSame } from './market.ts';

const START_MS = Date.UTC(2024, 4, 1);

test('a full disk is reported, answers stay right, a restart with room continues', async (t) => {
  const directory = temporaryDirectory();
  const trades = Array.from({ length: 12_000 }, (_, index) => {
    return tradeAt(START_MS + index * 15_000, `${1 + (index % 70)}`, { id: `trade-${index}` });
  });
  const file = feedFile(directory, 'feed.ndjson', linesOf(trades));
  const env = { DATA_DIR: `${directory}/data` };
  const full = await startServer(t, ['replay', file], { ...env, DATA_MAX_MB: '2' });
  const client = await StrictClient.connect(t, full.port);
  const stream = client.subscribe({ ...TOKEN_COIN, interval: 'min1' });
  const complaints = () => [
    ...full.program.events('appendFailed'),
    ...full.program.events('commitFailed'),
  ];
  await until('the disk is full', () => complaints().length >= 2);
  assert.match(JSON.stringify(complaints()[0]), /full/i);
  const ready = await full.get('/health/ready');
  const { degraded, reasons } = JSON.parse(await ready.text());
  assert.deepEqual([ready.status, degraded], [200, true]);
  assert.match(reasons[0].code, /^(LOG|STATE)_NOT_WRITTEN$/);
  assert.match(reasons[0].message, /full: make room .*DATA_MAX_MB/);
  assert.match(await (await full.get('/metrics')).text(), /^upcurve_degraded 1$/m);
  const { seq, epoch } = await readHealth(full.url);
  const history = await readHistory(full.url, { ...TOKEN_COIN, interval: 'min1' });
  const served = history?.bars ?? [];
  assert(served.length > 0 && served.length < 3_000, `${served.length} bars`);
  const right = new Map(barsOf(trades, 'min1').map((bar) => [bar.time, bar]));
  for (const { final: _, ...bar } of served.slice(0, -2))
    assert.deepEqual(bar, right.get(bar.time));
  await untilSame(full.url, stream);
  client.check();
  assert.equal((await full.get('/health/live')).status, 200);
  assert.equal((await full.stop()).code, 0);
  const roomy = await startServer(t, ['replay', file], env);
  await roomy.fed();
  const health = await readHealth(roomy.url);
  assert.equal(health.epoch, epoch, 'the same log');
  assert(health.seq > seq);
  await assertBarsOverHttp(roomy.url, TOKEN_COIN, trades, marketAfter(trades));
  await roomy.stop();
  await assertVerified(env);
});

test('a row that cannot be read costs a 500 and a rebuild, and readiness says so', async (t) => {
  const directory = temporaryDirectory(t);
  const env = { COMMIT_EVERY_MS: '1' };
  const first = await startTestApp(t, { directory, env });
  const trades = Array.from({ length: 400 }, (_, index) => {
    return tradeAt(START_MS + index * 15_000, `${1 + (index % 70)}`, { id: `trade-${index}` });
  });
  await first.feed(linesOf(trades));
  await first.stop();
  const { url } = await startTestApp(t, { directory, env });
  const read = () => readHistory(url, { ...TOKEN_COIN, interval: 'min1' });
  const readyOf = async () => JSON.parse(await (await fetch(`${url}/health/ready`)).text());
  const before = await read();
  assert.ok((before?.bars.length ?? 0) > 10);
  const database = openDatabase(`${directory}/state.sqlite`, { synchronous: 'NORMAL', maxMb: 0 });
  const damage = `UPDATE bars SET value = replace(value, '1', char(65533)) WHERE final = 1`;
  assert.ok(database.prepare(damage).run().changes > 0);
  database.close();
  // Answers are kept by position: ask for an answer that is not cached yet.
  const wanted = `${url}${historyPath({ ...TOKEN_COIN, interval: 'min1', limit: 50 })}`;
  assert.equal((await fetch(wanted)).status, 500);
  const { degraded, reasons } = await readyOf();
  // It may be over by now.
  if (degraded) assert.match(JSON.stringify(reasons), /STATE_DAMAGED.*made again from the log/);
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  const isOver = /^upcurve_degraded 0$/m;
  const text = await untilAsked('it is made again', metrics, (found) => isOver.test(found));
  assert.match(text, /^upcurve_state_rebuilds_total 1$/m);
  assert.deepEqual((await read())?.bars, before?.bars);
  assert.deepEqual((await readyOf()).reasons, []);
});
