/**
 * A PNG for a token without a picture: the face of a mascot before a ground of two colours, a
 * function of the seed text. Source: PNG specification, third edition.
 */
import { crc32, deflateSync } from 'node:zlib';
import { blake2b224 } from '../../cardano/codec/hash.ts';

const SIDE = 96;
/** Points a pixel and direction, so that edges are smooth. */
const SAMPLES = 3;
const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const BITS_PER_SAMPLE = 8;
const TRUECOLOUR = 2;

type Colour = readonly [red: number, green: number, blue: number];
/** In a square from −1 to 1; y grows downwards. */
type Shape = readonly [isInside: (x: number, y: number) => boolean, colour: Colour];

const INK: Colour = [28, 24, 36];
const WHITE: Colour = [255, 255, 255];
const TONGUE: Colour = [236, 94, 110];

export function pictureOf(seed: string): Uint8Array<ArrayBuffer> {
  const hash = Buffer.from(blake2b224(Buffer.from(seed, 'utf8')), 'hex');
  const ground = groundOf(hash);
  // If several shapes cover a point, the last one is seen.
  const shapes = mascot(hash).toReversed();
  const colourAt = (x: number, y: number) =>
    shapes.find(([isInside]) => isInside(x, y))?.[1] ?? ground(x, y);
  const rows: number[] = [];
  for (let row = 0; row < SIDE; row += 1) {
    rows.push(0);
    for (let column = 0; column < SIDE; column += 1) rows.push(...pixel(column, row, colourAt));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.set([BITS_PER_SAMPLE, TRUECOLOUR], 8);
  return new Uint8Array(
    Buffer.concat([
      SIGNATURE,
      chunk('IHDR', header),
      chunk('IDAT', deflateSync(Uint8Array.from(rows), { level: 9 })),
      chunk('IEND', new Uint8Array(0)),
    ]),
  );
}

function pixel(column: number, row: number, colourAt: (x: number, y: number) => Colour): Colour {
  const sum = [0, 0, 0];
  for (let part = 0; part < SAMPLES ** 2; part += 1) {
    const x = column + ((part % SAMPLES) + 0.5) / SAMPLES;
    const y = row + (Math.floor(part / SAMPLES) + 0.5) / SAMPLES;
    const colour = colourAt((2 * x) / SIDE - 1, (2 * y) / SIDE - 1);
    for (const [index, value] of colour.entries()) sum[index] = (sum[index] ?? 0) + value;
  }
  const mean = (index: number) => Math.round((sum[index] ?? 0) / SAMPLES ** 2);
  return [mean(0), mean(1), mean(2)];
}

/** Stripes, rays or rings of two shades of a hue. */
function groundOf(hash: Buffer): (x: number, y: number) => Colour {
  const hue = (hash[0] ?? 0) / 256;
  const [light, dark] = [ofHue(hue, 0.62, 0.74), ofHue(hue, 0.66, 0.6)];
  const kind = (hash[1] ?? 0) % 3;
  const count = 3 + ((hash[2] ?? 0) % 4);
  return (x, y) => {
    const turn = Math.atan2(y - 0.1, x) / (2 * Math.PI);
    const along = [x + y, turn * 4, Math.hypot(x, y) * 1.6][kind] ?? 0;
    return Math.floor((along + 8) * count) % 2 === 0 ? light : dark;
  };
}

function mascot(hash: Buffer): Shape[] {
  const choice = (index: number, count: number) => (hash[index] ?? 0) % count;
  const hue = ((hash[0] ?? 0) / 256 + 0.32 + choice(3, 64) / 180) % 1;
  const [fur, shade] = [ofHue(hue, 0.72, 0.56), ofHue(hue, 0.7, 0.4)];
  const [wide, high] = [0.56 + choice(4, 4) / 40, 0.54 + choice(5, 4) / 40];
  const muzzle = ofHue((hue + 0.04) % 1, 0.45, 0.82);
  return [
    ...ears(choice(6, 5), fur, shade),
    [ellipse(0, 0.12, wide, high), fur],
    [ellipse(0, 0.36, 0.3 + choice(7, 3) / 20, 0.22), muzzle],
    ...eyes(choice(8, 4), 0.2 + choice(9, 4) / 40),
    [ellipse(0, 0.24, 0.09, 0.06), INK],
    ...mouth(choice(10, 3)),
  ];
}

function ears(kind: number, fur: Colour, inner: Colour): Shape[] {
  const both = (shape: (side: number) => Shape[]) => [-1, 1].flatMap(shape);
  if (kind === 0) {
    return both((side) => [
      [ellipse(side * 0.44, -0.4, 0.24, 0.24), fur],
      [ellipse(side * 0.44, -0.4, 0.13, 0.13), inner],
    ]);
  }
  if (kind === 1) {
    return both((side) => [
      [triangle(side * 0.42, -0.86, 0.24, 0.74), fur],
      [triangle(side * 0.42, -0.68, 0.13, 0.5), inner],
    ]);
  }
  if (kind === 2) {
    return both((side) => [
      [ellipse(side * 0.26, -0.58, 0.13, 0.36), fur],
      [ellipse(side * 0.26, -0.58, 0.07, 0.26), inner],
    ]);
  }
  if (kind === 3) {
    return both((side) => [
      [ellipse(side * 0.28, -0.56, 0.035, 0.3), INK],
      [ellipse(side * 0.28, -0.82, 0.1, 0.1), inner],
    ]);
  }
  return both((side) => [[ellipse(side * 0.56, 0.02, 0.15, 0.36), inner]]);
}

function eyes(kind: number, apart: number): Shape[] {
  return [-1, 1].flatMap((side): Shape[] => {
    const x = side * apart;
    if (kind === 0) return [[ellipse(x, 0, 0.07, 0.1), INK]];
    if (kind === 3 && side === 1) return [[ellipse(x, 0, 0.1, 0.025), INK]];
    const size = kind === 1 ? 0.16 : 0.13;
    return [
      [ellipse(x, -0.02, size, size), WHITE],
      [ellipse(x + side * (kind - 2) * 0.03, 0, 0.075, 0.09), INK],
      [ellipse(x + 0.03, -0.04, 0.025, 0.025), WHITE],
    ];
  });
}

function mouth(kind: number): Shape[] {
  if (kind === 0)
    return [
      [ellipse(0, 0.42, 0.11, 0.09), INK],
      [ellipse(0, 0.46, 0.07, 0.05), TONGUE],
    ];
  const [depth, width] = kind === 1 ? [0.05, 0.16] : [0.025, 0.12];
  const smile = ellipse(0, 0.38, width, depth + 0.05);
  return [[(x, y) => y > 0.38 && smile(x, y) && !ellipse(0, 0.36, width, depth + 0.03)(x, y), INK]];
}

function ellipse(x: number, y: number, width: number, height: number): Shape[0] {
  return (atX, atY) => ((atX - x) / width) ** 2 + ((atY - y) / height) ** 2 <= 1;
}

/** Its tip at a point, and how wide it is at its foot. */
function triangle(x: number, y: number, width: number, height: number): Shape[0] {
  return (atX, atY) =>
    atY >= y && atY <= y + height && Math.abs(atX - x) <= (width * (atY - y)) / height;
}

/** Hue, saturation and lightness from 0 to 1. */
function ofHue(hue: number, saturation: number, lightness: number): Colour {
  const range = saturation * Math.min(lightness, 1 - lightness);
  const part = (offset: number) => {
    const place = (offset + hue * 12) % 12;
    const value = lightness - range * Math.max(-1, Math.min(place - 3, 9 - place, 1));
    return Math.round(value * 255);
  };
  return [part(0), part(8), part(4)];
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), 4 + named.length);
  return framed;
}
