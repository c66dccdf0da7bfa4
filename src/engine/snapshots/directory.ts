/**
 * The snapshots of a single node: files in `DATA_DIR/snapshots`, each with the checksums of its
 * pages. `list` reads all pages, so damage is found while another snapshot is still there.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { copyFile, mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDatabase } from '../recovery/dataFiles.ts';
import { isFault } from '../runtime/assert.ts';
import { CHECKSUMS_SUFFIX, checkPages } from '../store/pageChecksums.ts';
import { peekCheckpoint } from '../store/peek.ts';
import type { Checkpoint } from '../store/state.ts';
import { newestFirst, type Snapshot, type SnapshotObserver, type SnapshotStore } from './port.ts';

const SUFFIX = '.sqlite';

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
      if (!file.endsWith(SUFFIX)) continue;
      const snapshot = await this.#read(file.slice(0, -SUFFIX.length));
      if (snapshot !== null) found.push(snapshot);
    }
    return newestFirst(found);
  }

  async put(path: string, checkpoint: Checkpoint): Promise<Snapshot> {
    const name = `${checkpoint.epoch}-${checkpoint.seq}`;
    const to = this.#path(name);
    await mkdir(this.#directory, { recursive: true });
    for (const suffix of ['', CHECKSUMS_SUFFIX]) await sync(`${path}${suffix}`);
    await rename(`${path}${CHECKSUMS_SUFFIX}`, `${to}${CHECKSUMS_SUFFIX}`);
    // The database is renamed last: a snapshot that has its name is whole.
    await rename(path, to);
    await sync(this.#directory);
    return { name, checkpoint };
  }

  async removeExcept(kept: readonly Snapshot[]): Promise<void> {
    const stays = new Set(kept.flatMap(({ name }) => [name, `${name}${CHECKSUMS_SUFFIX}`]));
    for (const file of this.#files()) {
      if (!stays.has(file.replace(SUFFIX, ''))) rmSync(join(this.#directory, file));
    }
  }

  async get({ name }: Snapshot, path: string): Promise<string | null> {
    try {
      for (const suffix of [CHECKSUMS_SUFFIX, '']) {
        await copyFile(`${this.#path(name)}${suffix}`, `${path}${suffix}`);
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
  async #read(name: string): Promise<Snapshot | null> {
    const path = this.#path(name);
    const pages = await checkPages(path);
    const checkpoint = pages === 'whole' ? peekCheckpoint(path) : null;
    if (checkpoint !== null) return { name, checkpoint };
    const reason = pages === 'unknown' ? 'it has no checksums' : 'it holds no state';
    this.#observer.snapshotUnusable(path, isFault(pages, 'damagedFile') ? pages.message : reason);
    return null;
  }

  #path(name: string): string {
    return join(this.#directory, `${name}${SUFFIX}`);
  }
}

/** Syncs a file or a folder: its content survives a power cut. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
