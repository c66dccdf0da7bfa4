/**
 * Cleaning of uploaded pictures removes parts that do not draw, and keeps the others byte for byte.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cleanedBlob, cleanPicture } from '../../../src/client/trade/cleanPicture.ts';
import {
  chunk,
  frame,
  gif,
  JFIF,
  jpeg,
  PNG_MAGIC,
  photo,
  png,
  segment,
} from '../../api/images/samples.ts';

const SECRET = 'GPS 48.8583 N 2.2945 E';
const ICC = segment(0xe2, Buffer.from('ICC_PROFILE\0\x01\x01profile', 'latin1'));
const ADOBE = segment(0xee, Buffer.from('Adobe\0\x64\0\0\0\0\x01', 'latin1'));
const TABLES = [0xdb, 0xc4].map((marker) => segment(marker, Buffer.alloc(65, 1)));
const GIF_FRAME = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);

/** A segment of EXIF: the orientation among other tags, in either order of bytes. */
function exif(orientation: number, isLittle: boolean): Buffer {
  const tiff = Buffer.alloc(38);
  tiff.write(isLittle ? 'II*\0' : 'MM\0*', 0, 'latin1');
  const write = (at: number, value: number, bytes: number) =>
    isLittle ? tiff.writeUIntLE(value, at, bytes) : tiff.writeUIntBE(value, at, bytes);
  write(4, 8, 4);
  write(8, 2, 2);
  // GPS, then the orientation.
  for (const [at, tag, type] of [
    [10, 0x8825, 4],
    [22, 0x0112, 3],
  ] as const) {
    write(at, tag, 2);
    write(at + 2, type, 2);
    write(at + 4, 1, 4);
  }
  write(30, orientation, 2);
  return segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff, Buffer.from(SECRET)]));
}

function clean(bytes: Buffer, type: 'image/png' | 'image/jpeg' | 'image/gif'): Buffer {
  const cleaned = cleanPicture(bytes, type);
  assert.ok(cleaned !== null);
  assert.ok(!Buffer.from(cleaned).includes(SECRET), 'nothing of it is left');
  return Buffer.from(cleaned);
}

