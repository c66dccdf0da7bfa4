/**
 * Images in a folder, one file each, named by content id. A file is written under a temporary name,
 * flushed, then renamed, so a file with its final name is complete. The next start removes files
 * that a crash left incomplete.
 *
 * Bounded: where an image would exceed `maxBytes`, the oldest unclaimed images are removed (a
 * launch that was built and never submitted leaves one). If that is not enough, the put is refused.
 * Putting an image again makes it the newest.
 *
 * Assumes: one process owns the folder.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, notNow, systemCode } from '../../engine/runtime/errors.ts';
import { cidOf, isCid } from './cid.ts';
import { type ImageType, imageTypeOf, refuseMismatch } from './header.ts';
import type { ImageStore, StoredImage } from './port.ts';

const PART_SUFFIX = '.part';
/** A file's size on the disk is a multiple of this. */
const DISK_BLOCK_BYTES = 4096;
const DEFAULT_MAX_BYTES = 1 << 30;

interface ImageFolderOptions {
  /** Limit of all images together, as sizes on the disk. */
  readonly maxBytes?: number;
  /** Whether a launch on the chain has it. Asked for many ids at once: it should be a look-up. */
  readonly isClaimed?: (cid: string) => boolean;
}

export class ImageFolder implements ImageStore {
  readonly #directory: string;
  /** Puts under way, so that the same bytes are written once. */
  readonly #running = new Map<string, Promise<string | Failure>>();

  readonly #maxBytes: number;
  readonly #isClaimed: (cid: string) => boolean;
  /** Bytes on the disk by id, the oldest first. */
  readonly #kept = new Map<string, number>();
  #keptBytes = 0;

  /** Without `isClaimed` all are, and nothing is removed. */
  constructor(
    directory: string,
    { maxBytes = DEFAULT_MAX_BYTES, isClaimed = () => true }: ImageFolderOptions = {},
  ) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#isClaimed = isClaimed;
    mkdirSync(directory, { recursive: true });
    const names = readdirSync(directory);
    for (const name of names) {
      if (name.endsWith(PART_SUFFIX)) rmSync(join(directory, name), { force: true });
    }
    const found = names.filter(isCid).map((cid) => ({ cid, ...statOf(join(directory, cid)) }));
    found.sort((a, b) => a.changedMs - b.changedMs);
    for (const { cid, bytes } of found) this.#count(cid, bytes);
  }

  async put(bytes: Uint8Array, mediaType: ImageType): Promise<string | Failure> {
    const refused = refuseMismatch(bytes, mediaType);
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
      // The code alone: messages of the file system name our paths.
      const code = systemCode(error) ?? String(error);
      if (code === 'ENOENT') return null;
      return new Failure('SERVER_ERROR', `the image could not be read: ${code}`);
    }
  }

  async #store(cid: string, bytes: Uint8Array): Promise<string | Failure> {
    const path = join(this.#directory, cid);
    const halfMade = path + PART_SUFFIX;
    try {
      if ((await sizeOf(path)) !== bytes.length) {
        const full = this.#makeRoom(cid, bytes.length);
        if (full !== null) return full;
        this.#count(cid, bytes.length);
        await writeWhole(halfMade, bytes);
        await rename(halfMade, path);
      }
      this.#count(cid, bytes.length);
      // Also for a file that exists: the process that renamed it may have stopped before this.
      await flush(this.#directory);
      return cid;
    } catch (error) {
      // If this fails, the next start removes the file; the caller hears of the first error.
      await rm(halfMade, { force: true }).catch(() => {});
      this.#uncount(cid);
      return notNow(`the image could not be stored: ${systemCode(error) ?? String(error)}`);
    }
  }

  /**
   * Removes synchronously, so that no reader finds a file that is being removed; removes nothing
   * where that would not make enough room.
   */
  #makeRoom(cid: string, bytes: number): Failure | null {
    let surplus = this.#keptBytes - (this.#kept.get(cid) ?? 0) + onDisk(bytes) - this.#maxBytes;
    const leaving: string[] = [];
    for (const [name, size] of this.#kept) {
      if (surplus <= 0) break;
      if (this.#running.has(name) || this.#isClaimed(name)) continue;
      leaving.push(name);
      surplus -= size;
    }
    if (surplus > 0) {
      const message = 'the image could not be stored: images in use take all the room there is';
      return notNow(message);
    }
    for (const name of leaving) {
      rmSync(join(this.#directory, name), { force: true });
      this.#uncount(name);
    }
    return null;
  }

  #count(cid: string, bytes: number): void {
    this.#uncount(cid);
    this.#kept.set(cid, onDisk(bytes));
    this.#keptBytes += onDisk(bytes);
  }

  #uncount(cid: string): void {
    this.#keptBytes -= this.#kept.get(cid) ?? 0;
    this.#kept.delete(cid);
  }
}

function onDisk(bytes: number): number {
  return Math.ceil(bytes / DISK_BLOCK_BYTES) * DISK_BLOCK_BYTES;
}

function statOf(path: string): { readonly bytes: number; readonly changedMs: number } {
  const { size, mtimeMs } = statSync(path);
  return { bytes: size, changedMs: mtimeMs };
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
    if (systemCode(error) === 'ENOENT') return -1;
    throw error;
  }
}
