/**
 * Checks by its first bytes whether an upload is an accepted image. Nothing is decoded, so a small
 * file that unpacks to gigabytes costs nothing. Declared type, magic bytes and size in pixels must
 * agree and be within bounds (protocol.md section 3).
 *
 * Why no library: decoders walk a JPEG marker by marker, but image-size 2.1.0 searches for what
 * looks like a marker. For some files its size differs from the size that every decoder finds, and
 * 5 MiB of zeros keep it busy for half a second. The tests compare with it on valid files.
 */
import { type Failure, invalid, invalidField } from '../../engine/runtime/errors.ts';
import { MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS } from '../../engine/runtime/limits.ts';

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif';

interface ImageHeader {
  readonly mediaType: ImageType;
  readonly width: number;
  readonly height: number;
}

/** Types a client may declare; many call JPEG `image/jpg`. */
const DECLARED: ReadonlyMap<string, ImageType> = new Map([
  ['image/png', 'image/png'],
  ['image/jpg', 'image/jpeg'],
  ['image/jpeg', 'image/jpeg'],
  ['image/gif', 'image/gif'],
]);
export const DECLARED_TYPES: readonly string[] = [...DECLARED.keys()];

const PNG_MAGIC = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const JPEG_MAGIC = Buffer.from([0xff, 0xd8, 0xff]);
const GIF_MAGICS = [Buffer.from('GIF87a'), Buffer.from('GIF89a')];

/** `path` names the field in the details of a refusal. */
export function checkImage(
  bytes: Uint8Array,
  declaredType: string,
  path = 'body.image',
): ImageHeader | Failure {
  const declared = DECLARED.get(declaredType.toLowerCase());
  if (declared === undefined) {
    const got = declaredType === '' ? 'none was given' : `got ${declaredType.slice(0, 100)}`;
    return invalid(
      path,
      `the type of the image must be one of ${DECLARED_TYPES.join(', ')}; ${got}`,
    );
  }
  if (bytes.length > MAX_IMAGE_BYTES) {
    return invalid(path, `the image may have at most ${MAX_IMAGE_BYTES} bytes`);
  }
  const actual = imageTypeOf(bytes);
  if (actual !== declared) {
    const what = actual ?? 'neither PNG, JPEG nor GIF';
    return invalid(path, `the image is declared as ${declaredType}, but its bytes are ${what}`);
  }
  const size = sizeOf(bytes, actual);
  if (size === null) return invalid(path, `the image's header is damaged: no size in it`);
  const { width, height } = size;
  if (Math.max(width, height) > MAX_IMAGE_PIXELS || Math.min(width, height) < 1) {
    const most = `${MAX_IMAGE_PIXELS}x${MAX_IMAGE_PIXELS}`;
    return invalid(path, `the image may have 1x1 to ${most} pixels; it has ${width}x${height}`);
  }
  return { mediaType: actual, width, height };
}

/** By magic bytes; null for everything else. */
export function imageTypeOf(bytes: Uint8Array): ImageType | null {
  const starts = (magic: Buffer) => magic.equals(bytes.subarray(0, magic.length));
  if (starts(PNG_MAGIC)) return 'image/png';
  if (starts(JPEG_MAGIC)) return 'image/jpeg';
  return GIF_MAGICS.some(starts) ? 'image/gif' : null;
}

/** Refuses bytes that are not of the declared type; null: accepted. */
export function refuseMismatch(bytes: Uint8Array, mediaType: ImageType): Failure | null {
  const actual = imageTypeOf(bytes);
  if (actual === mediaType && bytes.length <= MAX_IMAGE_BYTES) return null;
  return invalidField('body.image', `must be ${mediaType} of at most ${MAX_IMAGE_BYTES} bytes`);
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function sizeOf(bytes: Uint8Array, type: ImageType): Size | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (type === 'image/png') return pngSize(view);
  return type === 'image/gif' ? gifSize(view) : jpegSize(view);
}

const IHDR = 0x49484452;

/** The first chunk of a PNG is its header, 13 bytes. */
function pngSize(view: DataView): Size | null {
  if (view.byteLength < 33 || view.getUint32(8) !== 13 || view.getUint32(12) !== IHDR) return null;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** The logical screen, to which frames are clipped. */
function gifSize(view: DataView): Size | null {
  if (view.byteLength < 13) return null;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

const MARKER = {
  temporary: 0x01,
  firstFrame: 0xc0,
  huffmanTable: 0xc4,
  extension: 0xc8,
  arithmeticTable: 0xcc,
  lastFrame: 0xcf,
  restart: 0xd0,
  scan: 0xda,
} as const;

/** Segment by segment, as decoders do, to the first frame header; it must come before a scan. */
function jpegSize(view: DataView): Size | null {
  let at = 2;
  while (at + 4 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      // A fill byte: the marker follows.
      at += 1;
      continue;
    }
    // A marker without a segment, or the pixels: no frame header came before.
    if (marker <= MARKER.temporary || (marker >= MARKER.restart && marker <= MARKER.scan)) {
      return null;
    }
    if (isFrame(marker)) {
      if (at + 9 > view.byteLength) return null;
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    }
    const length = view.getUint16(at + 2);
    if (length < 2) return null;
    at += 2 + length;
  }
  return null;
}

function isFrame(marker: number): boolean {
  if (marker < MARKER.firstFrame || marker > MARKER.lastFrame) return false;
  const others: readonly number[] = [MARKER.huffmanTable, MARKER.extension, MARKER.arithmeticTable];
  return !others.includes(marker);
}
