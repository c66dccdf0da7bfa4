/**
 * Contract of every image store (src/api/images/port.ts), run against each adapter:
 * `imagesContract(name, place)`. A place is where one store lives; opened again, it finds the
 * images that were stored.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { cidOf } from '../../src/api/images/cid.ts';
import type { ImageType } from '../../src/api/images/header.ts';
import type { ImageStore } from '../../src/api/images/port.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { gif, photo, png } from '../api/images/samples.ts';

interface ImagesPlace {
  open(): Promise<ImageStore>;
}

export const KINDS: readonly (readonly [ImageType, typeof png])[] = [
  ['image/png', png],
  ['image/jpeg', photo],
  ['image/gif', gif],
];

/** Ids that no store holds, and texts that are none. */
export const NOWHERE = [
  'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e',
  'bafybeihykld7uyxzogax6vgyvag42y7464eywpf55gxi5qpoisibh3c5wa',
  '',
  '.',
  '../../etc/passwd',
  'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e.part',
  'QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn',
  'x'.repeat(10_000),
  'a\0b',
];

export async function stored(store: ImageStore, cid: string) {
  const image = await store.get(cid);
  assert.ok(image !== null && !(image instanceof Failure), `no image ${cid}`);
  return { bytes: Buffer.from(image.bytes), mediaType: image.mediaType };
}

export function imagesContract(
  name: string,
  place: (scope: TestContext) => Promise<ImagesPlace>,
): void {
  const check = (
    behaviour: string,
    run: (store: ImageStore, place: ImagesPlace) => Promise<void>,
  ) =>
    test(`${name}: ${behaviour}`, async (scope) => {
      const here = await place(scope);
      await run(await here.open(), here);
    });

  check('gives back what was put, under the id that IPFS has for it', async (store) => {
    for (const [mediaType, make] of KINDS) {
      for (const length of [0, 262_144, 5_000_000]) {
        const bytes = make(9, 9, Buffer.alloc(length, 'filler'));
        const cid = await store.put(bytes, mediaType);
        assert.equal(cid, await cidOf(bytes));
        assert.deepEqual(await stored(store, String(cid)), { bytes, mediaType });
      }
    }
  });

  check('takes the same bytes again, later and at once', async (store) => {
    const bytes = png(3, 3, Buffer.alloc(300_000, 'twice'));
    const first = await store.put(bytes, 'image/png');
    assert.equal(await store.put(bytes, 'image/png'), first);
    const other = png(3, 3, Buffer.alloc(300_000, 'at once'));
    const at = await Promise.all(Array.from({ length: 8 }, () => store.put(other, 'image/png')));
    assert.deepEqual([...new Set(at)], [await cidOf(other)]);
    assert.deepEqual(await stored(store, await cidOf(other)), {
      bytes: other,
      mediaType: 'image/png',
    });
  });

  check('keeps many apart that come at once', async (store) => {
    const images = Array.from({ length: 40 }, (_, at) => gif(1, at + 1));
    const cids = await Promise.all(images.map((bytes) => store.put(bytes, 'image/gif')));
    assert.equal(new Set(cids).size, 40);
    const got = await Promise.all(cids.map((cid) => stored(store, String(cid))));
    assert.deepEqual(
      got.map(({ bytes }) => bytes),
      images,
    );
  });

  check('has nothing under other ids, nor under what is no id', async (store) => {
    await store.put(png(1, 1), 'image/png');
    for (const cid of NOWHERE) assert.equal(await store.get(cid), null, cid);
  });

  check('refuses bytes that are not of the type they are said to be', async (store) => {
    const refused: [Buffer, ImageType][] = [
      [png(1, 1), 'image/gif'],
      [Buffer.from('<script>'), 'image/png'],
      [Buffer.alloc(0), 'image/jpeg'],
      [png(1, 1, Buffer.alloc(5 * 1_048_576)), 'image/png'],
    ];
    for (const [bytes, mediaType] of refused) {
      const answer = await store.put(bytes, mediaType);
      assert.ok(answer instanceof Failure && answer.cause === 'INVALID_PARAMS');
      assert.equal(await store.get(await cidOf(bytes)), null);
    }
  });

  check('has the same after it was opened again', async (store, here) => {
    const bytes = photo(4, 4, Buffer.alloc(600_000, 'again'));
    const cid = await store.put(bytes, 'image/jpeg');
    const again = await here.open();
    assert.deepEqual(await stored(again, String(cid)), { bytes, mediaType: 'image/jpeg' });
    assert.equal(await again.put(bytes, 'image/jpeg'), cid);
  });
}
