/**
 * Images that several nodes share: kept in this node's own store, and in files that all can reach.
 *
 * A put is acknowledged once both have it, so any node answers it then; what others put is fetched
 * once, checked against its id, and kept here. What the own store lets go of is fetched again.
 * Shared files are never removed: an image is small, and launches on the chain name it for ever.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { cidOf, isCid } from './cid.ts';
import { type ImageType, imageTypeOf } from './header.ts';
import type { ImageStore, StoredImage } from './port.ts';

/** Files under names, whole or not at all; NOT_FOUND where there is none. */
interface SharedFiles {
  put(name: string, path: string): Promise<unknown>;
  get(name: string, path: string): Promise<unknown>;
}

export class SharedImages implements ImageStore {
  readonly #own: ImageStore;
  readonly #files: SharedFiles;
  /** For what is on its way. */
  readonly #directory: string;
  readonly #rng: Rng;

  constructor(own: ImageStore, files: SharedFiles, directory: string, rng: Rng) {
    this.#own = own;
    this.#files = files;
    this.#directory = directory;
    this.#rng = rng;
  }

  async put(bytes: Uint8Array, mediaType: ImageType): Promise<string | Failure> {
    const cid = await this.#own.put(bytes, mediaType);
    if (cid instanceof Failure) return cid;
    return this.#withFile(async (path) => {
      await writeFile(path, bytes);
      const shared = await this.#files.put(cid, path);
      return shared instanceof Failure ? unreachable(shared) : cid;
    });
  }

  async get(cid: string): Promise<StoredImage | null | Failure> {
    const own = await this.#own.get(cid);
    if (own !== null || !isCid(cid)) return own;
    return this.#withFile(async (path) => {
      const found = await this.#files.get(cid, path);
      if (found instanceof Failure) return found.cause === 'NOT_FOUND' ? null : unreachable(found);
      const bytes = await readFile(path);
      const mediaType = imageTypeOf(bytes);
      if (mediaType === null || (await cidOf(bytes)) !== cid) return null;
      // A store that is full answers all the same; it only has to ask again.
      await this.#own.put(bytes, mediaType);
      return { bytes, mediaType };
    });
  }

  async #withFile<T>(work: (path: string) => Promise<T>): Promise<T | Failure> {
    const path = join(this.#directory, `${this.#rng.token(12)}.part`);
    try {
      return await work(path);
    } catch (error) {
      return new Failure('SERVER_ERROR', `the image could not be shared: ${nameOf(error)}`);
    } finally {
      await rm(path, { force: true }).catch(() => {});
    }
  }
}

function unreachable({ cause }: Failure): Failure {
  return new Failure('SERVER_ERROR', `the images of all nodes cannot be reached: ${cause}`);
}

/** The name alone: messages of the file system name our paths. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
