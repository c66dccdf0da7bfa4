/**
 * A small PNG for a token without a picture: a mirrored pattern of squares in one colour,
 * a function of the seed text. Source: PNG specification, third edition.
 */
import { crc32, deflateSync } from 'node:zlib';
import { blake2b224 } from '../../cardano/codec/hash.ts';

const CELLS = 5;
const CELL_PIXELS = 12;
const MARGIN_PIXELS = 6;
const SIDE = CELLS * CELL_PIXELS + 2 * MARGIN_PIXELS;
const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const BITS_PER_SAMPLE = 8;
const PALETTE = 3;

export function pictureOf(seed: string): Uint8Array<ArrayBuffer> {
  const hash = Buffer.from(blake2b224(Buffer.from(seed, 'utf8')), 'hex');
  const at = (index: number) => hash[index] ?? 0;
  const ground = [at(0) >> 2, at(1) >> 2, at(2) >> 2];
  const figure = [128 | at(0), 128 | at(4), 128 | at(5)];
  const rows: number[] = [];
  for (let y = 0; y < SIDE; y += 1) {
    rows.push(0);
    for (let x = 0; x < SIDE; x += 1) rows.push(isFigure(hash, x, y) ? 1 : 0);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.set([BITS_PER_SAMPLE, PALETTE], 8);
  return new Uint8Array(
    Buffer.concat([
      SIGNATURE,
      chunk('IHDR', header),
      chunk('PLTE', Uint8Array.from([...ground, ...figure])),
      chunk('IDAT', deflateSync(Uint8Array.from(rows))),
      chunk('IEND', new Uint8Array(0)),
    ]),
  );
}

function isFigure(hash: Uint8Array, x: number, y: number): boolean {
  const column = Math.floor((x - MARGIN_PIXELS) / CELL_PIXELS);
  const row = Math.floor((y - MARGIN_PIXELS) / CELL_PIXELS);
  if (column < 0 || column >= CELLS || row < 0 || row >= CELLS) return false;
  const mirrored = Math.min(column, CELLS - 1 - column);
  return ((hash[6 + mirrored * CELLS + row] ?? 0) & 1) === 1;
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), 4 + named.length);
  return framed;
}
