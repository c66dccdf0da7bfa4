/**
 * A checksum of each page of a database file, kept beside it in `<file>-sums`. With them a start
 * finds damage anywhere in the file for the price of reading it once.
 *
 * Assumes: pages change only in a checkpoint, which moves them from the write-ahead log into the
 *          file, and `updatePageChecksums` runs after each one before anything else is written.
 * Crash:   a page whose checksum is behind is still in the write-ahead log, which has its own
 *          checksums: it is not checked here. Sums that were damaged look like a damaged page.
 * Never:   finds damage that happened before the sums were made, or while the program runs.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Fault } from '../runtime/assert.ts';
import { type Database, openDatabase, PAGE_BYTES } from './database.ts';
import { eachFrame, readWal, walSalts } from './walFile.ts';

/** Behind the name of the database; moved, copied and removed with it. */
export const CHECKSUMS_SUFFIX = '-sums';

/** Files beside a database file, by suffix. */
export const COMPANION_SUFFIXES = ['-wal', '-shm', CHECKSUMS_SUFFIX];

/** `whole`: as written. `unknown`: there are no sums yet. Else what is wrong. */
type PageCheck = 'whole' | 'unknown' | Fault;

const MAGIC = 'upcurve sums 1\n\n';
const HEADER_BYTES = 64;
const PAGES_PER_READ = 256;
const BLOCK_BYTES = 4096;
/** In one step of a copy. */
const ALL_PAGES = 2 ** 31 - 1;
/** SQLite locks bytes of this page and never writes it. */
const LOCK_PAGE = 2 ** 30 / PAGE_BYTES + 1;

/**
 * Locks of SQLite belong to the process, and the system releases them when the process closes any
 * descriptor of the file. So descriptors of a locked file stay open until the database is closed.
 */
const kept = new Map<string, (() => unknown)[]>();

/** This thread closes no descriptor of `file` until `releaseLocked`. */
export function keepLocked(file: string): void {
  if (!kept.has(file)) kept.set(file, []);
}

/** SQLite has closed it. */
export function releaseLocked(file: string): void {
  for (const close of kept.get(file) ?? []) close();
  kept.delete(file);
}

async function closeDescriptor(file: string, close: () => unknown): Promise<void> {
  const keeping = kept.get(file);
  if (keeping === undefined) await close();
  else keeping.push(close);
}

interface Sums {
  /** Identity of the write-ahead log whose first `moved` frames are in the sums. */
  readonly salts: string;
  readonly moved: number;
  readonly pages: number;
  readonly bytes: Buffer;
}

/**
 * Bounds of a write-ahead log. From the first on it is moved into the file; from the second on the
 * writer waits for readers that hold it, for as long as the connection waits for a lock.
 */
const WAL_LONG_BYTES = 6 * 1024 * 1024;
const WAL_MOST_BYTES = 10 * 1024 * 1024;

/**
 * Whether the write-ahead log should be moved into the file before more is written. SQLite cuts the
 * file when it begins the log again (`journal_size_limit`), so its size equals the used part.
 */
export function isWalLong(file: string): boolean {
  return walBytes(file) >= WAL_LONG_BYTES;
}

/** A checkpoint before a write; where readers hold a write-ahead log that is too long, it waits. */
export function boundWal(database: Database): void {
  checkpointWithChecksums(database);
  if (walBytes(database.name) < WAL_MOST_BYTES) return;
  // trust: the one row of this pragma
  const [row] = database.pragma('wal_checkpoint(RESTART)') as { readonly checkpointed: number }[];
  updatePageChecksums(database.name, Math.max(0, row?.checkpointed ?? 0));
}

function walBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Runs a checkpoint that blocks no reader, and stores the sums of the pages that it moved. */
export function checkpointWithChecksums(database: Database): void {
  // trust: the one row of this pragma; -1 where there is no write-ahead log
  const [row] = database.pragma('wal_checkpoint(PASSIVE)') as { readonly checkpointed: number }[];
  updatePageChecksums(database.name, Math.max(0, row?.checkpointed ?? 0));
}

/** Then the file contains every commit. Throws where readers of older states stay. */
function fullCheckpoint(database: Database): void {
  // trust: the one row of this pragma; -1 where there is no write-ahead log
  const [row] = database.pragma('wal_checkpoint(FULL)') as {
    readonly busy: number;
    readonly checkpointed: number;
  }[];
  updatePageChecksums(database.name, Math.max(0, row?.checkpointed ?? 0));
  if (row?.busy !== 0) throw new Error(`${database.name} is being read by others`);
}

