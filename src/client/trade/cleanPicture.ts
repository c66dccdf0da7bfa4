/**
 * Removes from a picture everything that is not needed to draw it: metadata of place and camera
 * (EXIF, XMP, IPTC), comments, thumbnails, and bytes after its end. A logo is public for ever, and
 * photographs carry the place where they were made. Nothing is decoded: pixels, colour profile,
 * animation and the orientation of a JPEG stay, and a picture without the rest stays as it is, byte
 * for byte. Sources: JPEG, ITU-T T.81 annex B; EXIF 2.32; PNG, third edition; GIF89a.
 */
import { joined } from '../../cardano/codec/hex.ts';

const TYPES = ['image/png', 'image/jpeg', 'image/gif'] as const;
type PictureType = (typeof TYPES)[number];

/** null: the picture is damaged, or cut off before its pixels (JPEG) or its end. */
export function cleanPicture(bytes: Uint8Array, type: PictureType): Uint8Array | null {
  const picture = new Picture(bytes);
  try {
    const parts = PARTS[type](picture);
    return parts === null ? null : joined(parts);
  } catch (error) {
    // No number can be read beyond the end: the picture ends too early.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * A picture as a launch stores it; a picture that cannot be parsed stays unchanged, and the server
 * answers with the reason.
 */
export async function cleanedBlob(picture: Blob): Promise<Blob> {
  const bytes = new Uint8Array(await picture.arrayBuffer());
  const { type } = picture;
  const known = TYPES.find((each) => each === type.replace('jpg', 'jpeg'));
  const clean = known === undefined ? null : cleanPicture(bytes, known);
  return clean === null ? picture : new Blob([new Uint8Array(clean)], { type });
}

/** Bytes to read numbers and texts from; a read beyond their end throws RangeError. */
class Picture {
  readonly bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte(at: number): number {
    return this.#view.getUint8(at);
  }

  uint16(at: number, isLittle = false): number {
    return this.#view.getUint16(at, isLittle);
  }

  uint32(at: number, isLittle = false): number {
    return this.#view.getUint32(at, isLittle);
  }

  text(from: number, to: number): string {
    return String.fromCharCode(...this.bytes.subarray(from, to));
  }

  part(from: number, to?: number): Picture {
    return new Picture(this.bytes.subarray(from, to));
  }
}

type Parts = (picture: Picture) => Uint8Array[] | null;

const PARTS: Readonly<Record<PictureType, Parts>> = {
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

function jpegParts(picture: Picture): Uint8Array[] | null {
  const { bytes } = picture;
  const parts = [bytes.subarray(0, 2)];
  let orientation = 1;
  let hasScan = false;
  let at = 2;
  for (;;) {
    if (picture.byte(at) !== 0xff) return null;
    const marker = picture.byte(at + 1);
    if (marker === 0xff) {
      // A fill byte.
      at += 1;
      continue;
    }
    if (marker === END_OF_IMAGE) break;
    if (marker <= START_OF_IMAGE && marker >= 0xd0) return null;
    const end = at + 2 + picture.uint16(at + 2);
    if (end > bytes.length) return null;
    const segment = picture.part(at, end);
    if (marker === APP1) orientation = exifOrientation(segment) ?? orientation;
    const isScan = marker === START_OF_SCAN;
    hasScan ||= isScan;
    const next = isScan ? endOfScan(picture, end) : end;
    if (draws(marker, segment)) parts.push(bytes.subarray(at, next));
    at = next;
    // Some writers leave the end out behind the pixels, and every browser shows them.
    if (isScan && at === bytes.length) break;
  }
  if (at < bytes.length) parts.push(Uint8Array.of(0xff, END_OF_IMAGE));
  if (!hasScan) return null;
  if (orientation !== 1) parts.splice(afterJfif(parts), 0, exifOf(orientation));
  return parts;
}

function draws(marker: number, segment: Picture): boolean {
  if (marker === COMMENT) return false;
  if (marker === APP2) return segment.text(4, 15) === 'ICC_PROFILE';
  return marker < APP0 || marker > APP15 || marker === APP0 || marker === APP14;
}

/** JFIF's segment stands first where there is one. */
function afterJfif(parts: readonly Uint8Array[]): number {
  return parts[1]?.[1] === APP0 ? 2 : 1;
}

/** Where the next marker stands that is not part of the coded pixels, or all bytes end. */
function endOfScan(picture: Picture, from: number): number {
  for (let at = from; ; at += 2) {
    at = picture.bytes.indexOf(0xff, at);
    if (at < 0) return picture.bytes.length;
    const next = picture.byte(at + 1);
    if (next === 0xff) at -= 1;
    else if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
  }
}

const EXIF = 'Exif\0\0';
const ORIENTATION_TAG = 0x0112;

/** 1 to 8; null where the segment does not say. */
function exifOrientation(segment: Picture): number | null {
  if (segment.text(4, 10) !== EXIF) return null;
  const tiff = segment.part(10);
  const isLittle = tiff.text(0, 2) === 'II';
  try {
    const first = tiff.uint32(4, isLittle);
    const count = tiff.uint16(first, isLittle);
    for (let index = 0; index < count; index += 1) {
      const entry = first + 2 + index * 12;
      if (tiff.uint16(entry, isLittle) !== ORIENTATION_TAG) continue;
      const value = tiff.uint16(entry + 8, isLittle);
      return value >= 1 && value <= 8 ? value : null;
    }
  } catch (error) {
    // A table that points beyond its segment: browsers ignore it too.
    if (!(error instanceof RangeError)) throw error;
  }
  return null;
}

/** A segment that says the orientation and nothing else: one entry, one number of 16 bits. */
function exifOf(orientation: number): Uint8Array {
  const entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
  const tiff = [...codesOf('MM\0*'), 0, 0, 0, 8, 0, 1, ...entry, 0, 0, 0, 0];
  const content = [...codesOf(EXIF), ...tiff];
  return Uint8Array.of(0xff, APP1, 0, 2 + content.length, ...content);
}

function codesOf(text: string): number[] {
  return Array.from(text, (letter) => letter.charCodeAt(0));
}

const PNG_SIGNATURE_BYTES = 8;
/** Chunks that draw: size, colours, pixels, transparency, and the chunks of an animation. */
const PNG_DRAWS = new Set(
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT'.split(' '),
);

function pngParts(picture: Picture): Uint8Array[] | null {
  const { bytes } = picture;
  const parts = [bytes.subarray(0, PNG_SIGNATURE_BYTES)];
  let hasPixels = false;
  let at = PNG_SIGNATURE_BYTES;
  for (;;) {
    const end = at + 12 + picture.uint32(at);
    if (end > bytes.length) return null;
    const name = picture.text(at + 4, at + 8);
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

function gifParts(picture: Picture): Uint8Array[] | null {
  const { bytes } = picture;
  let at = 13 + tableBytes(picture.byte(10));
  const parts = [bytes.subarray(0, at)];
  let hasFrame = false;
  for (;;) {
    const kind = picture.byte(at);
    if (kind === GIF_TRAILER) break;
    if (kind !== GIF_EXTENSION && kind !== GIF_FRAME) return null;
    const isFrame = kind === GIF_FRAME;
    // A frame: its head, its colours and one byte before its blocks. An extension: two bytes.
    const blocks = isFrame ? at + 11 + tableBytes(picture.byte(at + 9)) : at + 2;
    const end = endOfBlocks(picture, blocks);
    if (isFrame || gifDraws(picture, at)) parts.push(bytes.subarray(at, end));
    hasFrame ||= isFrame;
    at = end;
  }
  parts.push(Uint8Array.of(GIF_TRAILER));
  return hasFrame ? parts : null;
}

/** Bytes of a table of colours, by the flags of its head. */
function tableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function endOfBlocks(picture: Picture, from: number): number {
  let at = from;
  while (picture.byte(at) !== 0) at += 1 + picture.byte(at);
  return at + 1;
}

function gifDraws(picture: Picture, at: number): boolean {
  const label = picture.byte(at + 1);
  if (label !== GIF_APPLICATION) return label === GIF_CONTROL;
  return GIF_LOOPS.includes(picture.text(at + 3, at + 14));
}
