/** A node that begins to lead while the log loses what it waits for. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Epochs } from '../../src/cluster/epochs.ts';
import { Leadership } from '../../src/cluster/leadership.ts';
import type { LogWriter } from '../../src/engine/log/writer.ts';
import { systemClock as clock } from '../../src/engine/runtime/clock.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';

const LEASE_MS = 50;
const LIMIT_MS = 30_000;

test('it gives up what will not come, and leads the next time', async (scope) => {
  const world = await FoldWorld.open(scope, join(temporaryDirectory(), 'data'));
  const { node, files } = world;
  let lostEntries = 5;
  let asked = 0;
  // As a stream that ended later when it was asked than when it was read.
  const log = Object.create(world.log, {
    last: {
      value: async () => {
        asked += 1;
        const tail = await world.log.last();
        return { ...tail, seq: tail.seq + lostEntries };
      },
    },
    append: { value: world.log.append.bind(world.log) },
    check: { value: async () => 'same' },
  });
  const place = { name: 'a', log, node, files, rng: seededRng(1) };
  const epochs = new Epochs({
    ...place,
    ensureLog: async () => {},
    others: async () => [],
    publishBase: async () => {},
    epochStarted: () => {},
  });
  const released: string[] = [];
  const lease = {
    held: true,
    tryTake: async () => 'taken' as const,
    release: async () => void released.push('released'),
  };
  const begun: LogWriter[] = [];
  const ended: string[] = [];
  const idle = { stop: async () => {} };
  const crew = {
    lead: async (writer: LogWriter) => {
      begun.push(writer);
      return idle;
    },
    follow: async () => idle,
  };
  const leadership = new Leadership(
    {
      ...place,
      lease,
      onLost: () => {},
      backMs: () => null,
      leaseMs: LEASE_MS,
      epochs,
      crew,
      clock,
    },
    {
      appendFailed: () => {},
      leadBegun: () => {},
      leadEnded: (reason) => ended.push(reason),
      leadershipFailed: assert.fail,
    },
  );
  await leadership.start();
  scope.after(() => leadership.stop());
  // `isShort` has asked before.
  await until('it waits for what is lost', () => asked >= 2, LIMIT_MS);
  lostEntries = 0;
  await until(
    'it ends',
    () => {
      leadership.stepDown('the log is shorter');
      return released.length > 0;
    },
    LIMIT_MS,
  );
  assert.deepEqual(ended, ['the log is shorter']);
  await until('it leads', () => begun.length === 1, LIMIT_MS);
});
