/**
 * A snapshot as one gzip file: a line with its checkpoint, then the database. gzip ends with length
 * and checksum of both, so a file that is read to its end is as it was written.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { assert } from '../runtime/assert.ts';
import type { Checkpoint } from '../store/state.ts';

/** Each piece costs a turn of the event loop. */
const PIECE_BYTES = 256 * 1024;
const READ = { highWaterMark: PIECE_BYTES };
/** A higher level takes more time and a fortieth less room. */
const ZLIB = { level: 1, chunkSize: PIECE_BYTES };
const LINE_FEED = 10;

/** Writes a checkpoint and its closed database at `path` into `to`, and syncs it. */
export async function compress(path: string, checkpoint: Checkpoint, to: string): Promise<void> {
  const content = async function* () {
    yield Buffer.from(`${JSON.stringify(checkpoint)}\n`);
    yield* createReadStream(path, READ);
  };
  await pipeline(content, createGzip(ZLIB), createWriteStream(to, { flush: true }));
}

/** Reads all of the file. Rejects where it is damaged. */
export async function readCheckpoint(path: string): Promise<Checkpoint> {
  let line = '';
  await pipeline(createReadStream(path, READ), createGunzip(ZLIB), async (content) => {
    for await (const bytes of split(content)) line ||= bytes.toString();
  });
  // trust: `compress` wrote it
  return JSON.parse(line) as Checkpoint;
}

/** Writes the database into `to`. Rejects where the file is damaged. */
export async function decompress(path: string, to: string): Promise<void> {
  const database = async function* (content: AsyncIterable<Buffer>) {
    let isLine = true;
    for await (const bytes of split(content)) {
      if (!isLine) yield bytes;
      isLine = false;
    }
  };
  const file = createWriteStream(to);
  await pipeline(createReadStream(path, READ), createGunzip(ZLIB), database, file);
}

/** The first line, then all that follows it. */
async function* split(content: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let line: Buffer | null = Buffer.alloc(0);
  for await (const bytes of content) {
    if (line === null) {
      yield bytes;
      continue;
    }
    const all: Buffer = Buffer.concat([line, bytes]);
    const end = all.indexOf(LINE_FEED);
    line = end < 0 ? all : null;
    if (end < 0) continue;
    yield all.subarray(0, end);
    yield all.subarray(end + 1);
  }
  assert(line === null, 'a snapshot begins with a line');
}
