/** Contract of every store of snapshots, and of the snapshots that the taker keeps in it. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Log } from '../../src/engine/log/port.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { loadSnapshot } from '../../src/engine/snapshots/load.ts';
import type { Snapshot, SnapshotObserver, SnapshotStore } from '../../src/engine/snapshots/port.ts';
import { SnapshotTaker } from '../../src/engine/snapshots/taker.ts';
import { peekCheckpoint } from '../../src/engine/store/peek.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { manyLines, rollbackTo } from '../support/lines.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';

interface StoreUnderTest {
  readonly store: SnapshotStore;
  /** Names of all stored objects. */
  names(): Promise<readonly string[]>;
  /** Damages the stored snapshot. */
  damage(snapshot: Snapshot): Promise<void>;
  /** Leaves the store as a crash in the middle of `put` does. */
  leaveHalf(): Promise<void>;
}

type OpenStore = (
  scope: TestContext,
  directory: string,
  observer: Pick<SnapshotObserver, 'snapshotUnusable'>,
) => Promise<StoreUnderTest>;

const START_MS = Date.UTC(2024, 0, 1);
const STEP_MS = 20_000;
const EVERY = 40;

interface Setup extends StoreUnderTest {
  readonly world: FoldWorld;
  readonly unusable: string[];
}

async function setUp(scope: TestContext, open: OpenStore): Promise<Setup> {
  const directory = join(temporaryDirectory(scope), 'world');
  mkdirSync(directory);
  const unusable: string[] = [];
  const snapshotUnusable = (name: string) => unusable.push(name);
  const opened = await open(scope, directory, { snapshotUnusable });
  const options = { horizonBlocks: 5, commitEveryMs: 1, snapshots: opened.store };
  const world = await FoldWorld.open(scope, directory, options);
  return { ...opened, world, unusable };
}

/** `EVERY` entries or more. */
async function feed(world: FoldWorld): Promise<void> {
  const fromMs = Math.max(START_MS, world.fold.marketMs + 2 * world.options.latenessMs);
  await world.feed(manyLines(EVERY, fromMs, STEP_MS));
}

async function putState({ world, store }: Setup): Promise<Snapshot> {
  await feed(world);
  const copy = join(world.directory, 'copy.sqlite');
  await world.fold.store.copyTo(copy);
  const checkpoint = peekCheckpoint(copy);
  assert.ok(checkpoint !== null);
  assert.equal(checkpoint.stateHash, world.node.stateHash());
  return store.put(copy, checkpoint);
}

interface Taking {
  readonly taker: SnapshotTaker;
  readonly taken: number[];
  readonly failures: string[];
}

/** A taker over the store; `faults` replaces methods of the store and the log. */
function startTaker(
  { world, store }: Setup,
  faults: { readonly store?: Partial<SnapshotStore>; readonly trim?: Log['trim'] } = {},
): Taking {
  const [taken, failures]: [number[], string[]] = [[], []];
  const { node, files, log } = world;
  const failing: Log = Object.create(log, { trim: { value: faults.trim ?? log.trim.bind(log) } });
  for (const name of ['first', 'last', 'read', 'epochs'] as const) {
    Object.defineProperty(failing, name, { value: log[name].bind(log) });
  }
  const snapshots: SnapshotStore = {
    list: () => store.list(),
    put: (path, checkpoint) => store.put(path, checkpoint),
    get: (snapshot, path) => store.get(snapshot, path),
    removeExcept: (kept) => store.removeExcept(kept),
    ...faults.store,
  };
  const taker = new SnapshotTaker(
    { node, files, log: failing, snapshots, clock: systemClock },
    { every: EVERY, trims: true, retryMs: 20, rests: 0 },
    {
      snapshotTaken: (seq) => taken.push(seq),
      snapshotFailed: (error) => failures.push(String(error)),
    },
  );
  taker.start();
  return { taker, taken, failures };
}

async function feedUntilTaken({ world }: Setup, { taken }: Taking, count: number): Promise<void> {
  while (taken.length < count) {
    const before = taken.length;
    await feed(world);
    await until('a snapshot is taken', () => taken.length > before);
  }
}

async function seqsIn({ store }: Setup): Promise<number[]> {
  return (await store.list()).map(({ checkpoint }) => checkpoint.seq);
}

function load({ world, store, unusable }: Setup, path: string, upTo = world.seq) {
  const observer = {
    snapshotLoaded: () => {},
    snapshotUnusable: (name: string) => unusable.push(name),
  };
  return loadSnapshot(path, { upTo, after: 0 }, store, world.log, observer);
}

