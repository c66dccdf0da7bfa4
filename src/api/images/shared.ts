/**
 * Images that several nodes share: each is in the local store of a node and in shared files.
 *
 * A put is acknowledged once both have the image, so that any node can serve it. An image that
 * another node put is fetched once, checked against its id and stored locally; if the local store
 * drops it, it is fetched again. Shared files are never removed: images are small, and launches on
 * the chain name them forever.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, notNow } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { cidOf, isCid } from './cid.ts';
import { type ImageType, imageTypeOf } from './header.ts';
import type { ImageStore, StoredImage } from './port.ts';

/** Files by name, complete or absent; NOT_FOUND where there is none. */
interface SharedFiles {
  put(name: string, path: string): Promise<unknown>;
  get(name: string, path: string): Promise<unknown>;
}

export class SharedImages implements ImageStore {
  readonly #local: ImageStore;
  readonly #files: SharedFiles;
  /** For temporary files. */
  readonly #directory: string;
  readonly #rng: Rng;

  constructor(own: ImageStore, files: SharedFiles, directory: string, rng: Rng) {
    this.#local = own;
    this.#files = files;
    this.#directory = directory;
    this.#rng = rng;
  }

  async put(bytes: Uint8Array, mediaType: ImageType): Promise<string | Failure> {
    const cid = await this.#local.put(bytes, mediaType);
    if (cid instanceof Failure) return cid;
    return this.#withFile(async (path) => {
      await writeFile(path, bytes);
      const shared = await this.#files.put(cid, path);
      return shared instanceof Failure ? unreachable(shared) : cid;
    });
  }

  async get(cid: string): Promise<StoredImage | null | Failure> {
    const own = await this.#local.get(cid);
    if (own !== null || !isCid(cid)) return own;
    return this.#withFile(async (path) => {
      const found = await this.#files.get(cid, path);
      if (found instanceof Failure) return found.cause === 'NOT_FOUND' ? null : unreachable(found);
      const bytes = await readFile(path);
      const mediaType = imageTypeOf(bytes);
      if (mediaType === null || (await cidOf(bytes)) !== cid) return null;
      // A full local store does no harm: the image is fetched again next time.
      await this.#local.put(bytes, mediaType);
      return { bytes, mediaType };
    });
  }

  async #withFile<T>(work: (path: string) => Promise<T>): Promise<T | Failure> {
    const path = join(this.#directory, `${this.#rng.token(12)}.part`);
    try {
      return await work(path);
    } catch (error) {
      return notNow(`the image could not be shared: ${nameOf(error)}`);
    } finally {
      // If this fails, the next start removes the file; the answer is complete anyway.
      await rm(path, { force: true }).catch(() => {});
    }
  }
}

function unreachable({ cause }: Failure): Failure {
  return notNow(`the images of all nodes cannot be reached: ${cause}`);
}

/** The name alone: messages of the file system name our paths. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
