/**
 * Lines of a file (plain or gzip) or of a pipe, with their numbers, as they arrive: what one chunk
 * completes is handed over together, so that a live pipe is not held back.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

export interface NumberedLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

export const MAX_LINE_CHARACTERS = 65_536;
const CHUNK_BYTES = 256 * 1024;

export function openFile(path: string): Readable {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (!path.endsWith('.gz')) return file;
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => unpacked.destroy(error));
  return file.pipe(unpacked);
}

/** The name under which a file's progress is remembered: the hash of its bytes. */
export async function fingerprint(path: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }))
    sum.update(chunk);
  return sum.digest('hex');
}

/** Lines longer than MAX_LINE_CHARACTERS come cut to one more; blank ones are left out. */
export async function* readLines(input: Readable): AsyncGenerator<readonly NumberedLine[]> {
  input.setEncoding('utf8');
  let rest = '';
  let number = 0;
  for await (const chunk of input) {
    const texts = (rest + String(chunk)).split('\n');
    rest = (texts.pop() ?? '').slice(0, MAX_LINE_CHARACTERS + 1);
    yield texts.map((text) => numbered(text)).filter(isFull);
  }
  yield [numbered(rest)].filter(isFull);

  function numbered(text: string): NumberedLine {
    number += 1;
    return { number, text: text.slice(0, MAX_LINE_CHARACTERS + 1) };
  }
}

function isFull({ text }: NumberedLine): boolean {
  return text.trim() !== '';
}
