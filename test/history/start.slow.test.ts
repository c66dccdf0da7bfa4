/** `npm start` on an empty directory opens to the recorded day, as its blocks say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HISTORY_FILE, readHistory } from '../../src/devnet/history.ts';
import { LONG_ONLY } from '../support/long.ts';
import {
  Program,
  runProgram,
  type Server,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';
import { until } from '../support/until.ts';
import { marketOf } from './recordedMarket.ts';

const QUIET = ['--no-traders'];
const DAY_S = 86_400;

interface Ticker {
  readonly asset: string;
  readonly change24h: string | null;
  readonly changeBasis: Readonly<Record<string, string>>;
}

async function read(server: Server, path: string) {
  // trust: the test's own requests
  return (await (await server.get(path)).json()) as { count: number; items: Ticker[] };
}

/** By the bars of all tokens at a resolution. */
async function tradesOf(server: Server, resolution: string): Promise<number> {
  const { items } = await read(server, '/v1/tickers?limit=100');
  const to = Math.floor(Date.now() / 1000);
  // The recorded history begins 30 hours ago, in a bar that may have started a day earlier.
  const span = `resolution=${resolution}&from=${to - 3 * DAY_S}&to=${to}&limit=5000`;
  let trades = 0;
  for (const { asset } of items) {
    const path = `/v1/charts/history?base=${asset}&quote=.&${span}`;
    // trust: the test's own request
    const bars = (await (await server.get(path)).json()) as { trades: number }[];
    trades += bars.reduce((sum, bar) => sum + bar.trades, 0);
  }
  return trades;
}

test('an empty directory opens to a day that verifies, also after a reset', async (t) => {
  const env = { DATA_DIR: temporaryDirectory(), NETWORK: 'devnet' };
  const { counts } = marketOf(readHistory(HISTORY_FILE), 1_200_000);
  const server = await startServer(t, QUIET, env);
  const { items } = await read(server, '/v1/tickers?limit=100');
  assert.equal(items.length, counts.get('launched'));
  const old = items.filter(({ changeBasis }) => changeBasis['24h'] === undefined);
  const fallen = old.filter(({ change24h }) => Number(change24h) < 0).length;
  assert(fallen >= 2 && fallen < old.length, `${fallen} of ${old.length} older tokens have fallen`);
  for (const resolution of ['min1', 'min5', 'hour1', 'day1']) {
    assert.equal(await tradesOf(server, resolution), counts.get('filled'), resolution);
  }
  const page = await (await server.get('/')).text();
  const since = Number(/data-live-since="(\d+)"/.exec(page)?.[1]);
  assert(Math.abs(since - Date.now()) < 300_000, 'the label says when it began to live');
  const card = await server.get(`/og/${items[0]?.asset}.png`);
  assert.equal(card.headers.get('cache-control'), 'public, max-age=0');
  const [from, to] = ['nodeConnected', 'listening'].map((event) => {
    return Number(server.program.events(event)[0]?.time);
  });
  t.diagnostic(`followed in ${Number(to) - Number(from)} ms; at most 4000 on an idle machine`);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  const verified = await runProgram(['verify'], env);
  assert.equal(verified.exit.code, 0, verified.program.text);
  assert.equal((await runProgram(['reset'], env)).exit.code, 0);
  const again = await startServer(t, QUIET, env);
  assert.equal((await read(again, '/v1/tickers?limit=100')).items.length, items.length);
  await again.stop();
});

test('after a kill, the history continues', LONG_ONLY, async (t) => {
  const env = { DATA_DIR: temporaryDirectory(), NETWORK: 'devnet' };
  const { counts } = marketOf(readHistory(HISTORY_FILE), 1_200_000);
  for (const event of ['epochStarted', 'nodeConnected', 'nodeConnected']) {
    const cut = new Program(QUIET, env);
    t.after(() => cut.kill());
    await until('it has come so far', () => cut.events(event).length > 0);
    await cut.kill();
  }
  const server = await startServer(t, QUIET, env);
  assert.equal(await tradesOf(server, 'hour1'), counts.get('filled'));
  assert.match(await (await server.get('/')).text(), /data-live-since/);
  await server.stop();
  const verified = await runProgram(['verify'], env);
  assert.equal(verified.exit.code, 0, verified.program.text);
});

test('--no-history begins an empty market', async (t) => {
  const env = { DATA_DIR: temporaryDirectory(), NETWORK: 'devnet' };
  const server = await startServer(t, [...QUIET, '--no-history'], env);
  assert.equal((await read(server, '/v1/tickers')).count, 0);
  assert.doesNotMatch(await (await server.get('/')).text(), /data-live-since/);
  await server.stop();
});
