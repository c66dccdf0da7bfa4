/**
 * The states that epochs start from, in the object store: a node that missed the change of epoch
 * loads one. The node that opens an epoch writes it.
 */
import type { DataFiles } from '../engine/actors/files.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { epochNumber } from '../engine/runtime/position.ts';
import type { ObjectFiles } from './nats/objects.ts';

const BASE = 'base-';
/** A node may still be on its way to the one before. */
const KEPT_BASES = 2;

/** Whether what an epoch begins from is still of use. */
type IsWanted = () => boolean | Promise<boolean>;

export class EpochBases {
  readonly #objects: ObjectFiles;
  readonly #files: DataFiles;
  /** Before it is asked again; throws when that is given up. */
  readonly #pauseBeforeRetry: () => Promise<void>;

  constructor(objects: ObjectFiles, files: DataFiles, again: () => Promise<void>) {
    this.#objects = objects;
    this.#files = files;
    this.#pauseBeforeRetry = again;
  }

  /** Before the epoch's first entry, so that whoever reads that finds it. Rejects without NATS. */
  async publish(epoch: string): Promise<void> {
    await this.#put(baseName(epoch), this.#files.base(epoch));
    await this.#removeOldBases();
  }

  /** Into its file; it is there, or comes back. false: it went with its epoch, or we stop. */
  async fetch(epoch: string, isWanted: IsWanted): Promise<boolean> {
    const path = this.#files.base(epoch);
    while ((await this.#objects.get(baseName(epoch), path)) instanceof Failure) {
      if (!(await isWanted())) return false;
      await this.#pauseBeforeRetry();
    }
    return true;
  }

  async #put(name: string, path: string): Promise<void> {
    const stored = await this.#objects.put(name, path);
    if (stored instanceof Failure) throw new Error(stored.message);
  }

  /** What cannot be removed now is removed with the next epoch. */
  async #removeOldBases(): Promise<void> {
    const all = await this.#objects.list();
    if (all instanceof Failure) return;
    const names = all.map(({ name }) => name).filter((name) => name.startsWith(BASE));
    const order = (name: string) => epochNumber(name.slice(BASE.length));
    const old = names.sort((a, b) => order(b) - order(a)).slice(KEPT_BASES);
    for (const name of old) await this.#objects.remove(name);
  }
}

function baseName(epoch: string): string {
  return `${BASE}${epoch}`;
}
