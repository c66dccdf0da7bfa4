/**
 * Images pinned on an IPFS node with Kubo's HTTP API (`/api/v0`). The node is not trusted: it must
 * report the id that we computed, and the bytes that it returns for an id must have that id. It
 * serves only images that it has and never searches the network. Source: docs.ipfs.tech, Kubo RPC
 * API v0, `add` and `cat`.
 */

import { withDeadline } from '../../engine/runtime/abort.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, notNow } from '../../engine/runtime/errors.ts';
import { basicAuthorization, boundedBody, fetchFailure } from '../../engine/runtime/fetching.ts';
import { MAX_IMAGE_BYTES } from '../../engine/runtime/limits.ts';
import { cidOf, isCid } from './cid.ts';
import { type ImageType, imageTypeOf, refuseMismatch } from './header.ts';
import type { ImageStore, StoredImage } from './port.ts';

interface KuboOptions {
  /** Where `/api/v0` lies, such as `http://127.0.0.1:5001`; may hold user and password. */
  readonly url: string;
  readonly clock: Clock;
  /** For one whole call. */
  readonly timeoutMs: number;
}

interface KuboResponse {
  readonly status: number;
  readonly bytes: Buffer;
}

const MAX_REPORT_BYTES = 65_536;
const ABSENT = /not found|could not find/i;

/**
 * The chunk size is given because a node's settings may differ; the rest are Kubo's defaults for
 * v1.
 */
const ADD = '/api/v0/add?cid-version=1&raw-leaves=true&chunker=size-262144&pin=true&progress=false';

export class KuboImages implements ImageStore {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #clock: Clock;
  readonly #timeoutMs: number;

  constructor({ url, clock, timeoutMs }: KuboOptions) {
    const { origin, pathname, username, password } = new URL(url);
    this.#base = origin + pathname.replace(/\/+$/, '');
    this.#headers =
      username === '' ? {} : { authorization: basicAuthorization(username, password) };
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  async put(bytes: Uint8Array, mediaType: ImageType): Promise<string | Failure> {
    const refused = refuseMismatch(bytes, mediaType);
    if (refused !== null) return refused;
    const cid = await cidOf(bytes);
    const form = new FormData();
    form.set('file', new Blob([Uint8Array.from(bytes)], { type: mediaType }), cid);
    const answer = await this.#post(ADD, form, MAX_REPORT_BYTES);
    if (answer instanceof Failure) return answer;
    if (answer.status !== 200) return failed(`it answered ${reportOf(answer)}`);
    const named = cidIn(answer.bytes.toString('utf8'));
    if (named === cid) return cid;
    return failed(`it calls the image ${named ?? 'nothing'}, not ${cid}`);
  }

  async get(cid: string): Promise<StoredImage | null | Failure> {
    if (!isCid(cid)) return null;
    const most = MAX_IMAGE_BYTES + 1;
    const path = `/api/v0/cat?arg=${cid}&length=${most}&offline=true`;
    const answer = await this.#post(path, null, most);
    if (answer instanceof Failure) return answer;
    const { status, bytes } = answer;
    if (status === 500 && ABSENT.test(bytes.toString('utf8'))) return null;
    if (status !== 200) return failed(`it answered ${reportOf(answer)}`);
    if (bytes.length > MAX_IMAGE_BYTES) return null;
    if ((await cidOf(bytes)) !== cid) return failed(`what it gives for ${cid} has another id`);
    const mediaType = imageTypeOf(bytes);
    return mediaType === null ? null : { bytes, mediaType };
  }

  #post(path: string, body: FormData | null, maxBytes: number): Promise<KuboResponse | Failure> {
    return withDeadline(this.#clock, this.#timeoutMs, (signal) =>
      this.#postUnless(signal, path, body, maxBytes),
    );
  }

  async #postUnless(
    signal: AbortSignal,
    path: string,
    body: FormData | null,
    maxBytes: number,
  ): Promise<KuboResponse | Failure> {
    try {
      const headers = this.#headers;
      const url = this.#base + path;
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        signal,
        redirect: 'error',
      });
      return { status: response.status, bytes: await boundedBody(response, maxBytes) };
    } catch (error) {
      if (signal.aborted) return failed(`no answer within ${this.#timeoutMs} ms`);
      return failed(fetchFailure(error));
    }
  }
}

/** The last line with a hash names the root. */
function cidIn(report: string): string | null {
  for (const line of report.trim().split('\n').reverse()) {
    const hash = fieldOf(line, 'Hash');
    if (hash !== null) return hash;
  }
  return null;
}

function reportOf({ status, bytes }: KuboResponse): string {
  const message = fieldOf(bytes.toString('utf8'), 'Message');
  return message === null ? String(status) : `${status}: ${message}`;
}

function fieldOf(text: string, name: string): string | null {
  try {
    const parsed: unknown = JSON.parse(text);
    const isObject = typeof parsed === 'object' && parsed !== null;
    const value: unknown = isObject ? Reflect.get(parsed, name) : null;
    return typeof value === 'string' ? value.slice(0, 200) : null;
  } catch {
    // It is no JSON: the message is made without it.
    return null;
  }
}

function failed(why: string): Failure {
  return notNow(`the IPFS node failed: ${why}; try again`);
}
