/** A single node's snapshots, and the log that is trimmed behind them. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Log } from '../../../src/engine/log/port.ts';
import { continueInNewEpoch } from '../../../src/engine/recovery/recovery.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { DirectorySnapshots } from '../../../src/engine/snapshots/directory.ts';
import type { SnapshotStore } from '../../../src/engine/snapshots/port.ts';
import { SnapshotTaker } from '../../../src/engine/snapshots/taker.ts';
import { assertSound, verifyDirectory } from '../../support/app.ts';
import { checkRebuild } from '../../support/foldCheck.ts';
import { FoldWorld, type FoldWorldOptions } from '../../support/foldWorld.ts';
import { manyLines, rollbackTo } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const START_MS = Date.UTC(2024, 0, 1);
const STEP_MS = 20_000;
const EVERY = 40;
const OPTIONS: Partial<FoldWorldOptions> = {
  horizonBlocks: 30,
  commitEveryMs: 1,
  snapshotEvery: EVERY,
};

function open(scope: TestContext, some: Partial<FoldWorldOptions> = {}) {
  const directory = join(temporaryDirectory(scope), 'world');
  return FoldWorld.open(scope, directory, { ...OPTIONS, ...some });
}

/** Feeds more trades after the existing ones. */
async function feed(world: FoldWorld, lines = 20): Promise<void> {
  const fromMs = Math.max(START_MS, world.fold.marketMs + 2 * world.options.latenessMs);
  await world.feed(manyLines(lines, fromMs, STEP_MS));
}

/** Feeds until `count` more snapshots were taken; none is due then. */
async function feedUntilTaken(world: FoldWorld, count: number): Promise<void> {
  const { snapshots } = world.said;
  const before = seqsIn(world.directory)[0] ?? 0;
  while (snapshots.length < count) {
    await feed(world);
    await until('what is due is taken', () => {
      return world.seq - (snapshots.at(-1) ?? before) < EVERY;
    });
  }
  assert.deepEqual(world.said.snapshotFailures, []);
}

async function stoppedAfter(world: FoldWorld) {
  const after = { position: world.node.applied(), hash: world.node.stateHash() };
  await world.stop();
  return after;
}

function filesIn(directory: string): string[] {
  const place = join(directory, 'snapshots');
  return existsSync(place) ? readdirSync(place) : [];
}

/** Entries of the snapshots there, the newest first. */
function seqsIn(directory: string): number[] {
  return filesIn(directory)
    .flatMap((name) => /-(\d+)\.sqlite\.gz$/.exec(name)?.slice(1) ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

/** Changes a byte in the middle of a snapshot; `from` counts them from the newest. */
function damage(directory: string, from: number): string {
  const seq = seqsIn(directory)[from];
  const name = filesIn(directory).find((one) => one.endsWith(`-${seq}.sqlite.gz`)) ?? '';
  const path = join(directory, 'snapshots', name);
  const bytes = readFileSync(path);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  return basename(path);
}

function loseState(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name.startsWith('state.sqlite')) rmSync(join(directory, name));
  }
}

test('keeps the two newest and trims the log behind the older one', async (scope) => {
  const world = await open(scope);
  await feedUntilTaken(world, 1);
  assert.equal(await world.log.first(), 1, 'one is not enough to trim');
  await feedUntilTaken(world, 4);
  const [older = 0, newer = 0] = world.said.snapshots.slice(-2);
  assert.ok(newer - older >= EVERY);
  assert.equal(await world.log.first(), older);
  assert.equal(filesIn(world.directory).length, 2);
  await checkRebuild(world);
  await world.stop();
  const found = await verifyDirectory(world.directory, 30);
  assertSound(found);
  assert.deepEqual(found?.trimmed, { first: older, snapshot: newer });
});

