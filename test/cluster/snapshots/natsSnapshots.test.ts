/** The snapshots of several nodes: the contract on a real nats-server, and the stored format. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  EpochBases,
  NatsSnapshots,
  retryingSnapshots,
} from '../../../src/cluster/snapshots/natsSnapshots.ts';
import { ObjectFiles } from '../../../src/cluster/snapshots/objectStore.ts';
import { dataFiles } from '../../../src/engine/recovery/dataFiles.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { loadSnapshot } from '../../../src/engine/snapshots/load.ts';
import { SnapshotTaker } from '../../../src/engine/snapshots/taker.ts';
import { peekCheckpoint } from '../../../src/engine/store/peek.ts';
import { snapshotStoreContract } from '../../contracts/snapshots.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { manyLines } from '../../support/lines.ts';
import { marketName, NatsServer } from '../../support/nats.ts';
import { type Scope, temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const EVERY = 40;
const START_MS = Date.UTC(2024, 0, 1);

const server = await NatsServer.start({ after });

async function openObjects(scope: Scope): Promise<ObjectFiles> {
  const link = await server.connect(scope);
  const shape = { bucket: marketName(), replicas: 1 };
  return new ObjectFiles(link, systemClock, systemRng, shape);
}

async function namesIn(objects: ObjectFiles): Promise<string[]> {
  const names = await objects.list();
  assert.ok(!(names instanceof Failure));
  return [...names];
}

snapshotStoreContract('object store', 2, async (scope, directory) => {
  const objects = await openObjects(scope);
  const file = join(temporaryDirectory(scope), 'file');
  const put = async (name: string) => {
    writeFileSync(file, 'no database');
    assert.ok(!((await objects.put(name, file)) instanceof Failure));
  };
  return {
    store: new NatsSnapshots(objects, directory),
    names: () => namesIn(objects),
    damage: ({ name }) => put(name),
    leaveHalf: () => put('snapshot-1-lost-77-state'),
  };
});

test('reads snapshots as earlier versions stored them', async (scope) => {
  const objects = await openObjects(scope);
  const directory = join(temporaryDirectory(scope), 'world');
  const world = await FoldWorld.open(scope, directory, { commitEveryMs: 1 });
  await world.feed(manyLines(20, Date.UTC(2024, 0, 1), 20_000));
  const copy = join(directory, 'copy.sqlite');
  await world.fold.store.snapshotTo(copy);
  const checkpoint = peekCheckpoint(copy);
  assert.ok(checkpoint !== null);
  const base = `snapshot-${checkpoint.epoch}-${checkpoint.seq}`;
  const manifest = join(directory, 'stored');
  const names = [`${base}-state`, `${base}.json`] as const;
  writeFileSync(manifest, JSON.stringify({ version: 1, checkpoint, state: names[0] }));
  await objects.put(names[0], copy);
  await objects.put(names[1], manifest);
  writeFileSync(manifest, JSON.stringify({ version: 2, checkpoint, state: names[0] }));
  await objects.put('snapshot-1-later-7.json', manifest);

  const store = new NatsSnapshots(objects, directory);
  assert.deepEqual(await store.list(), [{ name: names[0], checkpoint }]);
  const loaded = join(directory, 'loaded.sqlite');
  const observer = { snapshotLoaded: () => {}, snapshotUnusable: () => {} };
  const range = { upTo: world.seq, after: 0 };
  assert.equal(await loadSnapshot(loaded, range, store, world.log, observer), checkpoint.seq);
  await store.removeExcept(await store.list());
  assert.deepEqual((await namesIn(objects)).sort(), [...names].sort());

  await store.removeExcept([]);
  await world.fold.store.copyTo(copy);
  await store.put(copy, checkpoint);
  assert.deepEqual((await namesIn(objects)).sort(), [...names].sort(), 'the names are the same');
});

test('a load that waits for NATS ends when it is stopped', async (scope) => {
  const away = await NatsServer.start(scope);
  const link = await away.connect(scope);
  const shape = { bucket: 'upcurve-files', replicas: 1 };
  const objects = new ObjectFiles(link, systemClock, systemRng, shape);
  const stop = new AbortController();
  const store = new NatsSnapshots(objects, temporaryDirectory(scope));
  const snapshots = retryingSnapshots(store, systemClock, stop.signal);
  assert.deepEqual(await snapshots.list(), []);
  await away.kill();
  const waiting = assert.rejects(snapshots.list(), { kind: 'interrupted' });
  stop.abort();
  await waiting;
});

test('what a stranger stores pushes out no snapshot of the leader', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'world');
  mkdirSync(directory);
  const store = new NatsSnapshots(await openObjects(scope), directory);
  const world = await FoldWorld.open(scope, directory, { commitEveryMs: 1 });
  const feed = (lines: number) => {
    const fromMs = world.fold.marketMs + 2 * world.options.latenessMs;
    return world.feed(manyLines(lines, Math.max(START_MS, fromMs), 20_000));
  };
  const taken: number[] = [];
  /** As each node does it once it leads. */
  const lead = () => {
    const snapshotFailed = (error: unknown) => assert.fail(String(error));
    const deps = { ...world, snapshots: store, clock: systemClock };
    const options = { every: EVERY, trims: true, rests: 0 };
    const snapshotTaken = (seq: number) => taken.push(seq);
    const taker = new SnapshotTaker(deps, options, { snapshotTaken, snapshotFailed });
    taker.start();
    scope.after(() => taker.stop());
    return taker;
  };
  const seqs = async () => (await store.list()).map(({ checkpoint }) => checkpoint.seq);
  const untilTaken = async (count: number) => {
    const [newest = 0] = await seqs();
    while (world.seq < newest + EVERY) await feed(5);
    await until('a snapshot is taken', () => taken.length === count);
  };
  /** Two snapshots without a state, at entries of the log. */
  const forge = async () => {
    const [real] = await store.list();
    const entries = await world.log.read((real?.checkpoint.seq ?? 0) + 1, 2);
    for (const { entry, hash } of entries) {
      const file = join(directory, 'forged');
      writeFileSync(file, 'no database');
      const place = { seq: entry.seq, entryHash: hash, stateHash: 'ab'.repeat(32) };
      await store.put(file, { ...(real?.checkpoint ?? assert.fail()), ...place });
    }
    return entries.map(({ entry }) => entry.seq);
  };
  const first = lead();
  await untilTaken(1);
  await feed(5);
  await forge();
  await untilTaken(2);
  await first.stop();
  assert.deepEqual(await seqs(), taken.toReversed());
  assert.equal(await world.log.first(), taken[0]);

  await feed(5);
  const forged = await forge();
  const second = lead();
  await untilTaken(3);
  await second.stop();
  assert.deepEqual(await seqs(), [taken[2], forged[1]]);
  const loaded = join(directory, 'loaded.sqlite');
  const observer = { snapshotLoaded: () => {}, snapshotUnusable: () => {} };
  const range = { upTo: world.seq, after: 0 };
  assert.equal(await loadSnapshot(loaded, range, store, world.log, observer), taken[2]);
});

test('of the states of epochs two stay, whatever a stranger stores beside them', async (scope) => {
  const objects = await openObjects(scope);
  const files = dataFiles(temporaryDirectory(scope));
  const bases = new EpochBases(objects, files, async () => {});
  const put = async (epoch: string) => {
    writeFileSync(files.base(epoch), epoch);
    await objects.put(`base-${epoch}`, files.base(epoch));
  };
  for (const epoch of ['999999999999998-x', '999999999999999-x', '1-a', '2-b']) await put(epoch);
  writeFileSync(files.base('3-c'), '3-c');
  await bases.publish('3-c');
  const stay = ['2-b', '3-c', '999999999999998-x', '999999999999999-x'];
  assert.deepEqual(
    (await namesIn(objects)).sort(),
    stay.map((epoch) => `base-${epoch}`),
  );
});
