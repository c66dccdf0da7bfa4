/**
 * A client that stops reading while 64 MiB are offered to it: 500 subscriptions over 16 streams of
 * bars that end often. The server's memory stays bounded, the client is told, ends with the right
 * state and every final bar; another client on the same streams notices nothing.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { linesOf, type PairIds, tradeAt } from '../support/feeds.ts';
import { type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { untilSame } from './market.ts';

const START_MS = Date.UTC(2024, 4, 1);
const OFFERED_BYTES = 64 * 1024 * 1024;
const SUBSCRIPTIONS = 500;
const MEMORY_BYTES = 96 * 1024 * 1024;
const ROUND_MINUTES = 5;

const PAIRS: readonly PairIds[] = Array.from({ length: 8 }, (_, n) => ({
  base: `${n.toString(16).padStart(2, '0').repeat(28)}.`,
  quote: '.',
}));

/** Resident memory of the server, as the kernel counts it. */
function residentBytes({ program }: Server): number {
  const status = readFileSync(`/proc/${program.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

function subscribeAll(client: StrictClient, count: number): StrictSubscription[] {
  const streams = PAIRS.flatMap((pair) =>
    (['min1', 'min5'] as const).map((interval) => ({ ...pair, interval })),
  );
  return Array.from({ length: count }, (_, n) => {
    const wish = streams[n % streams.length];
    assert(wish !== undefined);
    return client.subscribe(wish);
  });
}

/** Five minutes of every pair: five bars end in each. */
function round(n: number): string {
  const trades = Array.from(
    { length: ROUND_MINUTES },
    (_, step) => n * ROUND_MINUTES + step,
  ).flatMap((minute) =>
    PAIRS.map((pair, index) => {
      const timeMs = START_MS + minute * 60_000 + index * 1000;
      return tradeAt(timeMs, `${1 + ((minute * 7 + index) % 90)}`, { pair });
    }),
  );
  return linesOf(trades);
}

test('a client that reads nothing of 64 MiB costs bounded memory, is told and ends right', async (t) => {
  const server = await startServer(t, ['replay', '-', '--lateness', '0'], {
    DATA_DIR: temporaryDirectory(),
    LOG_LEVEL: 'debug',
  });
  const slow = await StrictClient.connect(t, server.port);
  const twin = await StrictClient.connect(t, server.port, 'msgpack');
  const slowOnes = subscribeAll(slow, SUBSCRIPTIONS);
  const twins = subscribeAll(twin, SUBSCRIPTIONS);
  await until('subscribed', () =>
    [...slowOnes, ...twins].every(({ snapshots }) => snapshots === 1),
  );
  let rounds = 0;
  const reached = () => {
    const time = START_MS / 1000 + (rounds * ROUND_MINUTES - 1) * 60;
    return twins
      .slice(0, 16)
      .every(({ newest, wish }) => wish.interval !== 'min1' || newest?.time === time);
  };
  const feed = async () => {
    server.program.stdin.write(round(rounds));
    rounds += 1;
    await until('the twin has the round', reached, 20_000);
  };
  for (let i = 0; i < 5; i += 1) await feed();
  const before = residentBytes(server);
  slow.pause();
  const { bytes } = twin;
  let most = 0;
  while (twin.bytes - bytes < OFFERED_BYTES) {
    await feed();
    most = Math.max(most, residentBytes(server));
  }
  t.diagnostic(`${rounds} rounds; RSS ${mib(before)} before, ${mib(most)} at most`);
  assert(most - before < MEMORY_BYTES, `grew by ${mib(most - before)}`);
  slow.resume();
  await until(
    'the slow one is at the end',
    () => slowOnes.every((one, n) => same(one, twins[n])),
    20_000,
  );
  slow.check();
  twin.check();
  await feed();
  server.program.stdin.end();
  await server.fed();
  for (const stream of [...slowOnes.slice(0, 16), ...twins.slice(0, 16)]) {
    await untilSame(server.url, stream);
  }
  for (const { losses, told, ignored } of twins)
    assert.deepEqual([losses, told, ignored], [0, 0, 0]);
  const finals = twins.map(finalTimes);
  for (const [n, stream] of slowOnes.entries()) {
    assert.equal(stream.losses, 0);
    assert.deepEqual(finalTimes(stream), finals[n], 'every final bar, each once');
  }
  assert(
    slowOnes.every(({ resyncs }) => resyncs.includes('slow')),
    'told by Resync',
  );
  assert(slow.bytes < twin.bytes / 2, `${mib(slow.bytes)} instead of ${mib(twin.bytes)}`);
  assert.equal((await server.stop()).code, 0);
});

function same(one: StrictSubscription, other: StrictSubscription | undefined): boolean {
  return JSON.stringify(one.newest) === JSON.stringify(other?.newest);
}

function finalTimes({ finals }: StrictSubscription): number[] {
  return finals.map(({ time }) => time);
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
