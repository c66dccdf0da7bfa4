/** gzip off the main thread, once per body: results are kept by ETag within a number of bytes. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';

export const GZIP_FROM_BYTES = 1024;

const compress = promisify(gzip);

export class GzipCache {
  readonly #done: LRUCache<string, Buffer>;
  readonly #running = new Map<string, Promise<Buffer>>();

  constructor(maxBytes: number) {
    this.#done = new LRUCache({ maxSize: maxBytes, sizeCalculation: (bytes) => bytes.length });
  }

  /** A buffer where it is known already, so that the usual case stays synchronous. */
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
