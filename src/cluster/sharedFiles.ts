/**
 * What all nodes of a market find in the object store beside snapshots: what the chain began with,
 * and the state that an epoch begins from. Whatever lost the log may have lost these, too: whoever
 * opens an epoch gives both again.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataFiles } from '../engine/actors/files.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { epochNumber } from '../engine/runtime/position.ts';
import type { ObjectFiles } from './nats/objects.ts';

const GENESIS = 'genesis';
const BASE = 'base-';
/** A node may still be on its way to the one before. */
const KEPT_BASES = 2;

/** Whether what an epoch begins from is still of use. */
type IsWanted = () => boolean | Promise<boolean>;

export class SharedFiles {
  readonly #objects: ObjectFiles;
  readonly #files: DataFiles;
  readonly #genesis: string;
  /** Before it is asked again; throws when that is given up. */
  readonly #again: () => Promise<void>;

  constructor(objects: ObjectFiles, files: DataFiles, again: () => Promise<void>) {
    this.#objects = objects;
    this.#files = files;
    this.#genesis = join(files.directory, 'genesis.json');
    this.#again = again;
  }

  /** Before the epoch's first entry, so that whoever reads that finds it. Rejects without NATS. */
  async publishBase(epoch: string): Promise<void> {
    await this.#put(baseName(epoch), this.#files.base(epoch));
    if (existsSync(this.#genesis)) await this.#put(GENESIS, this.#genesis);
    await this.#removeOldBases();
  }

  /** Into its file; it is there, or comes back. false: it went with its epoch, or we stop. */
  async fetchBase(epoch: string, isWanted: IsWanted): Promise<boolean> {
    const path = this.#files.base(epoch);
    while ((await this.#objects.get(baseName(epoch), path)) instanceof Failure) {
      if (!(await isWanted())) return false;
      await this.#again();
    }
    return true;
  }

  /** As text; null: there is none, and `mayBegin` answered that this node makes it. */
  async genesis(mayBegin: () => Promise<boolean>): Promise<string | null> {
    for (; !existsSync(this.#genesis); await this.#again()) {
      const found = await this.#objects.get(GENESIS, this.#genesis);
      if (!(found instanceof Failure)) continue;
      if (found.cause === 'NOT_FOUND' && (await mayBegin())) return null;
    }
    return readFileSync(this.#genesis, 'utf8');
  }

  /** Under its own name once all have it: a start that dies before begins with it again. */
  async publishGenesis(text: string): Promise<void> {
    const part = `${this.#genesis}.part-own`;
    writeFileSync(part, text);
    await this.#put(GENESIS, part);
    renameSync(part, this.#genesis);
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
