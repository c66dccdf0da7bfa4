import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { imageSize } from 'image-size';
import { checkImage, imageTypeOf } from '../../../src/api/images/header.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { MAX_IMAGE_BYTES } from '../../../src/engine/runtime/limits.ts';
import { chunk, frame, gif, JFIF, jpeg, photo, png, segment } from './samples.ts';

const MAKERS = { 'image/png': png, 'image/jpeg': photo, 'image/gif': gif } as const;
const TYPES = ['image/png', 'image/jpeg', 'image/gif'] as const;

function refusal(bytes: Uint8Array, type: string): string {
  const checked = checkImage(bytes, type);
  assert.ok(checked instanceof Failure, 'accepted');
  assert.deepEqual([checked.cause, checked.status], ['INVALID_PARAMS', 400]);
  assert.deepEqual(checked.details, [{ path: 'body.image', message: checked.message }]);
  return checked.message;
}

test('images of each type are accepted, with their size', () => {
  for (const type of TYPES) {
    for (const [width, height] of [
      [1, 1],
      [4096, 4096],
      [300, 7],
    ] as const) {
      const image = MAKERS[type](width, height);
      assert.deepEqual(checkImage(image, type), { mediaType: type, width, height });
    }
  }
  const jpg = { mediaType: 'image/jpeg', width: 2, height: 3 };
  assert.deepEqual(checkImage(photo(2, 3), 'image/jpg'), jpg);
  assert.deepEqual(checkImage(photo(2, 3), 'IMAGE/JPEG'), jpg);
  assert.ok(!(checkImage(gif(2, 3, Buffer.alloc(0), '87a'), 'image/gif') instanceof Failure));
});

test('we read sound images as an independent reader does', () => {
  const side = fc.integer({ min: 1, max: 4096 });
  const filler = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.constantFrom(...TYPES), side, side, filler, (type, width, height, bytes) => {
      const image = MAKERS[type](width, height, bytes);
      const read = imageSize(image);
      assert.deepEqual(checkImage(image, type), {
        mediaType: type,
        width: read.width,
        height: read.height,
      });
    }),
  );
});

test('other types are refused, whatever the bytes are', () => {
  for (const type of ['image/webp', 'image/svg+xml', 'text/html', 'image/png2', '', 'png']) {
    assert.match(refusal(png(1, 1), type), /image\/png, image\/jpg, image\/jpeg, image\/gif/);
  }
});

test('bytes that are not what is declared are refused, and called what they are', () => {
  for (const declared of TYPES) {
    for (const actual of TYPES) {
      if (actual === declared) continue;
      const message = refusal(MAKERS[actual](1, 1), declared);
      assert.ok(message.includes(declared) && message.includes(actual), message);
    }
    const others = ['', 'P', '<svg/>', '<html>', 'GIF88a', 'RIFF....WEBPVP8 ', '\xff\xd8\0'];
    for (const text of others) {
      assert.match(refusal(Buffer.from(text, 'latin1'), declared), /neither PNG, JPEG nor GIF/);
    }
  }
});

test('5 MiB are accepted, one byte more is not', () => {
  for (const type of TYPES) {
    const rest = MAX_IMAGE_BYTES - MAKERS[type](9, 9).length;
    const most = MAKERS[type](9, 9, Buffer.alloc(rest));
    assert.equal(most.length, MAX_IMAGE_BYTES);
    assert.ok(!(checkImage(most, type) instanceof Failure));
    assert.match(refusal(MAKERS[type](9, 9, Buffer.alloc(rest + 1)), type), /at most 5242880/);
  }
});

test('more than 4096 pixels a side, or none, are refused with the size', () => {
  const sizes = [
    [4097, 1],
    [1, 4097],
    [65_535, 65_535],
    [0, 1],
    [1, 0],
  ] as const;
  for (const type of TYPES) {
    for (const [width, height] of sizes) {
      const message = refusal(MAKERS[type](width, height), type);
      assert.match(message, new RegExp(`4096x4096 pixels; it has ${width}x${height}$`));
    }
  }
  assert.match(refusal(png(0xffffffff, 0x80000000), 'image/png'), /4294967295x2147483648/);
});

