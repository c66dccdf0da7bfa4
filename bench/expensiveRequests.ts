/**
 * The most expensive legal request of each route and topic: the longest turn of the server's event
 * loop, and how long another connection waits meanwhile for an answer that costs nothing. Routes
 * and topics come from the documents that the server serves; a route or topic without a request is
 * named. The question, the method and the numbers are in RESULTS.md.
 */
import { performance } from 'node:perf_hooks';
import type { Launched } from './processes/launched.ts';
import { type Bench, fixed, type Scale } from './support/bench.ts';
import {
  type Asked,
  CROWDS,
  routeRequests,
  type Stage,
  subscriptionRequests,
} from './support/expensive.ts';
import { Process } from './support/processes.ts';

const MARKET = { full: [2_000, 5_000, 5_000], quick: [500, 500, 500] };
const FULL_TRADES = 200_000;

export const expensiveRequests: Bench = {
  name: 'expensiveRequests',
  async measure(scale: Scale, progress) {
    const [pools = 0, orders = 0, minutes = 0] =
      scale.trades < FULL_TRADES ? MARKET.quick : MARKET.full;
    progress(`${pools} pools, ${orders} orders, ${minutes} minutes of trades`);
    const args = [pools, orders, minutes].map(String);
    const market = await Process.start<Launched>('launched.ts', 'server', args);
    const [port, token, marketMs] = await Promise.all([
      market.ask('port'),
      market.ask('token'),
      market.ask('marketMs'),
    ]);
    await ready(port);
    const { requests, missing } = await requestsOf(port, { token, marketMs, pools, minutes });
    const rows: string[][] = [];
    const failed: string[] = [];
    for (const { name, run } of requests) {
      progress(name);
      const row = [name];
      for (const _ of ['first', 'again']) {
        await market.ask('watchTurns');
        const startMs = performance.now();
        const asked = run(port);
        const waitMs = await longestWait(port, asked);
        const tookMs = performance.now() - startMs;
        const turnMs = await market.ask('longestTurnMs');
        row.push(fixed(turnMs, 1), fixed(waitMs, 1), fixed(tookMs, 0));
        const problem = await asked;
        if (problem !== null && !failed.includes(`${name}: ${problem}`)) {
          failed.push(`${name}: ${problem}`);
        }
      }
      rows.push(row);
    }
    await market.end();
    const columns = ['request', 'first: turn', 'wait', 'took', 'again: turn', 'wait', 'took'];
    return { columns, rows, notes: [...notesOf(args), ...named(missing, failed)] };
  },
};

function notesOf([pools, orders, minutes]: readonly string[]): string[] {
  return [
    'Milliseconds. Turn: CPU of the main thread in the longest turn of the loop, at most its ' +
      'length; wait: the longest of `GET /health/live` on another connection; took: until the ' +
      'whole answer came.',
    `Limits are off (loopback). ${pools} pools, a tenth of them graduated; ${orders} ended and ` +
      `500 open orders of one token; ${minutes} minutes of its trades and of those of 500 others.`,
  ];
}

function named(missing: readonly string[], failed: readonly string[]): string[] {
  const list = (what: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${what}: ${names.join('; ')}.`];
  return [...list('Without a request here', missing), ...list('Not answered with 200', failed)];
}

async function ready(port: number): Promise<void> {
  while (!(await fetch(`http://127.0.0.1:${port}/health/ready`)).ok) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Requests for every route and topic in the server's documents. */
async function requestsOf(port: number, stage: Stage) {
  const read = async (name: string) =>
    (await fetch(`http://127.0.0.1:${port}/v1/docs/${name}.json`)).json();
  // trust: documents of our own server
  const { paths } = (await read('openapi')) as { paths: Record<string, Record<string, unknown>> };
  const { channels } = (await read('asyncapi')) as { channels: Record<string, unknown> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const topics = Object.keys(channels).filter((name) => name !== 'socket');
  const known = { ...routeRequests(stage), ...subscriptionRequests(stage) };
  const names = [...operations, ...topics.map((topic) => `topic ${topic}`)];
  const missing = names.filter((name) => known[name] === undefined);
  const requests: Asked[] = names.flatMap((name) => known[name] ?? []);
  return { requests: [...requests, ...CROWDS], missing };
}

/** Asks another connection again and again; answers the longest wait. */
async function longestWait(port: number, until: Promise<unknown>): Promise<number> {
  let [isOver, longestMs] = [false, 0];
  const over = until.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const startMs = performance.now();
    await (await fetch(`http://127.0.0.1:${port}/health/live`)).arrayBuffer();
    longestMs = Math.max(longestMs, performance.now() - startMs);
  }
  await over;
  return longestMs;
}
