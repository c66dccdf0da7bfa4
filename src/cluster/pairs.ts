/**
 * Snapshots in the object store: a state and a ledger that go together, named by a manifest that is
 * written last and removed first. So a pair that is seen is whole, or has just been replaced. On a
 * real chain there is no ledger to copy, and the state is all of it.
 *
 * A pair promises: as long as the log has the entry of its state, or an epoch that begins right
 * behind it, a node with that state folds on, and the ledger can be brought to where that fold is.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../engine/runtime/errors.ts';
import type { Checkpoint } from '../engine/store/state.ts';
import type { ObjectFiles } from './nats/objects.ts';

export interface Pair {
  readonly version: 1;
  /** Of the state. */
  readonly checkpoint: Checkpoint;
  /** Names in the object store. */
  readonly state: string;
  readonly ledger: string | null;
}

/** Files of a pair on this node; `ledger` null: it has none. */
export interface PairFiles {
  readonly state: string;
  readonly ledger: string | null;
}

const PREFIX = 'snapshot-';
const MANIFEST = '.json';

export function pairOf(checkpoint: Checkpoint, hasLedger: boolean): Pair {
  const name = `${PREFIX}${checkpoint.epoch}-${checkpoint.seq}`;
  const ledger = hasLedger ? `${name}-ledger` : null;
  return { version: 1, checkpoint, state: `${name}-state`, ledger };
}

let looks = 0;

export class Pairs {
  readonly #objects: ObjectFiles;
  /** For a moment. */
  readonly #manifest: string;

  constructor(objects: ObjectFiles, directory: string) {
    this.#objects = objects;
    this.#manifest = join(directory, 'pair');
  }

  /** Whole ones, the newest first. */
  async list(): Promise<readonly Pair[] | Failure> {
    const names = await this.#names();
    if (names instanceof Failure) return names;
    const pairs: Pair[] = [];
    for (const name of names.filter(isManifest)) {
      const pair = await this.#read(name, names);
      if (pair instanceof Failure) return pair;
      if (pair !== null) pairs.push(pair);
    }
    return pairs;
  }

  /** A file of a pair into the file at `path`: whole, or a Failure. */
  async get(name: string, path: string): Promise<Failure | null> {
    const found = await this.#objects.get(name, path);
    return found instanceof Failure ? found : null;
  }

  async put(pair: Pair, { state, ledger }: PairFiles): Promise<Failure | null> {
    const manifest = `${this.#manifest}.put`;
    writeFileSync(manifest, JSON.stringify(pair));
    try {
      for (const [name, path] of [
        [pair.state, state],
        [pair.ledger, ledger],
        [manifestOf(pair), manifest],
      ] as const) {
        if (name === null || path === null) continue;
        const stored = await this.#objects.put(name, path);
        if (stored instanceof Failure) return stored;
      }
      return null;
    } finally {
      rmSync(manifest, { force: true });
    }
  }

  /** Removes all but the newest, and what was left of others; answers what is kept. */
  async keepNewest(count: number): Promise<readonly Pair[] | Failure> {
    const pairs = await this.list();
    if (pairs instanceof Failure) return pairs;
    const names = await this.#names();
    if (names instanceof Failure) return names;
    const kept = pairs.slice(0, count);
    const stays = new Set(kept.flatMap((pair) => [manifestOf(pair), ...namesOf(pair)]));
    const leaving = names.filter((name) => !stays.has(name));
    for (const name of [...leaving.filter(isManifest), ...leaving]) {
      const failed = await this.#objects.remove(name);
      if (failed !== null) return failed;
    }
    return kept;
  }

  async #names(): Promise<readonly string[] | Failure> {
    const files = await this.#objects.list();
    if (files instanceof Failure) return files;
    return files.flatMap(({ name }) => (name.startsWith(PREFIX) ? [name] : []));
  }

  /** null: it is damaged, of another version, or was removed just now. */
  async #read(name: string, names: readonly string[]): Promise<Pair | null | Failure> {
    // Those who take and those who make pairs may look at once.
    looks += 1;
    const path = `${this.#manifest}.get-${looks}`;
    const failed = await this.get(name, path);
    if (failed !== null) return failed.cause === 'NOT_READY' ? failed : null;
    try {
      // trust: `put` of a node of this market wrote it, the digest was right
      const pair = JSON.parse(readFileSync(path, 'utf8')) as Pair;
      const isWhole = namesOf(pair).every((each) => names.includes(each));
      return pair.version === 1 && isWhole ? pair : null;
    } finally {
      rmSync(path, { force: true });
    }
  }
}

function namesOf({ state, ledger }: Pair): string[] {
  return ledger === null ? [state] : [state, ledger];
}

function isManifest(name: string): boolean {
  return name.endsWith(MANIFEST);
}

function manifestOf({ checkpoint: { epoch, seq } }: Pair): string {
  return `${PREFIX}${epoch}-${seq}${MANIFEST}`;
}
