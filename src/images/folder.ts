/**
 * Images in a folder, each in a file that is called as its content id. A file is written under
 * another name, flushed, then renamed: under its own name it is whole, or not there. What a crash
 * leaves half made is removed at the next start.
 *
 * Assumes: one process owns the folder.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../runtime/errors.ts';
import { cidOf, isCid } from './cid.ts';
import { type ImageType, imageTypeOf, mismatch } from './header.ts';
import type { ImageStore, StoredImage } from './port.ts';

const HALF_MADE = '.part';

export class ImageFolder implements ImageStore {
  readonly #directory: string;
  /** Puts under way, so that the same bytes are written once. */
  readonly #running = new Map<string, Promise<string | Failure>>();

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true });
    for (const name of readdirSync(directory)) {
      if (name.endsWith(HALF_MADE)) rmSync(join(directory, name), { force: true });
    }
  }

  async put(bytes: Uint8Array, mediaType: ImageType): Promise<string | Failure> {
    const refused = mismatch(bytes, mediaType);
    if (refused !== null) return refused;
    const cid = await cidOf(bytes);
    const known = this.#running.get(cid);
    if (known !== undefined) return known;
    const running = this.#store(cid, bytes).finally(() => this.#running.delete(cid));
    this.#running.set(cid, running);
    return running;
  }

  async get(cid: string): Promise<StoredImage | null | Failure> {
    if (!isCid(cid)) return null;
    try {
      const bytes = await readFile(join(this.#directory, cid));
      const mediaType = imageTypeOf(bytes);
      return mediaType === null ? null : { bytes, mediaType };
    } catch (error) {
      return codeOf(error) === 'ENOENT' ? null : failed('read', error);
    }
  }

  async #store(cid: string, bytes: Uint8Array): Promise<string | Failure> {
    const path = join(this.#directory, cid);
    const halfMade = path + HALF_MADE;
    try {
      if ((await sizeOf(path)) !== bytes.length) {
        await writeWhole(halfMade, bytes);
        await rename(halfMade, path);
      }
      // Also for a file that is there: the process that renamed it may not have come this far.
      await flush(this.#directory);
      return cid;
    } catch (error) {
      await rm(halfMade, { force: true }).catch(() => {});
      return failed('stored', error);
    }
  }
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A rename survives a power cut once its folder was flushed. */
async function flush(directory: string): Promise<void> {
  const folder = await open(directory, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** -1 where there is no such file. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return -1;
    throw error;
  }
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : String(error);
}

/** The code alone: messages of the file system name our paths. */
function failed(what: string, error: unknown): Failure {
  return new Failure('SERVER_ERROR', `the image could not be ${what}: ${codeOf(error)}`);
}
