/** The nodes of one market. All answer alike; after a failure the next one is used, in a circle. */
export class Nodes {
  readonly #urls: readonly string[];
  #at = 0;

  /** Throws where there is none, or one is no http(s) URL: a mistake of the program. */
  constructor(urls: readonly string[]) {
    this.#urls = urls.map((url) => {
      const { protocol } = new URL(url);
      if (protocol !== 'http:' && protocol !== 'https:') {
        throw new TypeError(`${url} does not start with http:// or https://`);
      }
      return url.replace(/\/+$/, '');
    });
    if (urls.length === 0) throw new TypeError('name at least one node');
  }

  get count(): number {
    return this.#urls.length;
  }

  /** Base URL without a slash at its end. */
  get current(): string {
    return this.#urls[this.#at] ?? '';
  }

  /** Moves on to the next, unless another caller has done so already. */
  leave(url: string): void {
    if (url === this.current) this.#at = (this.#at + 1) % this.#urls.length;
  }
}

/** `http://host/base` → `ws://host/base/ws`. */
export function socketUrl(url: string): string {
  return `${url.replace(/^http/, 'ws')}/ws`;
}
