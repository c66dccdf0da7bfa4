/**
 * The snapshots of a single node: compressed files in `DATA_DIR/snapshots`. `list` reads all of
 * them, so damage is found while another snapshot is still there. A file of an earlier version is
 * the database itself, with the checksums of its pages beside it.
 */
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDatabase } from '../recovery/dataFiles.ts';
import { isFault } from '../runtime/assert.ts';
import { messageOf, systemCode } from '../runtime/errors.ts';
import { CHECKSUMS_SUFFIX, checkPages } from '../store/pageChecksums.ts';
import { peekCheckpoint } from '../store/peek.ts';
import type { Checkpoint } from '../store/state.ts';
import { compress, decompress, readCheckpoint } from './compressed.ts';
import { newestFirst, type Snapshot, type SnapshotObserver, type SnapshotStore } from './port.ts';

const SUFFIX = '.sqlite.gz';
const EARLIER_SUFFIX = '.sqlite';

export class DirectorySnapshots implements SnapshotStore {
  readonly #directory: string;
  readonly #observer: Pick<SnapshotObserver, 'snapshotUnusable'>;

  /** `directory` is the data directory. */
  constructor(directory: string, observer: Pick<SnapshotObserver, 'snapshotUnusable'>) {
    this.#directory = join(directory, 'snapshots');
    this.#observer = observer;
  }

  async list(): Promise<readonly Snapshot[]> {
    const found: Snapshot[] = [];
    for (const file of this.#files()) {
      const name = nameOf(file);
      const checkpoint = name === null ? null : await this.#read(join(this.#directory, file));
      if (name !== null && checkpoint !== null) found.push({ name, checkpoint });
    }
    return newestFirst(found);
  }

  async put(path: string, checkpoint: Checkpoint): Promise<Snapshot> {
    const name = `${checkpoint.epoch}-${checkpoint.seq}`;
    const to = this.#path(name, SUFFIX);
    await mkdir(this.#directory, { recursive: true });
    await compress(path, checkpoint, `${to}.new`);
    // A snapshot that has its name is whole.
    await rename(`${to}.new`, to);
    await sync(this.#directory);
    return { name, checkpoint };
  }

  async removeExcept(kept: readonly Snapshot[]): Promise<void> {
    const stays = new Set(
      kept.flatMap(({ name }) => [
        `${name}${SUFFIX}`,
        `${name}${EARLIER_SUFFIX}`,
        `${name}${EARLIER_SUFFIX}${CHECKSUMS_SUFFIX}`,
      ]),
    );
    for (const file of this.#files()) if (!stays.has(file)) await rm(join(this.#directory, file));
  }

  async get({ name }: Snapshot, path: string): Promise<string | null> {
    const file = this.#path(name, SUFFIX);
    const earlier = this.#path(name, EARLIER_SUFFIX);
    try {
      if (existsSync(file)) {
        await decompress(file, path);
      } else {
        await copyFile(`${earlier}${CHECKSUMS_SUFFIX}`, `${path}${CHECKSUMS_SUFFIX}`);
        await copyFile(earlier, path);
      }
      return null;
    } catch (error) {
      removeDatabase(path);
      return String(error);
    }
  }

  #files(): string[] {
    return existsSync(this.#directory) ? readdirSync(this.#directory) : [];
  }

  /** null: it is damaged. */
  async #read(path: string): Promise<Checkpoint | null> {
    const found = await (path.endsWith(SUFFIX) ? readCompressed(path) : readEarlier(path));
    if (typeof found !== 'string') return found;
    this.#observer.snapshotUnusable(path, found);
    return null;
  }

  #path(name: string, suffix: string): string {
    return join(this.#directory, `${name}${suffix}`);
  }
}

/** null: it is not the file of a snapshot's database. */
function nameOf(file: string): string | null {
  for (const suffix of [SUFFIX, EARLIER_SUFFIX]) {
    if (file.endsWith(suffix)) return file.slice(0, -suffix.length);
  }
  return null;
}

/** A text says why it is damaged. */
async function readCompressed(path: string): Promise<Checkpoint | string> {
  try {
    return await readCheckpoint(path);
  } catch (error) {
    const code = systemCode(error) ?? 'EIO';
    // Whatever else the system refuses may be given later.
    if (code !== 'EIO' && !code.startsWith('Z_')) throw error;
    return `${path} is damaged: ${messageOf(error)}`;
  }
}

async function readEarlier(path: string): Promise<Checkpoint | string> {
  const pages = await checkPages(path);
  if (isFault(pages, 'damagedFile')) return pages.message;
  if (pages === 'unknown') return 'it has no checksums';
  return peekCheckpoint(path) ?? 'it holds no state';
}

/** Syncs a folder: the names in it survive a power cut. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
