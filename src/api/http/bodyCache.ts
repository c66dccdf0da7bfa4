/**
 * ETags and gzipped forms of bodies, both cached. Handlers return the same string or buffer again
 * for cached bodies, so a tag is cached by the identity of the body: each body is hashed once, not
 * once per request. These tags are weak, because the gzipped form has the same one. gzip runs off
 * the main thread, once per body; results are kept by ETag, up to a number of bytes.
 */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';

const REMEMBERED_CHARACTERS = 8 * 1_048_576;

export class EntityTags {
  readonly #ofText = new LRUCache<string, string>({
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: (_tag, body) => body.length + 1,
  });
  readonly #ofBytes = new WeakMap<Uint8Array, string>();

  of(body: string | Uint8Array): string {
    const known = typeof body === 'string' ? this.#ofText.get(body) : this.#ofBytes.get(body);
    if (known !== undefined) return known;
    const tag = `W/"${hash('sha1', body, 'base64url')}"`;
    if (typeof body === 'string') this.#ofText.set(body, tag);
    else this.#ofBytes.set(body, tag);
    return tag;
  }
}

const TAG = /^[\x21\x23-\x7e]{1,256}$/;

/** The ETag of a handler's own tag: strong where the body is never gzipped. */
export function entityTag(tag: string, isGzipped: boolean): string {
  if (!TAG.test(tag)) throw new Error('a tag from a handler holds what no ETag may hold');
  return isGzipped ? `W/"${tag}"` : `"${tag}"`;
}

/** Whether If-None-Match names this tag; weak comparison, so `W/` does not count. */
export function matches(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === tag || ifNoneMatch.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((entry) => entry.trim().replace(/^W\//, '') === opaque);
}

export const GZIP_FROM_BYTES = 1024;

const compress = promisify(gzip);

export class GzipCache {
  readonly #done: LRUCache<string, Buffer>;
  readonly #running = new Map<string, Promise<Buffer>>();

  constructor(maxBytes: number) {
    this.#done = new LRUCache({ maxSize: maxBytes, sizeCalculation: (bytes) => bytes.length });
  }

  /** The buffer itself where it is cached, so that the usual case is synchronous. */
  of(tag: string, body: string | Uint8Array): Buffer | Promise<Buffer> {
    const known = this.#done.get(tag) ?? this.#running.get(tag);
    if (known !== undefined) return known;
    const running = this.#run(tag, body);
    this.#running.set(tag, running);
    return running;
  }

  async #run(tag: string, body: string | Uint8Array): Promise<Buffer> {
    try {
      const bytes = await compress(body);
      this.#done.set(tag, bytes);
      return bytes;
    } finally {
      this.#running.delete(tag);
    }
  }
}

/** Whether an Accept-Encoding header takes gzip: q=0 refuses it, `*` stands for it. */
export function acceptsGzip(header: string): boolean {
  if (header === '') return false;
  let byStar = false;
  for (const entry of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const quality = parameters.find((part) => part.startsWith('q='));
    const taken = quality === undefined || Number(quality.slice(2)) > 0;
    if (coding === 'gzip' || coding === 'x-gzip') return taken;
    if (coding === '*') byStar = taken;
  }
  return byStar;
}
