/**
 * A client that stops reading while 40 MiB are offered to it: 500 subscriptions over 16 streams of
 * bars that end often. The server's memory stays bounded, the client gets a notice and the right
 * state and every final bar (fewer than 500 a stream, within the horizon: what `since` promises);
 * another client on the same streams notices nothing.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { linesOf, type PairIds, tradeAt } from '../support/feeds.ts';
import { type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { untilSame } from './market.ts';

const START_MS = Date.UTC(2024, 4, 1);
/** In MessagePack; in JSON, as the slow one has it, they are more. */
const OFFERED_BYTES = 40 * 1024 * 1024;
const SUBSCRIPTIONS = 500;
const MEMORY_BYTES = 32 * 1024 * 1024;
const PRELOAD = join(import.meta.dirname, '../support/patientGateway.ts');

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
  const rounds = Math.ceil(count / streams.length);
  const all = Array.from({ length: rounds }, () => streams).flat();
  return client.subscribeAll(all.slice(0, count));
}

/** A minute of every pair, one block: the bars of the minute before end. */
function round(n: number): string {
  const timeMs = START_MS + n * 60_000;
  return linesOf(
    PAIRS.map((pair, index) => tradeAt(timeMs, `${1 + ((n * 7 + index) % 90)}`, { pair })),
  );
}

test('a client that reads nothing of 40 MiB is bounded, told, and ends right', async (t) => {
  const server = await startServer(t, ['replay', '-', '--lateness', '0'], {
    DATA_DIR: temporaryDirectory(),
    NODE_OPTIONS: `--import ${PRELOAD}`,
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
    const time = START_MS / 1000 + (rounds - 1) * 60;
    return twins
      .slice(0, 16)
      .every(({ newest, params }) => params.interval !== 'min1' || newest?.time === time);
  };
  const feed = async () => {
    server.program.stdin.write(round(rounds));
    rounds += 1;
    await until('the twin has the round', reached);
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
  assert(rounds < 490, 'since has to answer for all of them');
  t.diagnostic(`${rounds} rounds; RSS ${mib(before)} before, ${mib(most)} at most`);
  assert(most - before < MEMORY_BYTES, `grew by ${mib(most - before)}`);
  slow.resume();
  await until('the slow one is at the end', () => slowOnes.every((one, n) => same(one, twins[n])));
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
  assert(updates(slowOnes) < 0.7 * updates(twins), 'only the newest state of each bar');
  assert.equal((await server.stop()).code, 0);
});

function same(one: StrictSubscription, other: StrictSubscription | undefined): boolean {
  return JSON.stringify(one.newest) === JSON.stringify(other?.newest);
}

function finalTimes({ finals }: StrictSubscription): number[] {
  return finals.map(({ time }) => time);
}

function updates(streams: readonly StrictSubscription[]): number {
  return streams.reduce((sum, stream) => sum + stream.updates, 0);
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