/**
 * Copies a database through SQLite, page by page, with its sums, so that `checkPages` of the copy
 * finds damage in the original. Nothing must be written meanwhile. Plain reads of a file that is
 * open here are out: closing their descriptor takes away SQLite's locks, and another program that
 * closes the database then removes the write-ahead log under us.
 */
export async function copyWithChecksums(database: Database, to: string): Promise<void> {
  fullCheckpoint(database);
  const path = `${to}${CHECKSUMS_SUFFIX}`;
  copyFileSync(`${database.name}${CHECKSUMS_SUFFIX}`, path, constants.COPYFILE_FICLONE);
  await database.backup(to, { progress: () => ALL_PAGES });
  keepLogAhead(to);
  // SQLite counts its changes on the first page of a copy.
  const first = Buffer.alloc(PAGE_BYTES);
  const from = openSync(to, 'r');
  const sums = openSync(path, 'r+');
  try {
    readSync(from, first, 0, PAGE_BYTES, 0);
    const sum = Buffer.alloc(4);
    sum.writeUInt32LE(crc32(first, 1));
    writeSync(sums, sum, 0, sum.length, HEADER_BYTES);
    fdatasyncSync(sums);
  } finally {
    closeSync(from);
    closeSync(sums);
  }
}

/**
 * Puts a copy into the journal mode of our databases before its checksums are made. Otherwise the
 * first program that opens the copy changes the mode, which stands in the first page, and the
 * checksum of that page is wrong.
 */
export function keepLogAhead(file: string): void {
  openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 }).close();
}

