/**
 * A key-value bucket whose values vanish a while after they were written. What the server says is
 * an outcome; only an answer that did not come is `unreachable`.
 */
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsLink } from './connection.ts';
import {
  isMissing,
  isWrongLast,
  jetstreamOf,
  MarketStream,
  manager,
  StreamMissing,
  storageOfFiles,
} from './stream.ts';
import { setMaxAge, settingsOf } from './streamSettings.ts';

export interface BucketShape {
  readonly name: string;
  readonly replicas: number;
  /** A value lives so long after it was written. */
  readonly ttlMs: number;
}

export interface BucketValue {
  readonly key: string;
  readonly text: string;
  readonly revision: number;
  /** When it was written, by the clock of NATS. */
  readonly storedMs: number;
}

export type WriteOutcome =
  | { readonly write: 'done'; readonly revision: number }
  /** Somebody else's value is there, or ours is gone. */
  | { readonly write: 'refused' }
  | { readonly write: 'unreachable' };

export class Bucket {
  readonly #link: NatsLink;
  readonly #shape: BucketShape;
  readonly #timeoutMs: number;
  #opened: Promise<KV> | null = null;

  constructor(link: NatsLink, shape: BucketShape, timeoutMs: number) {
    this.#link = link;
    this.#shape = shape;
    this.#timeoutMs = timeoutMs;
  }

  create(key: string, text: string): Promise<WriteOutcome> {
    return this.#write((bucket) => bucket.create(key, text));
  }

  /** Only if the key still has `revision`. */
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

  /** Values live as long as the shape says, also in a bucket that was made for shorter ones. */
  async lengthen(): Promise<void> {
    const stream = `KV_${this.#shape.name}`;
    const found = await settingsOf(this.#link, stream);
    const { ttlMs } = this.#shape;
    if (found !== null && found.maxAgeMs < ttlMs) await setMaxAge(this.#link, stream, ttlMs);
  }

  /** null: no such key. */
  async get(key: string): Promise<BucketValue | null | 'unreachable'> {
    const value = await this.#ask((bucket) => bucket.get(key));
    if (value === 'unreachable') return value;
    if (value === 'refused' || value === null || value.operation !== 'PUT') return null;
    const { revision, created } = value;
    return { key, text: value.string(), revision, storedMs: created.getTime() };
  }

  /** Every value that is put under `<prefix>.` from now on; empty for a removal. */
  hear(prefix: string, listener: (text: string) => void): void {
    const subject = `$KV.${this.#shape.name}.${prefix}.*`;
    this.#link.connection.subscribe(subject, {
      callback: (_error, { data }) => listener(new TextDecoder().decode(data)),
    });
  }

  /** Values whose keys begin with `<prefix>.`; keys that were removed are not among them. */
  async all(prefix: string): Promise<readonly string[] | 'unreachable'> {
    const texts: string[] = [];
    const found = await this.#ask(async () => {
      const jsm = await manager(this.#link, this.#timeoutMs);
      const stream = new MarketStream(this.#link, jsm, `KV_${this.#shape.name}`);
      for (let next = 1; ; ) {
        const subject = `$KV.${this.#shape.name}.${prefix}.*`;
        const message = await stream.nextOf(subject, next);
        if (message === null) return true;
        if (message.data.length > 0) texts.push(new TextDecoder().decode(message.data));
        next = message.seq + 1;
      }
    });
    return found === 'unreachable' ? found : texts;
  }

  async #write(run: (bucket: KV) => Promise<number>): Promise<WriteOutcome> {
    const outcome = await this.#ask(run);
    return typeof outcome === 'number' ? { write: 'done', revision: outcome } : { write: outcome };
  }

  /** A bucket that was lost with the server's state is made anew by the next one who asks. */
  async #ask<T>(run: (bucket: KV) => Promise<T>): Promise<T | 'refused' | 'unreachable'> {
    try {
      return await this.#link.whileConnected(async () => {
        this.#opened ??= this.#open();
        return run(await this.#opened);
      });
    } catch (error) {
      if (isWrongLast(error)) return 'refused';
      this.#opened = null;
      return isMissing(error) || error instanceof StreamMissing ? 'refused' : 'unreachable';
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
