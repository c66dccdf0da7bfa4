/**
 * The files of a dump: `<directory>/<asset>/<kind>/<day>.<format>`, a UTC day in each, and beside
 * each its SHA-256 as `sha256sum` writes it. A file is complete or absent, also after kill -9.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DUMP_FORMATS, type DumpFormat } from './format.ts';

export interface DumpFile {
  readonly path: string;
  readonly asset: string;
  /** `trades`, or a resolution of bars. */
  readonly kind: string;
  /** `2026-11-23` */
  readonly day: string;
  readonly format: DumpFormat;
}

/** A dump that cannot be read; the message names the file and what to do. */
export class DumpError extends Error {}

/** A day is read at once: about two million trades as NDJSON. */
const MAX_BYTES = 512 * 1024 * 1024;
const DAY_SECONDS = 86_400;
const SUM = '.sha256';
const NAME = new RegExp(`^(\\d{4}-\\d{2}-\\d{2})\\.(${DUMP_FORMATS.join('|')})$`);

export function dayOf(timeSeconds: number): string {
  return new Date(timeSeconds * 1000).toISOString().slice(0, 10);
}

/** Start of a day, Unix seconds; null: no day of the calendar. */
export function startOfDay(day: string): number | null {
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(ms) || dayOf(ms / 1000) !== day) return null;
  return ms / 1000;
}

export function endOfDay(day: string): number | null {
  const start = startOfDay(day);
  return start === null ? null : start + DAY_SECONDS;
}

export async function writeDumpFile(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // A sum that does not fit its file is found by the reader; the file comes first.
  await replaceFile(path, bytes);
  await replaceFile(`${path}${SUM}`, Buffer.from(`${sumOf(bytes)}  ${basename(path)}\n`));
}

/** Throws where the bytes do not fit the sum, there is none, or they are too many for a day. */
export async function readDumpFile({ path }: DumpFile): Promise<Uint8Array> {
  const { size } = await stat(path);
  if (size > MAX_BYTES) {
    throw new DumpError(`${path}: ${size} bytes, at most ${MAX_BYTES}: a file holds one day`);
  }
  const [bytes, sum] = await Promise.all([
    readFile(path),
    // Said below, with the name of the file.
    readFile(`${path}${SUM}`, 'utf8').catch(() => null),
  ]);
  if (sum === null) throw new DumpError(`${path}: there is no ${basename(path)}${SUM} beside it`);
  if (sum.split(' ')[0] !== sumOf(bytes)) {
    throw new DumpError(
      `${path}: its SHA-256 is not that of ${basename(path)}${SUM}: fetch it again`,
    );
  }
  return bytes;
}

/** All files below a directory, oldest day first. */
export async function listDumpFiles(directory: string): Promise<DumpFile[]> {
  const names = await readdir(directory, { recursive: true });
  const files = names.flatMap((name) => {
    const [asset = '', kind = '', file = ''] = name.split('/').slice(-3);
    const [, day, format] = NAME.exec(file) ?? [];
    const known = DUMP_FORMATS.find((one) => one === format);
    if (day === undefined || known === undefined) return [];
    return [{ path: join(directory, name), asset, kind, day, format: known }];
  });
  const keyOf = ({ day, asset, kind }: DumpFile) => `${day} ${asset} ${kind}`;
  return files.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function sumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const partial = `${path}.partial`;
  const file = await open(partial, 'w');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
}