/** `moved`: frames at the beginning of the write-ahead log that the database file has now. */
export function updatePageChecksums(file: string, moved: number): void {
  const salts = walSalts(file) ?? '';
  const known = readSums(file);
  if (known === null) {
    // Once in the life of a file: its descriptor stays open.
    keepLocked(file);
    writeAllChecksums(file, salts, moved);
    return;
  }
  const from = known.salts === salts ? known.moved : 0;
  if (moved <= from) return;
  const pages = pagesOf(file);
  const bytes = Buffer.alloc(HEADER_BYTES + 4 * pages);
  known.bytes.copy(bytes);
  const blocks = new Set<number>();
  eachFrame(file, from, moved, (page, content) => {
    const offset = HEADER_BYTES + 4 * (page - 1);
    // A page of a later frame may not be in the file yet, and then is beyond its end.
    if (page > pages) return;
    bytes.writeUInt32LE(crc32(content, page), offset);
    blocks.add(Math.floor(offset / BLOCK_BYTES));
  });
  const fd = openSync(`${file}${CHECKSUMS_SUFFIX}`, 'r+');
  try {
    for (const block of blocks) {
      const start = Math.max(HEADER_BYTES, block * BLOCK_BYTES);
      writeSync(fd, bytes.subarray(start, (block + 1) * BLOCK_BYTES), 0, undefined, start);
    }
    writeSync(fd, header({ salts, moved, pages }), 0, HEADER_BYTES, 0);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes the sums of a file that has none, or is complete (a snapshot): from its present content.
 */
export function writeAllChecksums(file: string, salts = '', moved = 0): void {
  const from = openSync(file, 'r');
  const path = `${file}${CHECKSUMS_SUFFIX}`;
  const to = openSync(`${path}.new`, 'w');
  try {
    const pages = Math.ceil(fstatSync(from).size / PAGE_BYTES);
    const bytes = Buffer.alloc(HEADER_BYTES + 4 * pages);
    header({ salts, moved, pages }).copy(bytes);
    const content = Buffer.alloc(PAGES_PER_READ * PAGE_BYTES);
    for (let first = 1; first <= pages; first += PAGES_PER_READ) {
      const read = readSync(from, content, 0, content.length, (first - 1) * PAGE_BYTES);
      for (const [page, sum] of sumsIn(content.subarray(0, read), first)) {
        bytes.writeUInt32LE(sum, HEADER_BYTES + 4 * (page - 1));
      }
    }
    writeSync(to, bytes);
    fdatasyncSync(to);
  } finally {
    void closeDescriptor(file, () => closeSync(from));
    closeSync(to);
  }
  renameSync(`${path}.new`, path);
}

/**
 * The damage of a file's write-ahead log. `synced`: each commit was written through to the disk, so
 * commits behind an invalid frame are damage and no power cut.
 */
export function walDamage(file: string, { synced }: { readonly synced: boolean }): Fault | null {
  const wal = readWal(file);
  if (wal === null) return null;
  const sums = readSums(file);
  const isShort = sums !== null && wal.salts === sums.salts && wal.frames < sums.moved;
  if (!isShort && !(synced && wal.isCut)) return null;
  return new Fault(
    'damagedFile',
    `${file}-wal is damaged: commits behind its frame ${wal.frames} are lost`,
  );
}

/** Compares a file that is not written meanwhile with its sums. */
export async function checkPages(
  file: string,
  signal?: AbortSignal | undefined,
): Promise<PageCheck> {
  if (!existsSync(`${file}${CHECKSUMS_SUFFIX}`)) return 'unknown';
  const sums = readSums(file);
  if (sums === null) return new Fault('damagedFile', `${file}${CHECKSUMS_SUFFIX} is damaged`);
  const cut = walDamage(file, { synced: false });
  if (cut !== null) return cut;
  const bad = await badPages(file, sums, readWal(file)?.pages ?? new Set(), signal);
  const [first] = bad;
  if (first === undefined) return 'whole';
  const where = `page ${first.page} (byte ${(first.page - 1) * PAGE_BYTES})`;
  const others = bad.length === 1 ? '' : ` and ${bad.length - 1} more`;
  return new Fault('damagedFile', `${file} is damaged: ${where}${others} ${first.why}`);
}

interface BadPage {
  readonly page: number;
  readonly why: string;
}

async function badPages(
  file: string,
  sums: Sums,
  newer: ReadonlySet<number>,
  signal: AbortSignal | undefined,
): Promise<BadPage[]> {
  const bad: BadPage[] = [];
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const pages = Math.max(sums.pages, Math.ceil(size / PAGE_BYTES));
    const content = Buffer.alloc(PAGES_PER_READ * PAGE_BYTES);
    for (let first = 1; first <= pages; first += PAGES_PER_READ) {
      signal?.throwIfAborted();
      // Pages that the disk does not give are reported below, each by its number.
      const { bytesRead } = await handle
        .read(content, 0, content.length, (first - 1) * PAGE_BYTES)
        .catch(() => ({ bytesRead: 0 }));
      const found = new Map(sumsIn(content.subarray(0, bytesRead), first));
      const end = Math.min(pages, first + PAGES_PER_READ - 1);
      for (let page = first; page <= end; page += 1) {
        if (newer.has(page) || page === LOCK_PAGE) continue;
        const sum = found.get(page);
        if (sum === undefined) bad.push({ page, why: 'cannot be read' });
        else if (page > sums.pages) bad.push({ page, why: 'should not be there' });
        else if (sums.bytes.readUInt32LE(HEADER_BYTES + 4 * (page - 1)) !== sum) {
          bad.push({ page, why: 'does not match its checksum' });
        }
      }
    }
  } finally {
    await closeDescriptor(file, () => handle.close());
  }
  return bad;
}

/** Sums of whole pages only; the page's number goes into its sum, so pages cannot change places. */
function* sumsIn(content: Buffer, first: number): Generator<[page: number, sum: number]> {
  for (let index = 0; (index + 1) * PAGE_BYTES <= content.length; index += 1) {
    const page = content.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES);
    yield [first + index, crc32(page, first + index)];
  }
}

function pagesOf(file: string): number {
  return Math.ceil(statSync(file).size / PAGE_BYTES);
}

function header({ salts, moved, pages }: Omit<Sums, 'bytes'>): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write(MAGIC, 0, 'latin1');
  bytes.write(salts.padEnd(16, '0'), 16, 'hex');
  bytes.writeUInt32LE(moved, 24);
  bytes.writeUInt32LE(pages, 28);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60);
  return bytes;
}

/** null: there are none, or they are damaged. */
function readSums(file: string): Sums | null {
  const path = `${file}${CHECKSUMS_SUFFIX}`;
  if (!existsSync(path)) return null;
  const bytes = readFileSync(path);
  const isOurs =
    bytes.length >= HEADER_BYTES &&
    bytes.toString('latin1', 0, 16) === MAGIC &&
    bytes.readUInt32LE(60) === crc32(bytes.subarray(0, 60));
  if (!isOurs) return null;
  const pages = bytes.readUInt32LE(28);
  if (bytes.length < HEADER_BYTES + 4 * pages) return null;
  return { salts: bytes.toString('hex', 16, 24), moved: bytes.readUInt32LE(24), pages, bytes };
}
