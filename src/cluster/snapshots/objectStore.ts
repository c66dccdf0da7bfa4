/**
 * Files in an object store bucket: snapshots and images.
 *
 * `get` reads into a temporary file, checks the digest and renames the file, so a file at its path
 * is whole. An object that is damaged, replaced or removed meanwhile is a Failure; repeat the call.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { NatsLink } from '../nats/connection.ts';
import type { Messages } from '../nats/messages.ts';
import { RangeFetcher } from '../nats/range.ts';
import {
  type JetStreamManager,
  jetstreamOf,
  manager,
  NatsStream,
  storageOfFiles,
} from '../nats/stream.ts';

interface ObjectsShape {
  readonly bucket: string;
  readonly replicas: number;
}

const CHUNK_BYTES = 128 * 1024;
const CHUNKS_AT_ONCE = 32;
const ASK_TIMEOUT_MS = 5_000;

export class ObjectFiles {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  readonly #rng: Rng;
  readonly #shape: ObjectsShape;

  constructor(link: NatsLink, clock: Clock, rng: Rng, shape: ObjectsShape) {
    this.#link = link;
    this.#clock = clock;
    this.#rng = rng;
    this.#shape = shape;
  }

  get messages(): Messages {
    return this.#link.messages;
  }

  /** Stores the file at `path` as `name`, replacing an older one. */
  put(name: string, path: string): Promise<Failure | null> {
    return this.#try(`${name} was not stored`, async (store) => {
      const file = await open(path);
      const meta = { name, options: { max_chunk_size: CHUNK_BYTES } };
      const stream = createReadStream(path, { fd: file, highWaterMark: CHUNK_BYTES });
      // trust: a file stream without an encoding gives bytes
      const bytes = Readable.toWeb(stream) as ReadableStream<Uint8Array>;
      try {
        await store.put(meta, bytes, { timeout: ASK_TIMEOUT_MS });
        return null;
      } finally {
        stream.destroy();
      }
    });
  }

  /** Writes the object `name` to the file at `path`: completely, or not at all. */
  get(name: string, path: string): Promise<Failure | null> {
    return this.#try(`${name} was not fetched`, async () => {
      const info = await this.#info(name);
      if (info === null || info.deleted === true)
        return new Failure('NOT_FOUND', `there is no ${name}`);
      const part = `${path}.part-${this.#rng.token(8)}`;
      try {
        const digest = await this.#copy(info, part);
        if (digest !== info.digest) {
          return new Failure('SERVER_ERROR', `${name} is damaged: its digest is another`);
        }
        await rename(part, path);
        return null;
      } finally {
        await rm(part, { force: true });
      }
    });
  }

  /** Names, the newest first. */
  list(): Promise<readonly string[] | Failure> {
    return this.#try('the list was not read', async () => {
      const { bucket } = this.#shape;
      const stream = new NatsStream(this.#link, await this.#manager(), `OBJ_${bucket}`);
      const names: string[] = [];
      for (let next = 1; ; ) {
        const message = await stream.nextOf(`$O.${bucket}.M.*`, next);
        if (message === null) return names.reverse();
        const info = this.messages.read('file', message.data);
        if (info !== null && info.deleted !== true) names.push(info.name);
        next = message.seq + 1;
      }
    });
  }

  /** Does nothing if it is not there. */
  remove(name: string): Promise<Failure | null> {
    return this.#try(`${name} was not removed`, async (store) => {
      const info = await store.info(name);
      if (info !== null && !info.deleted) await store.delete(name);
      return null;
    });
  }

  /** Answers the digest of the copy in the format of the store. */
  async #copy(info: Pick<ObjectInfo, 'nuid' | 'chunks'>, path: string): Promise<string> {
    const { bucket } = this.#shape;
    const subject = `$O.${bucket}.C.${info.nuid}`;
    const jsm = await this.#manager();
    const range = new RangeFetcher(this.#link, jsm, `OBJ_${bucket}`, this.#clock, subject);
    const digest = createHash('sha256');
    const file = await open(path, 'wx');
    try {
      for (let next = 1, left = info.chunks; left > 0; ) {
        const chunks = await range.read(next, Math.min(left, CHUNKS_AT_ONCE));
        const last = chunks.at(-1);
        if (last === undefined) break;
        for (const { data } of chunks) {
          digest.update(data);
          await file.appendFile(data);
        }
        left -= chunks.length;
        next = last.seq + 1;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    return `SHA-256=${padded(digest.digest('base64url'))}`;
  }

  /** As the store describes it; null: there is none, or no store wrote that. */
  async #info(name: string) {
    const { bucket } = this.#shape;
    const stream = new NatsStream(this.#link, await this.#manager(), `OBJ_${bucket}`);
    const subject = `$O.${bucket}.M.${padded(Buffer.from(name).toString('base64url'))}`;
    const message = await stream.lastOf(subject);
    return message === null ? null : this.messages.read('file', message.data);
  }

  #manager(): Promise<JetStreamManager> {
    return manager(this.#link, ASK_TIMEOUT_MS);
  }

  async #try<T>(what: string, run: (store: ObjectStore) => Promise<T>): Promise<T | Failure> {
    if (!this.#link.connected) return new Failure('NOT_READY', `${what}: no connection to NATS`);
    const { bucket, replicas } = this.#shape;
    try {
      const stores = new Objm(jetstreamOf(this.#link, ASK_TIMEOUT_MS));
      return await run(await stores.create(bucket, { replicas, storage: storageOfFiles }));
    } catch (error) {
      return new Failure('NOT_READY', `${what}: ${String(error)}`);
    }
  }
}

/** The store's base64 has its padding, Node's URL form has not. */
function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
}
