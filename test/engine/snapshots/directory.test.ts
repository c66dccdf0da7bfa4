/** The snapshots of a single node: the contract, the names of the files, and those of before. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DirectorySnapshots } from '../../../src/engine/snapshots/directory.ts';
import type { Snapshot } from '../../../src/engine/snapshots/port.ts';
import { CHECKSUMS_SUFFIX, checkPages } from '../../../src/engine/store/pageChecksums.ts';
import { peekCheckpoint } from '../../../src/engine/store/peek.ts';
import { snapshotStoreContract } from '../../contracts/snapshots.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { manyLines } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';

snapshotStoreContract('directory', 1, async (_scope, directory, observer) => {
  const folder = join(directory, 'snapshots');
  const store = new DirectorySnapshots(directory, observer);
  return {
    store,
    names: async () => readdirSync(folder),
    async damage({ name, checkpoint: { epoch, seq } }: Snapshot) {
      assert.equal(name, `${epoch}-${seq}`);
      const path = join(folder, `${name}.sqlite.gz`);
      const bytes = readFileSync(path);
      const middle = Math.floor(bytes.length / 2);
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    },
    async leaveHalf() {
      assert.ok(readdirSync(folder).every((name) => /^1-.*-\d+\.sqlite\.gz$/.test(name)));
      writeFileSync(join(folder, '1-lost-77.sqlite.gz.new'), 'half');
    },
  };
});

interface Market {
  readonly directory: string;
  readonly folder: string;
  readonly store: DirectorySnapshots;
  readonly unusable: string[];
  /** A closed copy of the state. */
  readonly state: string;
}

async function market(scope: Parameters<typeof FoldWorld.open>[0]): Promise<Market> {
  const directory = temporaryDirectory(scope);
  const world = await FoldWorld.open(scope, join(directory, 'world'), {});
  await world.feed(manyLines(40, Date.UTC(2024, 0, 1), 20_000));
  const state = join(directory, 'copy.sqlite');
  await world.fold.store.copyTo(state);
  const unusable: string[] = [];
  const store = new DirectorySnapshots(directory, {
    snapshotUnusable: (name, reason) => unusable.push(`${name}: ${reason}`),
  });
  return { directory, folder: join(directory, 'snapshots'), store, unusable, state };
}

test('a snapshot is compressed, and comes back byte by byte', async (scope) => {
  const { directory, folder, store, state } = await market(scope);
  const checkpoint = peekCheckpoint(state) ?? assert.fail('there is a state');
  const before = readFileSync(state);
  const snapshot = await store.put(state, checkpoint);
  const [name = ''] = readdirSync(folder);
  const { length } = readFileSync(join(folder, name));
  assert.ok(length < before.length / 3, `${length} of ${before.length} bytes`);
  const path = join(directory, 'loaded.sqlite');
  assert.equal(await store.get(snapshot, path), null);
  assert.ok(readFileSync(path).equals(before));
});

test('a snapshot that ends early, anywhere, is not listed', async (scope) => {
  const { folder, store, unusable, state } = await market(scope);
  const checkpoint = peekCheckpoint(state) ?? assert.fail('there is a state');
  const { name } = await store.put(state, checkpoint);
  const path = join(folder, `${name}.sqlite.gz`);
  const { length } = readFileSync(path);
  for (const end of [length - 1, length - 8, Math.floor(length / 2), 100, 1, 0]) {
    truncateSync(path, end);
    assert.deepEqual(await store.list(), [], `${end} bytes`);
    assert.match(unusable.pop() ?? '', /sqlite\.gz is damaged/);
  }
});

test('a snapshot of an earlier version is checked, loaded and removed', async (scope) => {
  const { directory, folder, store, unusable, state } = await market(scope);
  const checkpoint = peekCheckpoint(state) ?? assert.fail('there is a state');
  const next = { ...checkpoint, seq: checkpoint.seq + 1 };
  const earlier = { name: `${checkpoint.epoch}-${checkpoint.seq}`, checkpoint };
  const newer = await store.put(state, next);
  const file = join(folder, `${earlier.name}.sqlite`);
  for (const suffix of ['', CHECKSUMS_SUFFIX]) {
    writeFileSync(`${file}${suffix}`, readFileSync(`${state}${suffix}`));
  }
  assert.deepEqual(await store.list(), [newer, earlier]);
  const path = join(directory, 'loaded.sqlite');
  assert.equal(await store.get(earlier, path), null);
  assert.equal(await checkPages(path), 'whole');
  assert.deepEqual(peekCheckpoint(path), checkpoint);
  await store.removeExcept([newer, earlier]);
  assert.equal(readdirSync(folder).length, 3);
  const bytes = readFileSync(file);
  bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  assert.deepEqual(await store.list(), [newer]);
  assert.match(unusable.join(), /page 2 .* does not match its checksum/);
  await store.removeExcept([newer]);
  assert.deepEqual(readdirSync(folder), [`${newer.name}.sqlite.gz`]);
});
