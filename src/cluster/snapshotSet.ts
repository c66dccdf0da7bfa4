/**
 * Snapshots in the object store: copies of the state, each named by a manifest that is written last
 * and removed first. So a snapshot that is listed is whole, or has just been replaced.
 *
 * A snapshot promises: as long as the log has the entry of its state, or an epoch that begins right
 * behind it, a node with that state folds on.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../engine/runtime/errors.ts';
import type { Checkpoint } from '../engine/store/state.ts';
import type { ObjectFiles } from './nats/objects.ts';

export interface Snapshot {
  readonly version: 1;
  /** Of the state. */
  readonly checkpoint: Checkpoint;
  /** Name in the object store. */
  readonly state: string;
}

const PREFIX = 'snapshot-';
const MANIFEST = '.json';

export function snapshotOf(checkpoint: Checkpoint): Snapshot {
  return { version: 1, checkpoint, state: `${baseOf(checkpoint)}-state` };
}

let looks = 0;

export class SnapshotSet {
  readonly #objects: ObjectFiles;
  /** For a moment. */
  readonly #manifest: string;

  constructor(objects: ObjectFiles, directory: string) {
    this.#objects = objects;
    this.#manifest = join(directory, 'manifest');
  }

  /** Whole ones, the newest first. */
  async list(): Promise<readonly Snapshot[] | Failure> {
    const names = await this.#names();
    if (names instanceof Failure) return names;
    const snapshots: Snapshot[] = [];
    for (const name of names.filter(isManifest)) {
      const snapshot = await this.#read(name, names);
      if (snapshot instanceof Failure) return snapshot;
      if (snapshot !== null) snapshots.push(snapshot);
    }
    return snapshots;
  }

  /** The state of a snapshot into the file at `path`: whole, or a Failure. */
  async get({ state }: Snapshot, path: string): Promise<Failure | null> {
    return this.#get(state, path);
  }

  async put(snapshot: Snapshot, path: string): Promise<Failure | null> {
    const manifest = `${this.#manifest}.put`;
    writeFileSync(manifest, JSON.stringify(snapshot));
    try {
      const stored = await this.#objects.put(snapshot.state, path);
      if (stored instanceof Failure) return stored;
      const named = await this.#objects.put(manifestOf(snapshot), manifest);
      return named instanceof Failure ? named : null;
    } finally {
      rmSync(manifest, { force: true });
    }
  }

  /** Removes all but the newest, and what was left of others; answers what is kept. */
  async keepNewest(count: number): Promise<readonly Snapshot[] | Failure> {
    const snapshots = await this.list();
    if (snapshots instanceof Failure) return snapshots;
    const names = await this.#names();
    if (names instanceof Failure) return names;
    const kept = snapshots.slice(0, count);
    const stays = new Set(kept.flatMap((each) => [manifestOf(each), each.state]));
    const leaving = names.filter((name) => !stays.has(name));
    for (const name of [...leaving.filter(isManifest), ...leaving]) {
      const failed = await this.#objects.remove(name);
      if (failed !== null) return failed;
    }
    return kept;
  }

  async #get(name: string, path: string): Promise<Failure | null> {
    const found = await this.#objects.get(name, path);
    return found instanceof Failure ? found : null;
  }

  async #names(): Promise<readonly string[] | Failure> {
    const files = await this.#objects.list();
    if (files instanceof Failure) return files;
    return files.flatMap(({ name }) => (name.startsWith(PREFIX) ? [name] : []));
  }

  /** null: it is damaged, of another version, or was removed just now. */
  async #read(name: string, names: readonly string[]): Promise<Snapshot | null | Failure> {
    // Nodes that load and nodes that make snapshots may look at once.
    looks += 1;
    const path = `${this.#manifest}.get-${looks}`;
    const failed = await this.#get(name, path);
    if (failed !== null) return failed.cause === 'NOT_READY' ? failed : null;
    try {
      // trust: `put` of a node of this market wrote it, the digest was right
      const snapshot = JSON.parse(readFileSync(path, 'utf8')) as Snapshot;
      return snapshot.version === 1 && names.includes(snapshot.state) ? snapshot : null;
    } finally {
      rmSync(path, { force: true });
    }
  }
}

function isManifest(name: string): boolean {
  return name.endsWith(MANIFEST);
}

function manifestOf({ checkpoint }: Snapshot): string {
  return `${baseOf(checkpoint)}${MANIFEST}`;
}

function baseOf({ epoch, seq }: Checkpoint): string {
  return `${PREFIX}${epoch}-${seq}`;
}