test('a JPEG is read as decoders read it: the frame that counts, not one in the dust', () => {
  const huge = frame(60_000, 60_000);
  const tiny = frame(1, 1);
  const fill = Buffer.from([0xff]);
  for (const segments of [
    [huge, tiny],
    [JFIF, huge, tiny],
    [JFIF, segment(0xe1, tiny), huge],
    [fill, JFIF, fill, fill, huge, tiny],
    [segment(0xe2, Buffer.concat([tiny, tiny])), segment(0xfe, tiny), frame(60_000, 60_000, 0xc2)],
  ]) {
    assert.match(refusal(jpeg(segments, tiny), 'image/jpeg'), /60000x60000/);
  }
  const markers = [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc9, 0xca, 0xcf];
  for (const marker of markers) {
    const sized = checkImage(jpeg([JFIF, fill, frame(5, 6, marker)]), 'image/jpeg');
    assert.deepEqual(sized, { mediaType: 'image/jpeg', width: 5, height: 6 });
  }
});

test('headers without a size are refused', () => {
  const damaged: [Uint8Array, string][] = [
    [png(1, 1).subarray(0, 32), 'image/png'],
    [Buffer.concat([png(1, 1).subarray(0, 8), chunk('IDAT', Buffer.alloc(13))]), 'image/png'],
    [
      Buffer.concat([
        png(1, 1).subarray(0, 8),
        chunk('CgBI', Buffer.alloc(4)),
        png(1, 1).subarray(8),
      ]),
      'image/png',
    ],
    [gif(1, 1).subarray(0, 12), 'image/gif'],
    [jpeg([JFIF]), 'image/jpeg'],
    [jpeg([JFIF], frame(1, 1)), 'image/jpeg'],
    [jpeg([JFIF, Buffer.from([0]), frame(1, 1)]), 'image/jpeg'],
    [jpeg([JFIF, Buffer.from([0xff, 0xd8]), frame(1, 1)]), 'image/jpeg'],
    [jpeg([JFIF, Buffer.from([0xff, 0xe1, 0, 1]), frame(1, 1)]), 'image/jpeg'],
    [Buffer.concat([Buffer.from([0xff, 0xd8]), frame(1, 1).subarray(0, 8)]), 'image/jpeg'],
    [Buffer.from([0xff, 0xd8, 0xff]), 'image/jpeg'],
    [Buffer.alloc(1000, 0xff).fill(0xd8, 1, 2), 'image/jpeg'],
  ];
  for (const [bytes, type] of damaged) assert.match(refusal(bytes, type), /damaged/);
});

test('no bytes make it throw, whatever buffer they lie in', () => {
  const magics = TYPES.map((type) => MAKERS[type](7, 8).subarray(0, 12));
  const bytes = fc.tuple(
    fc.constantFrom(...magics, Buffer.alloc(0)),
    fc.array(fc.constantFrom(0, 1, 2, 0xff, 0xc0, 0xc4, 0xda, 0xe0, 0x11), { maxLength: 200 }),
    fc.nat(12),
  );
  fc.assert(
    fc.property(bytes, fc.constantFrom(...TYPES), ([magic, rest, cut], type) => {
      const around = Buffer.concat([
        Buffer.alloc(5, 0xff),
        magic.subarray(cut),
        Buffer.from(rest),
        png(3, 3),
      ]);
      const inside = around.subarray(5, around.length - png(3, 3).length);
      const alone = checkImage(Uint8Array.from(inside), type);
      const amid = checkImage(inside, type);
      assert.deepEqual(amid, alone);
      if (!(amid instanceof Failure)) assert.equal(amid.mediaType, imageTypeOf(inside));
    }),
    { numRuns: 5_000 },
  );
});

/** How often `run` reads from a view of bytes. */
function readsOf(run: () => void): number {
  const view = DataView.prototype;
  const { getUint8, getUint16 } = view;
  let reads = 0;
  view.getUint8 = function (at) {
    reads += 1;
    return getUint8.call(this, at);
  };
  view.getUint16 = function (at, isLittle) {
    reads += 1;
    return getUint16.call(this, at, isLittle);
  };
  try {
    run();
  } finally {
    Object.assign(view, { getUint8, getUint16 });
  }
  return reads;
}

test('5 MiB of hostile bytes are read once, not again from every byte', () => {
  for (const unit of [[0], [0xff], [0xff, 0xe0, 0, 2], [0xff, 0xc4, 0, 2]]) {
    const bytes = Buffer.alloc(MAX_IMAGE_BYTES, Buffer.from(unit));
    Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2]).copy(bytes);
    const reads = readsOf(() => refusal(bytes, 'image/jpeg'));
    assert.ok(reads > 0 && reads <= 3 * bytes.length, `${unit}: ${reads} reads`);
  }
});
