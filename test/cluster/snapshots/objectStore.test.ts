/** Files in an object store: whole or absent. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { manager } from '../../../src/cluster/nats/stream.ts';
import { ObjectFiles } from '../../../src/cluster/snapshots/objectStore.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { marketName, NatsServer, PATIENT_MS } from '../../support/nats.ts';
import { temporaryDirectory } from '../../support/server.ts';

const server = await NatsServer.start({ after });
const link = await server.connect({ after });

function world(scope: TestContext) {
  const bucket = marketName();
  const directory = temporaryDirectory(scope);
  const files = new ObjectFiles(link, systemClock, systemRng, { bucket, replicas: 1 });
  const write = (name: string, bytes: Uint8Array) => {
    const path = join(directory, name);
    writeFileSync(path, bytes);
    return path;
  };
  return { bucket, directory, files, write, to: join(directory, 'fetched') };
}

function good<T>(value: T | Failure): T {
  assert.ok(!(value instanceof Failure), value instanceof Failure ? value.message : '');
  return value;
}

test('large, small and empty files come back the same', async (scope) => {
  const { files, write, to, directory } = world(scope);
  // More than one batch of a reader.
  for (const size of [9_000_003, 7, 0]) {
    const bytes = randomBytes(size);
    good(await files.put(`snapshot-${size}`, write('own', bytes)));
    good(await files.get(`snapshot-${size}`, to));
    assert.ok(bytes.equals(readFileSync(to)));
  }
  assert.deepEqual(readdirSync(directory).toSorted(), ['fetched', 'own']);
});

test('a damaged object is not written to its path', async (scope) => {
  const { files, write, to, bucket, directory } = world(scope);
  const bytes = randomBytes(1_000_000);
  good(await files.put('snapshot', write('own', bytes)));
  const jsm = await manager(link, PATIENT_MS);
  await jsm.streams.deleteMessage(`OBJ_${bucket}`, 3);
  writeFileSync(to, 'as it was');
  const failed = await files.get('snapshot', to);
  assert.ok(failed instanceof Failure);
  assert.match(failed.message, /damaged/);
  assert.equal(readFileSync(to, 'utf8'), 'as it was');
  assert.deepEqual(readdirSync(directory).toSorted(), ['fetched', 'own']);
});

test('a missing object and a missing file are reported', async (scope) => {
  const { files, to, directory } = world(scope);
  const failed = await files.get('nothing', to);
  assert.ok(failed instanceof Failure);
  assert.equal(failed.cause, 'NOT_FOUND');
  assert.equal(existsSync(to), false);
  assert.ok((await files.put('nothing', join(directory, 'none'))) instanceof Failure);
  assert.equal(await files.remove('nothing'), null);
  assert.deepEqual(await files.list(), []);
});

test('files are listed in the order of their puts, the newest first', async (scope) => {
  const { files, write } = world(scope);
  for (const name of ['d', 'a', 'c', 'b']) {
    good(await files.put(name, write('own', randomBytes(300_000))));
  }
  good(await files.put('a', write('own', randomBytes(10))));
  assert.deepEqual(good(await files.list()), ['a', 'b', 'c', 'd']);
  assert.equal(await files.remove('b'), null);
  assert.deepEqual(good(await files.list()), ['a', 'c', 'd']);
});

test('files put and fetched at once do not mix', async (scope) => {
  const { files, write, directory } = world(scope);
  const all = Array.from({ length: 6 }, (_, index) => ({
    name: `snapshot-${index % 3}`,
    bytes: randomBytes(400_000 + index),
  }));
  const puts = all.map(({ name, bytes }, index) => files.put(name, write(`own${index}`, bytes)));
  for (const put of await Promise.all(puts)) good(put);
  const fetches = [0, 1, 2, 0, 1, 2].map(async (index, fetch) => {
    const to = join(directory, `fetched${fetch}`);
    good(await files.get(`snapshot-${index}`, to));
    const got = readFileSync(to);
    return all.some(({ name, bytes }) => name === `snapshot-${index}` && bytes.equals(got));
  });
  assert.deepEqual(await Promise.all(fetches), Array(6).fill(true));
});

test('without NATS every method fails as not ready', async (scope) => {
  const own = await NatsServer.start(scope);
  const connection = await own.connect(scope);
  const shape = { bucket: 'b', replicas: 1 };
  const files = new ObjectFiles(connection, systemClock, systemRng, shape);
  await own.kill();
  const failed = await files.list();
  assert.ok(failed instanceof Failure);
  assert.equal(failed.cause, 'NOT_READY');
});
