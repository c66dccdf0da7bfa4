/** A leader whose disk is full leaves the lead to another node until there is room. */
import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DataDisk } from '../../src/cluster/watch.ts';
import { dataFiles } from '../../src/engine/recovery/dataFiles.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { openDatabase } from '../../src/engine/store/database.ts';
import type { TestApp } from '../support/app.ts';
import { NatsServer } from '../support/nats.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { newMarket, same, startNode, trade } from './nodes.ts';

const LIMIT_MS = 60_000;
const MAX_MB = 1;
/** Bytes left below the limit. */
const ROOM_BYTES = 48 * 1024;

/** Fills the state of a stopped node up to its limit; answers how to make room again. */
function fill(directory: string): () => void {
  const { state } = dataFiles(directory);
  const database = openDatabase(state, { synchronous: 'NORMAL', maxMb: 0 });
  const bytes = MAX_MB * 1024 * 1024 - statSync(state).size - ROOM_BYTES;
  database.exec('CREATE TABLE ballast (bytes BLOB)');
  database.prepare('INSERT INTO ballast (bytes) VALUES (zeroblob(?))').run(bytes);
  return () => {
    database.exec('DROP TABLE ballast');
    database.close();
  };
}

async function readiness({ url }: TestApp): Promise<{ role: string; mayNotLead: string | null }> {
  const response = await fetch(`${url}/health/ready`);
  // trust: the fields that a schema of ours names
  return (await response.json()) as { role: string; mayNotLead: string | null };
}

function untilRole(node: TestApp, role: string) {
  const isSo = (said: { role: string }) => said.role === role;
  return untilAsked(`it is ${role}`, () => readiness(node), isSo, LIMIT_MS);
}

test('a leader with a full disk steps down, and another node leads', async (scope) => {
  const server = await NatsServer.start(scope);
  const market = await newMarket(scope, server, 1_000_000);
  const directory = temporaryDirectory();
  const first = await startNode(scope, market, 'a', directory);
  await trade(first, 1);
  await first.stop();
  const makeRoom = fill(directory);
  const full = await startNode(scope, market, 'a', directory, { DATA_MAX_MB: `${MAX_MB}` });
  await untilRole(full, 'leader');
  const other = await startNode(scope, market, 'b');
  const writing = new AbortController();
  const filling = (async () => {
    while (!writing.signal.aborted) await trade(other, 1, 30);
  })();
  const down = await untilAsked(
    'it steps down',
    () => readiness(full),
    ({ role, mayNotLead }) => role === 'follower' && mayNotLead !== null,
    LIMIT_MS,
  );
  assert.match(down.mayNotLead ?? '', /its disk takes nothing: .*full/);
  await untilRole(other, 'leader');
  writing.abort();
  await filling;
  await trade(other, 1);
  makeRoom();
  await same(full, other);
  await other.stop();
  assert.equal((await untilRole(full, 'leader')).mayNotLead, null);
});

test('a disk that refused a write is probed until it accepts one', async (scope) => {
  const directory = join(temporaryDirectory(), 'gone');
  writeFileSync(directory, 'a file where the directory should be');
  const disk = new DataDisk(directory, systemClock, 5);
  disk.start();
  scope.after(() => disk.stop());
  assert.equal(disk.refusal, null);
  disk.refused('no space');
  assert.equal(disk.refusal, 'no space');
  await until('the disk was asked', () => /ENOTDIR/.test(disk.refusal ?? ''), LIMIT_MS);
  const there = new DataDisk(temporaryDirectory(), systemClock, 5);
  there.start();
  scope.after(() => there.stop());
  there.refused('no space');
  await until('there is room', () => there.refusal === null, LIMIT_MS);
});
