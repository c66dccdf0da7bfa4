/** The part of the contract of NATS that is about values that expire, and files. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bucket } from '../../src/cluster/nats/bucket.ts';
import type { NatsLink } from '../../src/cluster/nats/connection.ts';
import { manager } from '../../src/cluster/nats/stream.ts';
import { ObjectFiles } from '../../src/cluster/snapshots/objectStore.ts';
import { sleep } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { ANSWER_MS, type Check, type NatsPlace, newName } from './nats.ts';
import { eventually } from './natsRing.ts';

export function storesContract(check: Check, place: NatsPlace): void {
  values(check, place);

  check('files of several pieces come back, are listed and removed', async (scope) => {
    const directory = mkdtempSync(join(tmpdir(), 'objects-'));
    scope.after(() => rmSync(directory, { recursive: true }));
    const link = await place.connect(scope);
    const shape = { bucket: newName(), replicas: place.replicas };
    const files = new ObjectFiles(link, place.clock, seededRng(1), shape);
    const bytes = Buffer.alloc(300_000, 'bytes of a snapshot ');
    const path = join(directory, 'own');
    writeFileSync(path, bytes);
    // The first makes the store, for which the servers may not know yet that they have room.
    for (const name of ['one', 'two']) await eventually(place, () => files.put(name, path), null);
    const to = join(directory, 'fetched');
    assert.equal(await files.get('one', to), null);
    assert.ok(bytes.equals(readFileSync(to)));
    assert.deepEqual(await files.list(), ['two', 'one']);
    assert.equal(await files.remove('one'), null);
    assert.deepEqual(await files.list(), ['two']);
    assert.ok((await files.get('one', to)) instanceof Failure);
  });
}

/** An empty bucket, once the servers know that they have room for it. */
async function newBucket(place: NatsPlace, link: NatsLink, ttlMs = 60_000, name = newName()) {
  const bucket = new Bucket(link, { name, replicas: place.replicas, ttlMs }, ANSWER_MS);
  await eventually(place, () => bucket.get('none'), null);
  return bucket;
}

function values(check: Check, place: NatsPlace): void {
  check('a key is created once, updated by its revision, and removed', async (scope) => {
    const bucket = await newBucket(place, await place.connect(scope));
    assert.deepEqual(await bucket.create('key', 'a'), { write: 'done', revision: 1 });
    assert.deepEqual(await bucket.create('key', 'b'), { write: 'refused' });
    assert.deepEqual(await bucket.update('key', 'c', 1), { write: 'done', revision: 2 });
    assert.deepEqual(await bucket.update('key', 'd', 1), { write: 'refused' });
    const value = await bucket.get('key');
    assert.ok(value !== null && value !== 'unreachable');
    assert.deepEqual([value.text, value.revision], ['c', 2]);
    assert.deepEqual(await bucket.remove('key', 1), { write: 'refused' });
    assert.equal((await bucket.remove('key', 2)).write, 'done');
    assert.equal(await bucket.get('key'), null);
    assert.equal((await bucket.create('key', 'e')).write, 'done');
  });

  check('values expire, each by its own age', async (scope) => {
    const bucket = await newBucket(place, await place.connect(scope), 4_000);
    const putAndRead = async () => {
      await bucket.put('node.a', 'a');
      return bucket.all('node');
    };
    await eventually(place, putAndRead, ['a']);
    for (let waited = 0; waited < 20 && (await bucket.get('node.a')) !== null; waited += 1) {
      await sleep(place.clock, 500);
    }
    assert.deepEqual(await bucket.all('node'), []);
    assert.equal((await bucket.create('node.a', 'b')).write, 'done');
  });

  check('a listener hears each value that is put', async (scope) => {
    const link = await place.connect(scope);
    const bucket = await newBucket(place, link);
    const heard: string[] = [];
    const heardOfOne: string[] = [];
    bucket.watch('node.*', (text) => heard.push(text));
    bucket.watch('node.c', (text) => heardOfOne.push(text));
    await bucket.put('node.a', 'a');
    await bucket.put('other.b', 'b');
    await bucket.put('node.c', 'c');
    await link.connection.flush();
    assert.deepEqual([heard, heardOfOne], [['a', 'c'], ['c']]);
  });

  check('the longer lifetime of a bucket holds for what is there', async (scope) => {
    const link = await place.connect(scope);
    const name = newName();
    const short = await newBucket(place, link, 4_000, name);
    await short.put('key', 'a');
    const longer = { name, replicas: place.replicas, ttlMs: 600_000 };
    await new Bucket(link, longer, ANSWER_MS).lengthen();
    await sleep(place.clock, 6_000);
    const value = await short.get('key');
    assert.ok(value !== null && value !== 'unreachable');
    assert.equal(value.text, 'a');
    const { config } = await (await manager(link, ANSWER_MS)).streams.info(`KV_${name}`);
    assert.equal(config.max_age, 600_000_000_000);
  });
}