test('touches no file for an entry after which no snapshot is due', async (scope) => {
  const world = await open(scope);
  await feedUntilTaken(world, 1);
  const copy = join(world.directory, 'snapshot-state.sqlite');
  await until('its copy is removed', () => !existsSync(copy));
  writeFileSync(copy, '');
  await feed(world, 2);
  assert.equal(world.said.snapshots.length, 1);
  assert.ok(existsSync(copy), 'it is looked for only beside a snapshot');
  await feedUntilTaken(world, 2);
  await until('it is removed after the next one', () => !existsSync(copy));
});

for (const [what, spoil, used] of [
  ['the newest', [], 'newest'],
  ['the older, where the newest is damaged,', [0], 'older'],
] as const) {
  test(`a lost state is made again from ${what} snapshot`, async (scope) => {
    const world = await open(scope);
    await feedUntilTaken(world, 3);
    await feed(world, 5);
    const { position, hash } = await stoppedAfter(world);
    // After the stop: the last trades may have made another snapshot due.
    const [newest, older] = seqsIn(world.directory);
    loseState(world.directory);
    const damaged = spoil.map((index) => damage(world.directory, index));
    const after = await FoldWorld.open(scope, world.directory, OPTIONS);
    assert.deepEqual(after.node.applied(), position);
    assert.equal(after.node.stateHash(), hash);
    assert.deepEqual(after.said.loaded, [used === 'newest' ? newest : older]);
    for (const name of damaged) assert.match(after.said.unusable.join(), new RegExp(name));
    await feedUntilTaken(after, 2);
    await checkRebuild(after);
  });
}

test('without a usable snapshot a trimmed log is refused, a whole one folded', async (scope) => {
  const world = await open(scope);
  await feedUntilTaken(world, 1);
  const { hash } = await stoppedAfter(world);
  loseState(world.directory);
  damage(world.directory, 0);
  const whole = await FoldWorld.open(scope, world.directory, OPTIONS);
  assert.equal(whole.node.stateHash(), hash);
  assert.deepEqual(whole.said.loaded, []);
  await feedUntilTaken(whole, 2);
  await whole.stop();
  for (const index of [0, 1]) damage(world.directory, index);
  const sound = await FoldWorld.open(scope, world.directory, { ...OPTIONS, snapshotEvery: null });
  await sound.stop();
  loseState(world.directory);
  await assert.rejects(
    FoldWorld.open(scope, world.directory, OPTIONS),
    /the log begins with entry \d+, and no usable snapshot.*restore DATA_DIR/s,
  );
});

test('a state from before the trim is replaced by a snapshot, in the same epoch', async (scope) => {
  const world = await open(scope);
  await feed(world);
  await world.fold.store.commit();
  const old = await world.image();
  await feedUntilTaken(world, 3);
  const { position, hash } = await stoppedAfter(world);
  loseState(world.directory);
  for (const name of readdirSync(old).filter((one) => one.startsWith('state.sqlite'))) {
    writeFileSync(join(world.directory, name), readFileSync(join(old, name)));
  }
  const after = await FoldWorld.open(scope, world.directory, OPTIONS);
  assert.deepEqual(after.node.applied(), position);
  assert.equal(after.node.stateHash(), hash);
  assert.deepEqual(after.said.epochs, []);
});

test('a log that was lost and began again is trimmed too, its base removed', async (scope) => {
  const world = await open(scope);
  await feedUntilTaken(world, 2);
  await world.stop();
  for (const name of readdirSync(world.directory)) {
    if (name.startsWith('log.sqlite')) rmSync(join(world.directory, name));
  }
  const bases = (directory: string) => readdirSync(directory).filter((one) => /^base-/.test(one));
  const lost = await FoldWorld.open(scope, world.directory, OPTIONS, 7);
  assert.match(lost.node.applied().epoch, /^2-/);
  assert.ok(bases(lost.directory).length > 0);
  await feedUntilTaken(lost, 3);
  assert.deepEqual(bases(lost.directory), []);
  const { hash } = await stoppedAfter(lost);
  loseState(lost.directory);
  const after = await FoldWorld.open(scope, lost.directory, OPTIONS, 8);
  assert.equal(after.node.stateHash(), hash);
  await checkRebuild(after);
});

