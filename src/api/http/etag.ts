/**
 * ETags by content. Handlers answer the same string or buffer again for cached bodies, so a tag is
 * remembered by the identity of the body; hashing happens once per body, not once per request.
 * These tags are weak, because the gzipped form of a body has the same one.
 */
import { hash } from 'node:crypto';
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

/** A tag that a handler gives: strong where the body is sent in one form only. */
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
