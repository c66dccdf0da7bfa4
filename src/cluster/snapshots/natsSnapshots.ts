/**
 * Copies of the state in the object store, for nodes that are new or far behind: snapshots, and the
 * states that epochs start from.
 *
 * Each snapshot has a manifest that is written last and removed first. So a snapshot that is listed
 * is whole, or was replaced a moment ago.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataFiles } from '../../engine/recovery/dataFiles.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, messageOf } from '../../engine/runtime/errors.ts';
import { epochNumber } from '../../engine/runtime/position.ts';
import { newestFirst, type Snapshot, type SnapshotStore } from '../../engine/snapshots/port.ts';
import type { Checkpoint } from '../../engine/store/state.ts';
import { pauseOrInterrupt, retryUntilAnswered } from '../retryingLog.ts';
import type { ObjectFiles } from './objectStore.ts';

/** As stored; `state` is the name of the state's object. */
interface Manifest {
  readonly version: 1;
  readonly checkpoint: Checkpoint;
  readonly state: string;
}

const PREFIX = 'snapshot-';
const MANIFEST = '.json';
const RETRY_MS = 200;
const ATTEMPTS = 8;

let reads = 0;

export class NatsSnapshots implements SnapshotStore {
  readonly #objects: ObjectFiles;
  /** Path of the temporary files that hold manifests. */
  readonly #manifest: string;

  /** `directory` is the data directory. */
  constructor(objects: ObjectFiles, directory: string) {
    this.#objects = objects;
    this.#manifest = join(directory, 'manifest');
  }

  async list(): Promise<readonly Snapshot[]> {
    const names = await this.#names();
    const found: Snapshot[] = [];
    for (const name of names.filter(isManifest)) {
      const manifest = await this.#readManifest(name);
      if (manifest === null || !names.includes(manifest.state)) continue;
      found.push({ name: manifest.state, checkpoint: manifest.checkpoint });
    }
    return newestFirst(found);
  }

  async put(path: string, checkpoint: Checkpoint): Promise<Snapshot> {
    const name = `${baseOf(checkpoint)}-state`;
    orThrow(await this.#objects.put(name, path));
    const manifest: Manifest = { version: 1, checkpoint, state: name };
    const file = `${this.#manifest}.put`;
    writeFileSync(file, JSON.stringify(manifest));
    try {
      orThrow(await this.#objects.put(manifestOf(checkpoint), file));
    } finally {
      rmSync(file, { force: true });
    }
    return { name, checkpoint };
  }

  get({ name }: Snapshot, path: string): Promise<string | null> {
    return this.#fetch(name, path);
  }

  async removeExcept(kept: readonly Snapshot[]): Promise<void> {
    const names = await this.#names();
    const stays = new Set(kept.flatMap((each) => [manifestOf(each.checkpoint), each.name]));
    const removed = names.filter((name) => !stays.has(name));
    for (const name of [...removed.filter(isManifest), ...removed]) {
      orThrow(await this.#objects.remove(name));
    }
  }

  async #names(): Promise<readonly string[]> {
    return orThrow(await this.#objects.list()).filter((name) => name.startsWith(PREFIX));
  }

  /** null: it is damaged, of another version, or was removed a moment ago. */
  async #readManifest(name: string): Promise<Manifest | null> {
    // The node that loads and the node that takes may read at once, in one directory.
    reads += 1;
    const path = `${this.#manifest}.get-${reads}`;
    if ((await this.#fetch(name, path)) !== null) return null;
    try {
      return this.#objects.messages.read('manifest', readFileSync(path, 'utf8'));
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** Returns the fault of the object, or null. */
  async #fetch(name: string, path: string): Promise<string | null> {
    const found = await this.#objects.get(name, path);
    if (found === null) return null;
    if (found.cause === 'NOT_READY') throw new Error(found.message);
    return found.message;
  }
}

/**
 * Retries while NATS gives no answer: `list` until `signal` is aborted, which throws `interrupted`,
 * `get` a few times, because an older snapshot may still be readable.
 */
export function retryingSnapshots(
  snapshots: SnapshotStore,
  clock: Clock,
  signal: AbortSignal,
): Pick<SnapshotStore, 'list' | 'get'> {
  return {
    list: () => {
      return retryUntilAnswered(
        () => snapshots.list(),
        () => false,
        clock,
        { signal },
      );
    },
    async get(snapshot, path) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await snapshots.get(snapshot, path);
        } catch (error) {
          if (attempt === ATTEMPTS) return messageOf(error);
        }
        await pauseOrInterrupt(clock, signal, attempt * RETRY_MS);
      }
    },
  };
}

const BASE = 'base-';
/** A node may still be loading the one before. */
const KEPT_BASES = 2;

/**
 * The states that epochs start from, in the object store: a node that missed the change of epoch
 * loads one. The node that opens an epoch publishes it.
 */
export class EpochBases {
  readonly #objects: ObjectFiles;
  readonly #files: DataFiles;
  /** Throws when the start is given up. */
  readonly #pauseBeforeRetry: () => Promise<void>;

  constructor(objects: ObjectFiles, files: DataFiles, pauseBeforeRetry: () => Promise<void>) {
    this.#objects = objects;
    this.#files = files;
    this.#pauseBeforeRetry = pauseBeforeRetry;
  }

  /** Before the epoch's first entry, so that a node that reads that entry finds the state. */
  async publish(epoch: string): Promise<void> {
    orThrow(await this.#objects.put(baseName(epoch), this.#files.base(epoch)));
    await this.#removeBefore(epoch);
  }

  /** Retries until the state is in its file. false: it is no longer wanted. */
  async fetch(epoch: string, isWanted: () => boolean | Promise<boolean>): Promise<boolean> {
    const path = this.#files.base(epoch);
    while ((await this.#objects.get(baseName(epoch), path)) !== null) {
      if (!(await isWanted())) return false;
      await this.#pauseBeforeRetry();
    }
    return true;
  }

  /**
   * A base that cannot be removed now is removed with the next epoch. A stranger may have stored
   * bases of later epochs: they take no place.
   */
  async #removeBefore(epoch: string): Promise<void> {
    const all = await this.#objects.list();
    if (all instanceof Failure) return;
    const order = (name: string) => epochNumber(name.slice(BASE.length));
    const isOther = (name: string) => name.startsWith(BASE) && name !== baseName(epoch);
    const others = all.filter((name) => isOther(name) && order(name) <= epochNumber(epoch));
    const old = others.sort((a, b) => order(b) - order(a)).slice(KEPT_BASES - 1);
    for (const name of old) await this.#objects.remove(name);
  }
}

function baseName(epoch: string): string {
  return `${BASE}${epoch}`;
}

/** Removes temporary files that a crash left in the data directory. */
export function removeTemporaryFiles(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!/^(snapshot-|join-|manifest\.)|\.part-/.test(name)) continue;
    rmSync(join(directory, name), { force: true, recursive: true });
  }
}

function isManifest(name: string): boolean {
  return name.endsWith(MANIFEST);
}

function manifestOf(checkpoint: Checkpoint): string {
  return `${baseOf(checkpoint)}${MANIFEST}`;
}

function baseOf({ epoch, seq }: Checkpoint): string {
  return `${PREFIX}${epoch}-${seq}`;
}

function orThrow<T>(result: T | Failure): T {
  if (result instanceof Failure) throw new Error(result.message);
  return result;
}