/** `objects`: how many the store has for each snapshot. */
export function snapshotStoreContract(name: string, objects: number, open: OpenStore): void {
  test(`${name}: lists the newest first and gives back what was put`, async (scope) => {
    const setup = await setUp(scope, open);
    const { store, world } = setup;
    assert.deepEqual(await store.list(), []);
    const first = await putState(setup);
    const second = await putState(setup);
    assert.deepEqual(await store.list(), [second, first]);
    const path = join(world.directory, 'loaded.sqlite');
    assert.equal(await load(setup, path), second.checkpoint.seq);
    assert.deepEqual(peekCheckpoint(path), second.checkpoint);
    assert.equal(await load(setup, path, second.checkpoint.seq - 1), first.checkpoint.seq);
    assert.equal(await load(setup, path, first.checkpoint.seq - 1), null);
    assert.equal(peekCheckpoint(path), null, 'nothing is left where none was loaded');
  });

  test(`${name}: removes all others, and what a crash left`, async (scope) => {
    const setup = await setUp(scope, open);
    await putState(setup);
    const kept = await putState(setup);
    await setup.leaveHalf();
    assert.deepEqual((await setup.store.list()).length, 2, 'a half one is not listed');
    await setup.store.removeExcept([kept]);
    assert.deepEqual(await setup.store.list(), [kept]);
    assert.equal((await setup.names()).length, objects);
  });

  test(`${name}: loads an older snapshot where the newest is damaged`, async (scope) => {
    const setup = await setUp(scope, open);
    const older = await putState(setup);
    const newest = await putState(setup);
    await setup.damage(newest);
    const path = join(setup.world.directory, 'loaded.sqlite');
    assert.equal(await load(setup, path), older.checkpoint.seq);
    assert.deepEqual(peekCheckpoint(path), older.checkpoint);
    assert.match(setup.unusable.join(), new RegExp(newest.name));
  });

  test(`${name}: the log is trimmed before an older snapshot is removed`, async (scope) => {
    const setup = await setUp(scope, open);
    const { log } = setup.world;
    const storedAtTrim: number[] = [];
    let isDead = true;
    const taking = startTaker(setup, {
      async trim(seq) {
        storedAtTrim.push((await seqsIn(setup)).length);
        if (storedAtTrim.at(-1) === 3 && isDead) {
          isDead = false;
          throw new Error('died before the trim');
        }
        await log.trim(seq);
      },
    });
    await feedUntilTaken(setup, taking, 1);
    assert.equal(await log.first(), 1, 'one snapshot is not enough to trim');
    await feedUntilTaken(setup, taking, 2);
    const first = await log.first();
    await feed(setup.world);
    await until('the trim fails', () => taking.failures.length > 0);
    assert.match(taking.failures.join(), /died before the trim/);
    await until('it is done later', () => !isDead && storedAtTrim.length >= 3);
    await feedUntilTaken(setup, taking, 3);
    await taking.taker.stop();
    const seqs = await seqsIn(setup);
    assert.equal(seqs.length, 2);
    assert.equal(await log.first(), seqs[1], 'the log begins with the entry of the older one');
    assert.ok((await log.first()) > first);
    assert.equal((await setup.names()).length, 2 * objects);
  });

  test(`${name}: does not keep a snapshot that a new epoch took back`, async (scope) => {
    const setup = await setUp(scope, open);
    const { world } = setup;
    const taking = startTaker(setup);
    await feedUntilTaken(setup, taking, 2);
    const [older = 0, takenBack = 0] = taking.taken;
    const blocks = (await world.entries(older + 4)).flatMap(({ entry: { payload } }) => {
      return payload.kind === 'block' ? [payload] : [];
    });
    await world.feed([rollbackTo(blocks[0]?.atMs ?? assert.fail('there is a block'))]);
    assert.match(world.node.applied().epoch, /^2-/);
    await until('one of the new epoch is taken', () => taking.taken.length === 3);
    await taking.taker.stop();
    assert.ok(world.seq > takenBack);
    assert.deepEqual(await seqsIn(setup), [taking.taken[2], older]);
    assert.equal(await world.log.first(), older);
  });

  test(`${name}: a refused put is reported, retried, and leaves no file`, async (scope) => {
    const setup = await setUp(scope, open);
    const { store, world } = setup;
    let refusals = 0;
    const taking = startTaker(setup, {
      store: {
        async put(...copy) {
          refusals += 1;
          if (refusals <= 2) throw new Error('disk full');
          return store.put(...copy);
        },
      },
    });
    await feedUntilTaken(setup, taking, 1);
    await taking.taker.stop();
    assert.deepEqual(taking.failures, ['Error: disk full', 'Error: disk full']);
    assert.deepEqual(await seqsIn(setup), taking.taken);
    const left = readdirSync(world.directory).filter((file) => file.startsWith('snapshot-'));
    assert.deepEqual(left, []);
  });
}