test('kept snapshots hold no entry that a new epoch takes back', async (scope) => {
  const world = await open(scope, { horizonBlocks: 5 });
  await feedUntilTaken(world, 2);
  const older = world.said.snapshots.at(-2) ?? 0;
  const [block] = (await world.entries(older + 4)).filter(({ entry }) => {
    return entry.payload.kind === 'block';
  });
  const payload = block?.entry.payload;
  assert.ok(payload?.kind === 'block');
  await world.feed([rollbackTo(payload.atMs)]);
  assert.match(world.node.applied().epoch, /^2-/);
  await until('one of the new epoch is taken', () => world.said.snapshots.length === 3);
  assert.deepEqual(seqsIn(world.directory), [world.said.snapshots[2], older]);
  await feed(world, 4);
  for (const lost of [[], [0]]) {
    const image = await world.image();
    loseState(image);
    for (const index of lost) damage(image, index);
    const after = await FoldWorld.open(scope, image, { ...OPTIONS, snapshotEvery: null }, 9);
    assert.equal(after.node.stateHash(), world.node.stateHash());
    await checkRebuild(after);
  }
});

test('a log that is trimmed to the entry that began an epoch is whole', async (scope) => {
  const world = await open(scope);
  await feedUntilTaken(world, 2);
  await continueInNewEpoch(world.log, { rng: seededRng(3), market: { known: null } });
  await until('one of the new epoch is taken', () => world.said.snapshots.length === 3);
  const started = world.seq;
  await world.stop();
  const again = await FoldWorld.open(scope, world.directory, OPTIONS, 8);
  await feedUntilTaken(again, 1);
  assert.equal(await again.log.first(), started);
  const { hash } = await stoppedAfter(again);
  assertSound(await verifyDirectory(world.directory, 30));
  loseState(world.directory);
  const after = await FoldWorld.open(scope, world.directory, OPTIONS, 9);
  assert.equal(after.node.stateHash(), hash);
  await checkRebuild(after);
});

/** A rollback to a moment that neither the horizon nor the log reaches any more. */
test('a rollback to before the trim is refused and changes nothing', async (scope) => {
  const world = await open(scope);
  const [first = ''] = manyLines(1, START_MS, STEP_MS);
  await world.feed([first]);
  await feedUntilTaken(world, 3);
  const hash = world.node.stateHash();
  await world.feed([rollbackTo(START_MS)]);
  assert.match(world.said.rejected.join(), /before what the log remembers/);
  assert.equal(world.node.stateHash(), hash);
});

interface FaultPoints {
  readonly world: FoldWorld;
  readonly images: Map<string, string>;
  /** Calls `at` wherever a node can die while it takes a snapshot. */
  taker(at: (where: string) => Promise<void>): SnapshotTaker;
}

async function faultPoints(scope: TestContext): Promise<FaultPoints> {
  const world = await open(scope, { snapshotEvery: null });
  const { node, files, log } = world;
  const snapshots = new DirectorySnapshots(world.directory, {
    snapshotUnusable: (name, reason) => assert.fail(`${name}: ${reason}`),
  });
  const taker: FaultPoints['taker'] = (at) => {
    const set: SnapshotStore = {
      list: () => snapshots.list(),
      async put(path, checkpoint) {
        await at('copied');
        const snapshot = await snapshots.put(path, checkpoint);
        await at('added');
        return snapshot;
      },
      async removeExcept(kept) {
        await at('trimmed');
        await snapshots.removeExcept(kept);
        await at('removed');
      },
      get: (snapshot, path) => snapshots.get(snapshot, path),
    };
    const trim: Log['trim'] = async (seq) => {
      const middle = (await log.first()) + Math.floor((seq - (await log.first())) / 2);
      await log.trim(middle);
      await at('trimming');
      await log.trim(seq);
    };
    const trimming = Object.create(log, { trim: { value: trim } });
    for (const name of ['first', 'last', 'read', 'epochs'] as const) {
      Object.defineProperty(trimming, name, { value: log[name].bind(log) });
    }
    const deps = { node, files, log: trimming, snapshots: set, clock: systemClock };
    return new SnapshotTaker(
      deps,
      { every: EVERY, trims: true, retryMs: 20, rests: 0 },
      {
        snapshotTaken: (seq) => world.said.snapshots.push(seq),
        snapshotFailed(error, isRepeated) {
          if (!isRepeated) world.said.snapshotFailures.push(error);
        },
      },
    );
  };
  return { world, images: new Map(), taker };
}

