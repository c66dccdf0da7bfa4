/** The part of the contract of NATS that is about values that expire, and files. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bucket } from '../../src/cluster/nats/bucket.ts';
import { manager } from '../../src/cluster/nats/stream.ts';
import { ObjectFiles } from '../../src/cluster/snapshots/objectStore.ts';
import { sleep } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { ANSWER_MS, type Check, type NatsPlace, newName } from './nats.ts';

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
    for (const name of ['one', 'two']) assert.equal(await files.put(name, path), null);
    const to = join(directory, 'fetched');
    assert.equal(await files.get('one', to), null);
    assert.ok(bytes.equals(readFileSync(to)));
    assert.deepEqual(await files.list(), ['two', 'one']);
    assert.equal(await files.remove('one'), null);
    assert.deepEqual(await files.list(), ['two']);
    assert.ok((await files.get('one', to)) instanceof Failure);
  });
}

function values(check: Check, place: NatsPlace): void {
  check('a key is created once, updated by its revision, and removed', async (scope) => {
    const link = await place.connect(scope);
    const bucket = new Bucket(
      link,
      { name: newName(), replicas: place.replicas, ttlMs: 60_000 },
      ANSWER_MS,
    );
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
    const link = await place.connect(scope);
    const { replicas } = place;
    const bucket = new Bucket(link, { name: newName(), replicas, ttlMs: 4_000 }, ANSWER_MS);
    await bucket.put('node.a', 'a');
    assert.deepEqual(await bucket.all('node'), ['a']);
    for (let waited = 0; waited < 20 && (await bucket.get('node.a')) !== null; waited += 1) {
      await sleep(place.clock, 500);
    }
    assert.deepEqual(await bucket.all('node'), []);
    assert.equal((await bucket.create('node.a', 'b')).write, 'done');
  });

  check('a listener hears each value that is put', async (scope) => {
    const link = await place.connect(scope);
    const bucket = new Bucket(
      link,
      { name: newName(), replicas: place.replicas, ttlMs: 60_000 },
      ANSWER_MS,
    );
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
    const shape = { name, replicas: place.replicas };
    const short = new Bucket(link, { ...shape, ttlMs: 4_000 }, ANSWER_MS);
    await short.put('key', 'a');
    await new Bucket(link, { ...shape, ttlMs: 600_000 }, ANSWER_MS).lengthen();
    await sleep(place.clock, 6_000);
    const value = await short.get('key');
    assert.ok(value !== null && value !== 'unreachable');
    assert.equal(value.text, 'a');
    const { config } = await (await manager(link, ANSWER_MS)).streams.info(`KV_${name}`);
    assert.equal(config.max_age, 600_000_000_000);
  });
}