test('a JPEG keeps its colours and loses EXIF, XMP, comments and what follows its end', () => {
  const hidden = [
    exif(1, true),
    segment(0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0${SECRET}`)),
    segment(0xe2, Buffer.from(`MPF\0${SECRET}`)),
    segment(0xed, Buffer.from(`Photoshop 3.0\0${SECRET}`)),
    segment(0xfe, Buffer.from(SECRET)),
  ];
  const drawn = [JFIF, ICC, ADOBE, ...TABLES, frame(4, 4)];
  // Coded pixels with a stuffed FF, a restart and fill bytes before the end.
  const pixels = Buffer.from([1, 0xff, 0, 2, 0xff, 0xd3, 3, 0xff]);
  const dirty = Buffer.concat([
    jpeg([...hidden, ...drawn, ...hidden], pixels),
    Buffer.from(SECRET),
  ]);
  assert.deepEqual(clean(dirty, 'image/jpeg'), jpeg(drawn, pixels));
});

test('a JPEG that was taken sideways stays upright', () => {
  for (const isLittle of [true, false]) {
    const cleaned = clean(jpeg([JFIF, exif(6, isLittle), frame(4, 4)]), 'image/jpeg');
    const again = clean(cleaned, 'image/jpeg');
    assert.deepEqual(again, cleaned);
    const at = cleaned.indexOf('Exif');
    assert.equal(cleaned.readUInt16BE(at + 6 + 18), 6);
    assert.ok(at > 0 && at < 40 && cleaned.indexOf('Exif', at + 1) < 0);
  }
});

test('a PNG loses texts, EXIF and times, and keeps colours and animation', () => {
  const text = (name: string) => chunk(name, Buffer.from(`Comment\0${SECRET}`));
  const header = png(2, 2).subarray(8, 33);
  const kept = ['sRGB', 'tRNS', 'acTL', 'IDAT', 'fdAT'].map((name) => chunk(name, Buffer.alloc(8)));
  const end = chunk('IEND', Buffer.alloc(0));
  const hidden = ['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME', 'prVt'].map(text);
  const dirty = [PNG_MAGIC, header, ...hidden, ...kept, ...hidden, end, Buffer.from(SECRET)];
  const pure = Buffer.concat([PNG_MAGIC, header, ...kept, end]);
  assert.deepEqual(clean(Buffer.concat(dirty), 'image/png'), pure);
});

test('a GIF loses comments and foreign applications, and still repeats', () => {
  const blocks = (text: string) =>
    Buffer.concat([Buffer.from([text.length]), Buffer.from(text), Buffer.from([0])]);
  const comment = Buffer.concat([Buffer.from([0x21, 0xfe]), blocks(SECRET)]);
  const application = (name: string, text: string) =>
    Buffer.concat([Buffer.from([0x21, 0xff, 11]), Buffer.from(name), blocks(text)]);
  const xmp = application('XMP DataXMP', SECRET);
  const drawn = [
    application('NETSCAPE2.0', '\x01\0\0'),
    Buffer.from([0x21, 0xf9, 4, 0, 9, 0, 0, 0]),
  ];
  const all = (...parts: Buffer[]) => gif(1, 1, Buffer.concat(parts));
  const dirty = Buffer.concat([
    all(comment, xmp, ...drawn, GIF_FRAME, comment),
    Buffer.from(SECRET),
  ]);
  assert.deepEqual(clean(dirty, 'image/gif'), all(...drawn, GIF_FRAME));
});

test('a picture with nothing to hide stays as it is', () => {
  assert.deepEqual(
    clean(photo(4, 4, Buffer.alloc(1000, 7)), 'image/jpeg'),
    photo(4, 4, Buffer.alloc(1000, 7)),
  );
  assert.deepEqual(clean(png(4, 4), 'image/png'), png(4, 4));
  assert.deepEqual(clean(gif(4, 4, GIF_FRAME), 'image/gif'), gif(4, 4, GIF_FRAME));
});

test('a launch uploads the clean picture, and what it cannot read as it is', async () => {
  const dirty = jpeg([exif(1, false), JFIF, frame(4, 4)]);
  const bytesOf = async (bytes: Buffer, type: string) =>
    Buffer.from(await (await cleanedBlob(new Blob([bytes], { type }))).arrayBuffer());
  for (const type of ['image/jpeg', 'image/jpg']) {
    assert.deepEqual(await bytesOf(dirty, type), clean(dirty, 'image/jpeg'));
  }
  assert.deepEqual(await bytesOf(dirty.subarray(0, 9), 'image/jpeg'), dirty.subarray(0, 9));
  assert.deepEqual(await bytesOf(dirty, 'image/webp'), dirty);
});

test('a JPEG without its end stays as it is', () => {
  const whole = photo(4, 4, Buffer.alloc(100, 7));
  assert.deepEqual(clean(whole.subarray(0, -2), 'image/jpeg'), whole.subarray(0, -2));
});

test('a picture that is cut off is refused, whatever else is in it', () => {
  const samples = [
    ['image/jpeg', jpeg([JFIF, exif(6, true), frame(4, 4)], Buffer.from([1, 2, 3]))],
    ['image/png', png(4, 4, Buffer.from('pixels'))],
    ['image/gif', gif(4, 4, GIF_FRAME)],
  ] as const;
  for (const [type, bytes] of samples) {
    // Pixels of a JPEG may go on to the end of the file.
    const least = type === 'image/jpeg' ? bytes.length - 5 : bytes.length;
    for (let length = 0; length < least; length += 1) {
      assert.equal(cleanPicture(bytes.subarray(0, length), type), null, `${type}, ${length} bytes`);
    }
    const random = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(random, fc.nat(bytes.length), (noise, at) => {
        const damaged = Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]);
        const cleaned = cleanPicture(damaged, type);
        assert.ok(cleaned === null || cleaned.length <= damaged.length + 36);
      }),
    );
  }
});