test('a node that dies at any moment of a snapshot loses nothing', async (scope) => {
  const { world, images, taker: make } = await faultPoints(scope);
  const hashes = new Map<string, string>();
  const { snapshots } = world.said;
  for (let round = 0; round < 3; round += 1) {
    await feed(world, EVERY);
    const taker = make(async (where) => {
      const name = `${where} ${round}`;
      hashes.set(name, world.node.stateHash());
      images.set(name, await world.image());
    });
    taker.start();
    await until('it is taken', () => snapshots.length > round);
    await taker.stop();
  }
  assert.ok(images.size >= 12, [...images.keys()].join());
  for (const [where, image] of images) {
    for (const lose of [false, true]) {
      if (lose) loseState(image);
      const after = await FoldWorld.open(scope, image, OPTIONS, 5);
      assert.equal(after.node.stateHash(), hashes.get(where), where);
      assert.deepEqual(after.said.epochs, [], where);
      if (lose) await feedUntilTaken(after, 1);
      if (lose) await checkRebuild(after);
      await after.stop();
    }
  }
});

test('a full disk is reported once and loses nothing; then snapshots continue', async (scope) => {
  const { world, taker: make } = await faultPoints(scope);
  let isFull = true;
  let asked = 0;
  const taker = make(async (where) => {
    if (where !== 'copied' || !isFull) return;
    asked += 1;
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  });
  taker.start();
  await feed(world, EVERY);
  await until('it was tried again', () => asked >= 3);
  assert.equal(world.said.snapshotFailures.length, 1);
  assert.deepEqual(world.said.commitFailures, []);
  assert.equal(await world.log.first(), 1);
  isFull = false;
  await until('it is taken', () => world.said.snapshots.length === 1, 30_000);
  const left = readdirSync(world.directory).filter((name) => name.startsWith('snapshot-'));
  assert.deepEqual(left, [], 'no copy is left');
  await taker.stop();
  await checkRebuild(world);
});

test('no page that was damaged on the disk gets into a snapshot', async (scope) => {
  const { world, taker: make } = await faultPoints(scope);
  const rng = seededRng(3);
  await feed(world, EVERY);
  await world.fold.store.copyTo(join(world.directory, 'whole.sqlite'));
  const bytes = readFileSync(world.files.state);
  const at = Math.floor(bytes.length * (0.5 + rng.unit() / 4));
  bytes[at] = (bytes[at] ?? 0) ^ 255;
  writeFileSync(world.files.state, bytes);
  const taker = make(async () => {});
  taker.start();
  const { snapshots, snapshotFailures: failures } = world.said;
  await until('it is found, or not read', () => failures.length + snapshots.length > 0);
  await taker.stop();
  if (snapshots.length === 0) {
    assert.match(String(failures[0]), /does not match its checksum/);
    return;
  }
  // SQLite copied the page that it held in memory, as it was before the damage.
  const hash = world.node.stateHash();
  const image = await world.image();
  loseState(image);
  const after = await FoldWorld.open(scope, image, OPTIONS, 5);
  assert.equal(after.node.stateHash(), hash);
  await after.stop();
});
