/** A disk that is full, by DATA_MAX_MB: the server says so, serves on, and goes on with room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHealth, readHistory } from '../support/chart.ts';
import { linesOf, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { barsOf } from '../support/model.ts';
import { feedFile, startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import { until } from '../support/until.ts';
import { assertBarsOverHttp, assertVerified, marketAfter, untilSame } from './market.ts';

const START_MS = Date.UTC(2024, 4, 1);

test('a full disk is told, nothing wrong is served, a restart with room goes on', async (t) => {
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
