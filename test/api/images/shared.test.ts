/** Images that nodes share over NATS: the contract, and what one node put and another asks for. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { cidOf } from '../../../src/api/images/cid.ts';
import { ImageFolder } from '../../../src/api/images/folder.ts';
import { SharedImages } from '../../../src/api/images/shared.ts';
import { ObjectFiles } from '../../../src/cluster/snapshots/objectStore.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { imagesContract, stored } from '../../contracts/images.ts';
import { NatsServer } from '../../support/nats.ts';
import { type Scope, temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import { gif, png } from './samples.ts';

async function openAt(scope: Scope, server: NatsServer, directory: string, maxBytes?: number) {
  const link = await server.connect(scope);
  const shape = { bucket: 'images', replicas: 1 };
  const files = new ObjectFiles(link, systemClock, systemRng, shape);
  mkdirSync(directory, { recursive: true });
  const limit = maxBytes === undefined ? {} : { maxBytes, isClaimed: () => false };
  return new SharedImages(new ImageFolder(directory, limit), files, directory, systemRng);
}

imagesContract('shared images', async (scope) => {
  const server = await NatsServer.start(scope);
  const directory = temporaryDirectory(scope);
  return { open: () => openAt(scope, server, directory) };
});

test('an image put by one node is answered by another, also when NATS is gone', async (scope) => {
  const server = await NatsServer.start(scope);
  const [one, other] = [temporaryDirectory(scope), temporaryDirectory(scope)];
  const bytes = png(7, 7, Buffer.alloc(400_000, 'shared'));
  const cid = String(await (await openAt(scope, server, one)).put(bytes, 'image/png'));
  const there = await openAt(scope, server, other);
  assert.deepEqual(await stored(there, cid), { bytes, mediaType: 'image/png' });
  assert.deepEqual(readdirSync(other), [cid], 'it is kept, and nothing half made is');
  await server.kill();
  assert.deepEqual(await stored(there, cid), { bytes, mediaType: 'image/png' });
});

test('without NATS a put is refused, an unknown one is not said to be nowhere', async (scope) => {
  const server = await NatsServer.start(scope);
  const store = await openAt(scope, server, temporaryDirectory(scope));
  await server.kill();
  const bytes = gif(3, 3);
  const cid = await cidOf(png(1, 1));
  const asked = await untilAsked(
    'it is noticed',
    () => store.get(cid),
    (answer) => answer instanceof Failure,
  );
  assert.ok(asked instanceof Failure && asked.cause === 'NOT_READY');
  const put = await store.put(bytes, 'image/gif');
  assert.ok(put instanceof Failure && put.cause === 'NOT_READY');
  await server.start();
  const again = () => store.put(bytes, 'image/gif');
  assert.equal(
    await untilAsked('it is back', again, (is) => !(is instanceof Failure)),
    await cidOf(bytes),
  );
});

test('an image that a full folder dropped is fetched again', async (scope) => {
  const server = await NatsServer.start(scope);
  const directory = temporaryDirectory(scope);
  const store = await openAt(scope, server, directory, 3 * 4096);
  const images = Array.from({ length: 6 }, (_, at) => gif(2, at + 1));
  const cids: string[] = [];
  for (const bytes of images) cids.push(String(await store.put(bytes, 'image/gif')));
  assert.ok(readdirSync(directory).length <= 3, 'the folder is bounded');
  for (const [at, cid] of cids.entries()) {
    assert.deepEqual((await stored(store, cid)).bytes, images[at]);
  }
  assert.ok(readdirSync(directory).length <= 3, 'the folder stays bounded');
});
