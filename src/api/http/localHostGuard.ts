/**
 * Refuses calls to local routes by pages of other sites. Browsers send `Origin` with such calls;
 * with DNS rebinding, `Host` holds the foreign name.
 */
import { Failure } from '../../engine/runtime/errors.ts';
import { callerOf } from '../gateway/address.ts';

export class LocalHostGuard {
  readonly #public: URL | null;

  /** `publicUrl`: where clients reach this server, beside loopback; empty: nowhere. */
  constructor(publicUrl: string) {
    this.#public = URL.parse(publicUrl);
  }

  /** Why a call with these headers is refused; null: it is allowed. */
  refusal(host: string, origin: string | null): Failure | null {
    if (!this.#isOwn(host)) {
      return forbidden(`this route answers on a loopback address or PUBLIC_URL, not on ${host}`);
    }
    if (origin === null || this.#allows(host, origin)) return null;
    return forbidden(`this route does not answer pages of ${origin}`);
  }

  #isOwn(host: string): boolean {
    const url = URL.parse(`${this.#public?.protocol ?? 'http:'}//${host}`);
    // A URL with more than host and port has a path, a user or the like.
    if (url === null || url.href !== `${url.protocol}//${url.host}/`) return false;
    if (url.host === this.#public?.host) return true;
    const { hostname } = url;
    return hostname === 'localhost' || callerOf(hostname.replaceAll(/^\[|\]$/g, '')).loopback;
  }

  #allows(host: string, origin: string): boolean {
    if (origin === this.#public?.origin) return true;
    const page = URL.parse(origin);
    if (page === null || page.host === this.#public?.host) return false;
    return page.host === URL.parse(`${page.protocol}//${host}`)?.host;
  }
}

function forbidden(what: string): Failure {
  const remedy = 'call it from the same host, or set PUBLIC_URL on the server';
  return new Failure('FORBIDDEN', `${what.slice(0, 200)}: ${remedy}`);
}
