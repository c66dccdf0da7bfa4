/**
 * A key-value bucket whose values expire. An answer of the server is an outcome; `unreachable`
 * means that there was none.
 */

import { type KV, Kvm } from '@nats-io/kv';
import { isFault } from '../../engine/runtime/assert.ts';
import { messageOf } from '../../engine/runtime/errors.ts';
import type { NatsLink } from './connection.ts';
import type { Messages } from './messages.ts';
import {
  isMissing,
  isWrongLast,
  jetstreamOf,
  manager,
  NatsStream,
  storageOfFiles,
} from './stream.ts';
import { setMaxAge, settingsOf } from './streamSettings.ts';

interface BucketShape {
  readonly name: string;
  readonly replicas: number;
  /** Lifetime of a value after its last write; 0: it stays. */
  readonly ttlMs: number;
}

export interface BucketValue {
  readonly key: string;
  readonly text: string;
  readonly revision: number;
  /** When it was written, by the clock of NATS. */
  readonly storedMs: number;
}

type WriteOutcome =
  | { readonly write: 'done'; readonly revision: number }
  /** Another value is there, or ours is gone. */
  | { readonly write: 'refused' }
  | { readonly write: 'unreachable' };

export class Bucket {
  readonly #link: NatsLink;
  readonly #shape: BucketShape;
  readonly #timeoutMs: number;
  #opened: Promise<KV> | null = null;
  #problem: string | null = null;

  constructor(link: NatsLink, shape: BucketShape, timeoutMs: number) {
    this.#link = link;
    this.#shape = shape;
    this.#timeoutMs = timeoutMs;
  }

  /** Why the last request was `unreachable`; null: it was not. */
  get problem(): string | null {
    return this.#problem;
  }

  get messages(): Messages {
    return this.#link.messages;
  }

  create(key: string, text: string): Promise<WriteOutcome> {
    return this.#write((bucket) => bucket.create(key, text));
  }

  /** Refused when the key no longer has `revision`. */
  update(key: string, text: string, revision: number): Promise<WriteOutcome> {
    return this.#write((bucket) => bucket.update(key, text, revision, this.#timeoutMs));
  }

  put(key: string, text: string): Promise<WriteOutcome> {
    return this.#write((bucket) => bucket.put(key, text, { timeout: this.#timeoutMs }));
  }

  remove(key: string, revision?: number): Promise<WriteOutcome> {
    return this.#write(async (bucket) => {
      await bucket.delete(key, revision === undefined ? {} : { previousSeq: revision });
      return 0;
    });
  }

  /** Raises the lifetime of an existing bucket to the lifetime in the shape. */
  async lengthen(): Promise<void> {
    const stream = `KV_${this.#shape.name}`;
    const found = await settingsOf(this.#link, stream);
    const { ttlMs } = this.#shape;
    if (found !== null && found.maxAgeMs < ttlMs) await setMaxAge(this.#link, stream, ttlMs);
  }

  /** Removes all values. */
  async empty(): Promise<void> {
    await this.#ask(async () => {
      const jsm = await manager(this.#link, this.#timeoutMs);
      return jsm.streams.purge(`KV_${this.#shape.name}`);
    });
  }

  /** null: no such key. */
  async get(key: string): Promise<BucketValue | null | 'unreachable'> {
    const value = await this.#ask((bucket) => bucket.get(key));
    if (value === 'unreachable') return value;
    if (value === 'refused' || value === null || value.operation !== 'PUT') return null;
    const { revision, created } = value;
    return { key, text: value.string(), revision, storedMs: created.getTime() };
  }

  /**
   * Calls back with every value that anyone asks to be put under the keys from now on, whether it
   * is stored or refused; empty for a removal. `keys`: one, or `<prefix>.*`.
   */
  watch(keys: string, listener: (text: string) => void): void {
    const subject = `$KV.${this.#shape.name}.${keys}`;
    this.#link.connection.subscribe(subject, {
      callback: (_error, { data }) => listener(new TextDecoder().decode(data)),
    });
  }

  /** Values of all keys under `<prefix>.`. */
  async all(prefix: string): Promise<readonly string[] | 'unreachable'> {
    const found = await this.entries(prefix);
    return found === 'unreachable' ? found : found.map(({ text }) => text);
  }

  /** The same, each with its revision. */
  async entries(
    prefix: string,
  ): Promise<readonly Pick<BucketValue, 'text' | 'revision'>[] | 'unreachable'> {
    const entries: Pick<BucketValue, 'text' | 'revision'>[] = [];
    const found = await this.#ask(async () => {
      const jsm = await manager(this.#link, this.#timeoutMs);
      const stream = new NatsStream(this.#link, jsm, `KV_${this.#shape.name}`);
      for (let next = 1; ; ) {
        const subject = `$KV.${this.#shape.name}.${prefix}.*`;
        const message = await stream.nextOf(subject, next);
        if (message === null) return true;
        const { data, seq } = message;
        if (data.length > 0) entries.push({ text: new TextDecoder().decode(data), revision: seq });
        next = seq + 1;
      }
    });
    return found === 'unreachable' ? found : entries;
  }

  async #write(run: (bucket: KV) => Promise<number>): Promise<WriteOutcome> {
    const outcome = await this.#ask(run);
    return typeof outcome === 'number' ? { write: 'done', revision: outcome } : { write: outcome };
  }

  /** The next request makes a bucket again that was lost with the state of the server. */
  async #ask<T>(run: (bucket: KV) => Promise<T>): Promise<T | 'refused' | 'unreachable'> {
    try {
      const answer = await this.#link.whileConnected(async () => {
        this.#opened ??= this.#open();
        return run(await this.#opened);
      });
      this.#problem = null;
      return answer;
    } catch (error) {
      if (isWrongLast(error)) return 'refused';
      this.#opened = null;
      this.#problem = messageOf(error);
      return isMissing(error) || isFault(error, 'streamMissing') ? 'refused' : 'unreachable';
    }
  }

  #open(): Promise<KV> {
    const { name, replicas, ttlMs } = this.#shape;
    const buckets = new Kvm(jetstreamOf(this.#link, this.#timeoutMs));
    return buckets.create(name, {
      replicas,
      ttl: ttlMs,
      history: 1,
      storage: storageOfFiles,
      allow_direct: false,
    });
  }
}
