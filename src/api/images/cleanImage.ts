/**
 * Takes out of a picture what does not draw it: where and with what it was taken (EXIF, XMP, IPTC),
 * comments, thumbnails, and whatever follows its end. A logo is public for ever, and photographs
 * carry the place where they were made. Nothing is decoded: pixels, colour profile, animation and
 * the orientation of a JPEG stay, and a picture without the rest stays as it is, byte for byte.
 * Sources: JPEG, ITU-T T.81 annex B; EXIF 2.32; PNG, third edition; GIF89a.
 */
import type { ImageType } from './header.ts';

/** null: the picture is cut off or damaged, so that no browser shows all of it. */
export function cleanImage(bytes: Uint8Array, type: ImageType): Uint8Array | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const pieces = PARTS[type](buffer);
    return pieces === null ? null : Buffer.concat(pieces);
  } catch (error) {
    // Node reads no number beyond the end of a buffer: the picture ends too early.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const PARTS: Readonly<Record<ImageType, (bytes: Buffer) => Buffer[] | null>> = {
  'image/jpeg': jpegParts,
  'image/png': pngParts,
  'image/gif': gifParts,
};

const START_OF_IMAGE = 0xd8;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
/** Adobe's: how colours are to be read. */
const APP14 = 0xee;
const APP15 = 0xef;
const COMMENT = 0xfe;

function jpegParts(bytes: Buffer): Buffer[] | null {
  const parts = [bytes.subarray(0, 2)];
  let orientation = 1;
  let hasScan = false;
  let at = 2;
  for (;;) {
    if (bytes.readUInt8(at) !== 0xff) return null;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      // A fill byte.
      at += 1;
      continue;
    }
    if (marker === END_OF_IMAGE) break;
    if (marker <= START_OF_IMAGE && marker >= 0xd0) return null;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const segment = bytes.subarray(at, end);
    if (marker === APP1) orientation = exifOrientation(segment) ?? orientation;
    const isScan = marker === START_OF_SCAN;
    hasScan ||= isScan;
    const next = isScan ? endOfScan(bytes, end) : end;
    if (next > bytes.length) return null;
    if (draws(marker, segment)) parts.push(bytes.subarray(at, next));
    at = next;
  }
  parts.push(Buffer.from([0xff, END_OF_IMAGE]));
  if (!hasScan) return null;
  if (orientation !== 1) parts.splice(afterJfif(parts), 0, exifOf(orientation));
  return parts;
}

function draws(marker: number, segment: Buffer): boolean {
  if (marker === COMMENT) return false;
  if (marker === APP2) return segment.subarray(4, 15).equals(Buffer.from('ICC_PROFILE'));
  return marker < APP0 || marker > APP15 || marker === APP0 || marker === APP14;
}

/** JFIF's segment stands first where there is one. */
function afterJfif(parts: readonly Buffer[]): number {
  return parts[1]?.[1] === APP0 ? 2 : 1;
}

/** Where the next marker stands that is not part of the coded pixels. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = from; ; at += 2) {
    at = bytes.indexOf(0xff, at);
    if (at < 0) return Number.POSITIVE_INFINITY;
    const next = bytes.readUInt8(at + 1);
    if (next === 0xff) at -= 1;
    else if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
  }
}

const EXIF = Buffer.from('Exif\0\0');
const ORIENTATION_TAG = 0x0112;

/** 1 to 8; null where the segment does not say. */
function exifOrientation(segment: Buffer): number | null {
  if (!segment.subarray(4, 10).equals(EXIF)) return null;
  const tiff = segment.subarray(10);
  const isLittle = tiff.subarray(0, 2).equals(Buffer.from('II'));
  const read16 = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  try {
    const first = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
    const count = read16(first);
    for (let index = 0; index < count; index += 1) {
      const entry = first + 2 + index * 12;
      if (read16(entry) !== ORIENTATION_TAG) continue;
      const value = read16(entry + 8);
      return value >= 1 && value <= 8 ? value : null;
    }
  } catch (error) {
    // A table that points beyond its segment: browsers ignore it too.
    if (!(error instanceof RangeError)) throw error;
  }
  return null;
}

/** A segment that says the orientation and nothing else. */
function exifOf(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*', 0, 'latin1');
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(ORIENTATION_TAG, 10);
  // One number of 16 bits.
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  const head = Buffer.from([0xff, APP1, 0, 2 + EXIF.length + tiff.length]);
  return Buffer.concat([head, EXIF, tiff]);
}

const PNG_SIGNATURE_BYTES = 8;
/** Chunks that draw: size, colours, pixels, transparency, and those of an animation. */
const PNG_DRAWS = new Set(
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT'.split(' '),
);

function pngParts(bytes: Buffer): Buffer[] | null {
  const parts = [bytes.subarray(0, PNG_SIGNATURE_BYTES)];
  let hasPixels = false;
  let at = PNG_SIGNATURE_BYTES;
  for (;;) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length) return null;
    const name = bytes.toString('latin1', at + 4, at + 8);
    if (PNG_DRAWS.has(name)) parts.push(bytes.subarray(at, end));
    hasPixels ||= name === 'IDAT';
    if (name === 'IEND') return hasPixels ? parts : null;
    at = end;
  }
}

const GIF_TRAILER = 0x3b;
const GIF_EXTENSION = 0x21;
const GIF_FRAME = 0x2c;
const GIF_CONTROL = 0xf9;
const GIF_APPLICATION = 0xff;
/** Both say how often an animation repeats. */
const GIF_LOOPS = ['NETSCAPE2.0', 'ANIMEXTS1.0'];

function gifParts(bytes: Buffer): Buffer[] | null {
  let at = 13 + tableBytes(bytes.readUInt8(10));
  const parts = [bytes.subarray(0, at)];
  let hasFrame = false;
  for (;;) {
    const kind = bytes.readUInt8(at);
    if (kind === GIF_TRAILER) break;
    if (kind !== GIF_EXTENSION && kind !== GIF_FRAME) return null;
    const isFrame = kind === GIF_FRAME;
    // A frame: its head, its colours and one byte before its blocks. An extension: two bytes.
    const blocks = isFrame ? at + 11 + tableBytes(bytes.readUInt8(at + 9)) : at + 2;
    const end = endOfBlocks(bytes, blocks);
    if (isFrame || gifDraws(bytes, at)) parts.push(bytes.subarray(at, end));
    hasFrame ||= isFrame;
    at = end;
  }
  parts.push(Buffer.from([GIF_TRAILER]));
  return hasFrame ? parts : null;
}

/** Of a table of colours, by the flags of its head. */
function tableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function endOfBlocks(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes.readUInt8(at) !== 0) at += 1 + bytes.readUInt8(at);
  return at + 1;
}

function gifDraws(bytes: Buffer, at: number): boolean {
  const label = bytes.readUInt8(at + 1);
  if (label !== GIF_APPLICATION) return label === GIF_CONTROL;
  return GIF_LOOPS.includes(bytes.toString('latin1', at + 3, at + 14));
}
