/**
 * SQLite's write-ahead log, read as a file: which frames are valid, and which pages they hold.
 * Source: "WAL-mode File Format" on sqlite.org.
 *
 * Why we read it: SQLite treats the first invalid frame as the end of the log. That is right after
 * a power cut and wrong after damage, which would then undo commits silently.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import { systemCode } from '../runtime/errors.ts';
import { PAGE_BYTES } from './database.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
const FRAMES_PER_READ = 256;
const MAGIC = 0x377f0682;

interface WalHeader {
  /** Different after each restart of the write-ahead log, and repeated in each of its frames. */
  readonly salts: string;
  readonly isLittle: boolean;
  /** Checksum of the first 24 bytes; each frame's checksum continues the one before it. */
  readonly sum: Sum;
  readonly isValid: boolean;
}

interface Sum {
  a: number;
  b: number;
}

interface Frame {
  /** From 0. */
  readonly index: number;
  readonly page: number;
  readonly isCommit: boolean;
  readonly salts: string;
  readonly bytes: Buffer;
}

interface WalContent {
  readonly salts: string;
  /** Frames up to the last valid commit. */
  readonly frames: number;
  /** Pages in them. */
  readonly pages: ReadonlySet<number>;
  /** Commits follow behind an invalid frame. */
  readonly isCut: boolean;
}

/** null: there is no write-ahead log, or an empty one. */
export function readWal(file: string): WalContent | null {
  return withWal(file, (fd) => {
    const header = readHeader(fd);
    if (header === null) return null;
    const pages = new Set<number>();
    let waiting: number[] = [];
    let frames = 0;
    let [isValid, salts] = [header.isValid, header.isValid ? header.salts : null];
    let [commitsBehind, isCut] = [0, false];
    const sum = { ...header.sum };
    for (const frame of framesOf(fd, 0)) {
      salts ??= frame.salts;
      isValid &&= frame.salts === salts && isIntact(frame, header.isLittle, sum);
      if (!isValid) {
        if (frame.salts !== salts) continue;
        if (commitsBehind > 0) isCut = true;
        if (frame.isCommit) commitsBehind += 1;
        continue;
      }
      waiting.push(frame.page);
      if (!frame.isCommit) continue;
      for (const page of waiting) pages.add(page);
      waiting = [];
      frames = frame.index + 1;
    }
    return { salts: header.isValid ? header.salts : '', frames, pages, isCut };
  });
}

/** Frames in [from, to) as they were written: `take` gets each page with its bytes. */
export function eachFrame(
  file: string,
  from: number,
  to: number,
  take: (page: number, bytes: Buffer) => void,
): void {
  withWal(file, (fd) => {
    for (const { index, page, bytes } of framesOf(fd, from)) {
      if (index >= to) break;
      take(page, bytes.subarray(FRAME_HEADER_BYTES));
    }
    return null;
  });
}

/** null: there is none. */
export function walSalts(file: string): string | null {
  return withWal(file, (fd) => readHeader(fd)?.salts ?? null);
}

function withWal<T>(file: string, use: (fd: number) => T): T | null {
  let fd: number;
  try {
    fd = openSync(`${file}-wal`, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

function readHeader(fd: number): WalHeader | null {
  const bytes = Buffer.alloc(HEADER_BYTES);
  if (readSync(fd, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null;
  const magic = bytes.readUInt32BE(0);
  const isLittle = (magic & 1) === 0;
  const sum = { a: 0, b: 0 };
  addTo(sum, bytes, 0, 24, isLittle);
  const isValid =
    magic >>> 1 === MAGIC >>> 1 &&
    bytes.readUInt32BE(8) === PAGE_BYTES &&
    bytes.readUInt32BE(24) === sum.a &&
    bytes.readUInt32BE(28) === sum.b;
  return { salts: bytes.toString('hex', 16, 24), isLittle, sum, isValid };
}

function* framesOf(fd: number, from: number): Generator<Frame> {
  const bytes = Buffer.alloc(FRAMES_PER_READ * FRAME_BYTES);
  for (let first = from; ; first += FRAMES_PER_READ) {
    const read = readSync(fd, bytes, 0, bytes.length, HEADER_BYTES + first * FRAME_BYTES);
    const count = Math.floor(read / FRAME_BYTES);
    for (let index = 0; index < count; index += 1) {
      const frame = bytes.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES);
      yield {
        index: first + index,
        page: frame.readUInt32BE(0),
        isCommit: frame.readUInt32BE(4) !== 0,
        salts: frame.toString('hex', 8, 16),
        bytes: frame,
      };
    }
    if (count < FRAMES_PER_READ) return;
  }
}

/** Adds the frame to `sum` and compares. */
function isIntact({ bytes }: Frame, isLittle: boolean, sum: Sum): boolean {
  addTo(sum, bytes, 0, 8, isLittle);
  addTo(sum, bytes, FRAME_HEADER_BYTES, FRAME_BYTES, isLittle);
  return bytes.readUInt32BE(16) === sum.a && bytes.readUInt32BE(20) === sum.b;
}

function addTo(sum: Sum, bytes: Buffer, from: number, to: number, isLittle: boolean): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let { a, b } = sum;
  for (let offset = from; offset < to; offset += 8) {
    a = (a + view.getUint32(offset, isLittle) + b) | 0;
    b = (b + view.getUint32(offset + 4, isLittle) + a) | 0;
  }
  sum.a = a >>> 0;
  sum.b = b >>> 0;
}
