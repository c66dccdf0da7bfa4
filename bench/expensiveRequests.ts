/**
 * The most expensive legal request of each route and topic: the longest turn of the server's event
 * loop, and how long another connection waits meanwhile for an answer that costs nothing.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { performance } from 'node:perf_hooks';
import { WebSocket } from 'ws';
import type { Market } from './processes/market.ts';
import { type Bench, fixed } from './support/bench.ts';
import { Process } from './support/processes.ts';
import { assetOf, QUOTE, START_MS } from './support/trades.ts';

const PAIRS = 2_000;
const MINUTE_MS = 60_000;
/** Bars of the first pair, one a minute; then of all. */
const BARS = 5_000;
const ROUNDS = 20;
const FROM_S = Math.floor(START_MS / 1000);
const TO_S = FROM_S + (BARS + ROUNDS + 10) * 60;

interface Asked {
  readonly name: string;
  /** Ends when the whole answer is there. */
  run(port: number): Promise<unknown>;
}

function get(name: string, path: string): Asked {
  return { name, run: (port) => read(fetch(`http://127.0.0.1:${port}${path}`)) };
}

function post(name: string, path: string, body: unknown): Asked {
  const request = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
  return { name, run: (port) => read(fetch(`http://127.0.0.1:${port}${path}`, request)) };
}

async function read(asked: Promise<Response>): Promise<unknown> {
  return (await asked).arrayBuffer();
}

/** One frame of subscriptions; ends when each has its first frame. */
function frame(name: string, topics: readonly object[]): Asked {
  const run = async (port: number) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    const left = new Set(topics.map((_, at) => at));
    const done = new Promise<void>((resolve) => {
      socket.on('message', (bytes) => {
        const { requestId, event } = JSON.parse(String(bytes));
        if (event === 'Subscribed' || requestId === null) return;
        left.delete(requestId);
        if (left.size === 0) resolve();
      });
    });
    const named = topics.map((topic, requestId) => ({ ...topic, requestId }));
    socket.send(JSON.stringify({ messageType: 'subscribe', topics: named }));
    await done;
    socket.close();
  };
  return { name, run };
}

/** Many requests at once. */
function crowd(name: string, count: number, each: (port: number) => Promise<unknown>): Asked {
  const run = (port: number) => Promise.all(Array.from({ length: count }, () => each(port)));
  return { name, run };
}

async function firstEvent(port: number): Promise<void> {
  const sub = encodeURIComponent(JSON.stringify({ topic: 'Tickers', data: {} }));
  const left = new AbortController();
  const url = `http://127.0.0.1:${port}/v1/stream?sub=${sub}`;
  const { body } = await fetch(url, { signal: left.signal });
  const reader = body?.getReader();
  await reader?.read();
  left.abort();
}

const PAIR = `base=${assetOf(0)}&quote=${QUOTE}`;
const assets = (count: number) => Array.from({ length: count }, (_, at) => assetOf(at));
const bars = (at: number) => ({
  topic: 'LastBar',
  data: { pair: { base: assetOf(at), quote: QUOTE }, interval: 'min1' },
});
const bulk = Array.from({ length: 50 }, (_, at) => {
  const span = { from: FROM_S, to: TO_S, limit: 400, fill: 'previous' };
  return { base: assetOf(at), quote: QUOTE, resolution: 'min1', ...span };
});
const HISTORY = `${PAIR}&resolution=min1&from=${FROM_S}&to=${TO_S}`;

const REQUESTS: readonly Asked[] = [
  get('GET openapi', '/v1/docs/openapi'),
  get('GET history, 5,000 bars', `/v1/charts/history?${HISTORY}&fill=previous&limit=5000`),
  get('GET history, CSV', `/v1/charts/history?${HISTORY}&fill=previous&format=csv`),
  post('POST bulk, 50 × 400 bars', '/v1/charts/bulk', bulk),
  get('GET tickers, 500', '/v1/tickers?limit=500'),
  get('GET tickers, filtered', '/v1/tickers?limit=500&minVolume24h=0.000001&sort=change1h'),
  post('POST tickers, 1,000', '/v1/tickers', assets(1_000)),
  post(
    'POST tickers, 1,000 that are none',
    '/v1/tickers',
    assets(1_000).map(() => 'x'),
  ),
  post('POST following, 120 kB of items', '/v1/following', `[${'1,'.repeat(60_000)}1]`),
  post('POST getUtxos, unknown fields', '/getUtxos', unknownFields()),
  frame('socket: Tickers of 500 tokens', [{ topic: 'Tickers', data: { assets: assets(500) } }]),
  frame('socket: 500 × Tickers', repeat(500, { topic: 'Tickers', data: {} })),
  frame(
    'socket: 250 × LastBar',
    Array.from({ length: 250 }, (_, at) => bars(at)),
  ),
  crowd('500 event streams', 500, firstEvent),
  crowd('200 × GET tickers, 500', 200, (port) =>
    read(fetch(`http://127.0.0.1:${port}/v1/tickers?limit=500&offset=1`)),
  ),
];

function repeat(count: number, topic: object): object[] {
  return Array.from({ length: count }, () => topic);
}

function unknownFields(): string {
  const fields = Array.from({ length: 1_000 }, (_, at) => `"x${at}":1`).join();
  return `{"pkh":"${'ab'.repeat(28)}",${fields}}`;
}

/** Asks another connection again and again; answers the longest wait. */
async function longestWait(port: number, until: Promise<unknown>): Promise<number> {
  let [isOver, longestMs] = [false, 0];
  const over = until.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const startMs = performance.now();
    await read(fetch(`http://127.0.0.1:${port}/health/live`));
    longestMs = Math.max(longestMs, performance.now() - startMs);
  }
  await over;
  return longestMs;
}

export const expensiveRequests: Bench = {
  name: 'expensiveRequests',
  async measure(_scale, progress) {
    const market = await Process.start<Market>('market.ts', 'server');
    await market.ask('fill', { pairs: 1, everyMs: MINUTE_MS, entries: BARS });
    await market.ask('fill', { pairs: PAIRS, everyMs: MINUTE_MS, entries: ROUNDS });
    const port = await market.ask('port');
    const rows: string[][] = [];
    for (const { name, run } of REQUESTS) {
      progress(name);
      const row = [name];
      for (const _ of ['first', 'again']) {
        await market.ask('watchTurns');
        const startMs = performance.now();
        const waitMs = await longestWait(port, run(port));
        const tookMs = performance.now() - startMs;
        const turnMs = await market.ask('longestTurnMs');
        row.push(fixed(turnMs, 1), fixed(waitMs, 1), fixed(tookMs, 0));
      }
      rows.push(row);
    }
    await market.end();
    const columns = ['request', 'first: turn', 'wait', 'took', 'again: turn', 'wait', 'took'];
    const notes = [
      'Milliseconds. Turn: CPU of the process in the longest turn of the loop, at most its ' +
        'length; wait: the longest of `GET /health/live` on another connection; took: until the ' +
        'whole answer came.',
      `Limits are off (loopback). ${PAIRS} pairs of a feed, ${BARS} bars of one of them.`,
    ];
    return { columns, rows, notes };
  },
};
