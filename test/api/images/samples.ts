/** Images byte by byte: sound headers, any size in pixels, any length in bytes. */
import { crc32 } from 'node:zlib';

export function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  return Buffer.concat([uint32(content.length), body, uint32(crc32(body))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

export function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

export const PNG_MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export function png(width: number, height: number, filler: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 2, 0, 0, 0])]);
  const end = chunk('IEND', Buffer.alloc(0));
  return Buffer.concat([PNG_MAGIC, chunk('IHDR', header), chunk('IDAT', filler), end]);
}

export function gif(
  width: number,
  height: number,
  filler: Buffer = Buffer.alloc(0),
  version = '89a',
): Buffer {
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(width, 0);
  screen.writeUInt16LE(height, 2);
  return Buffer.concat([Buffer.from(`GIF${version}`), screen, filler, Buffer.from([0x3b])]);
}

/** `FF marker length content`. */
export function segment(marker: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xff, marker]), uint16(content.length + 2), content]);
}

export function frame(width: number, height: number, marker = 0xc0): Buffer {
  const size = Buffer.concat([uint16(height), uint16(width)]);
  const parts = Buffer.from([3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1]);
  return segment(marker, Buffer.concat([Buffer.from([8]), size, parts]));
}

export const JFIF = segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1'));
const SCAN = segment(0xda, Buffer.from([3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]));

export function jpeg(segments: readonly Buffer[], filler: Buffer = Buffer.alloc(0)): Buffer {
  const [start, end] = [Buffer.from([0xff, 0xd8]), Buffer.from([0xff, 0xd9])];
  return Buffer.concat([start, ...segments, SCAN, filler, end]);
}

export function photo(width: number, height: number, filler: Buffer = Buffer.alloc(0)): Buffer {
  const tables = [0xdb, 0xc4].map((marker) => segment(marker, Buffer.alloc(65, 1)));
  return jpeg([JFIF, ...tables, frame(width, height)], filler);
}
