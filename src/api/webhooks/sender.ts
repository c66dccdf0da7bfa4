/**
 * One delivery: a signed POST to an address that was checked. Redirects are not followed, and of
 * the answer only its status counts. Servers need a certificate of Node's authorities or of
 * NODE_EXTRA_CA_CERTS.
 */
import { createHmac } from 'node:crypto';
import { Agent as PlainAgent, request as plainRequest, type RequestOptions } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Clock } from '../../engine/runtime/clock.ts';
import { fetchFailure } from '../../engine/runtime/fetching.ts';
import type { Destination, Destinations } from './destination.ts';
import type { Webhook } from './port.ts';

export interface Delivery {
  /** A JSON array of frames. */
  readonly body: string;
  /** `<epoch>:<seq>` up to which the receiver has all its topics after this delivery. */
  readonly position: string;
  /** Digest of the body's content: the same where the same is sent again. */
  readonly digest: string;
  /** Failed ones before it. */
  readonly attempt: number;
}

/** null: it was accepted. */
export type Refusal = string | null;

interface SenderDeps {
  readonly destinations: Destinations;
  readonly clock: Clock;
}

const TIMEOUT_MS = 10_000;
const IDLE_MS = 30_000;
const MAX_IDLE = 256;
/** Bytes of an answer that are read; a longer one costs its connection. */
const MAX_ANSWER_BYTES = 65_536;

export class Sender {
  readonly #deps: SenderDeps;
  readonly #plain: PlainAgent;
  readonly #secure: SecureAgent;
  /** Aborts for the deliveries under way. */
  readonly #running = new Set<AbortController>();
  #isClosed = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    const keep = { keepAlive: true, maxTotalSockets: Number.POSITIVE_INFINITY, timeout: IDLE_MS };
    this.#plain = new PlainAgent({ ...keep, maxFreeSockets: MAX_IDLE });
    this.#secure = new SecureAgent({ ...keep, maxFreeSockets: MAX_IDLE });
  }

  /** Rejects where `close` ends it. */
  async send(webhook: Webhook, delivery: Delivery): Promise<Refusal> {
    const { clock, destinations } = this.#deps;
    const running = new AbortController();
    const timer = clock.after(TIMEOUT_MS, () => running.abort());
    this.#running.add(running);
    try {
      const found = await destinations.of(new URL(webhook.url), delivery.attempt);
      if ('why' in found) return `the URL ${found.why}`;
      return await this.#post(found, webhook, delivery, running.signal);
    } catch (error) {
      if (this.#isClosed) throw error;
      const isLate = running.signal.aborted;
      return isLate ? 'no answer within 10 s' : `no answer (${fetchFailure(error)})`;
    } finally {
      timer.cancel();
      this.#running.delete(running);
    }
  }

  /** Aborts the deliveries under way. */
  close(): void {
    this.#isClosed = true;
    for (const running of this.#running) running.abort();
    this.#plain.destroy();
    this.#secure.destroy();
  }

  async #post(to: Destination, webhook: Webhook, delivery: Delivery, signal: AbortSignal) {
    const headers = this.#headersOf(webhook, delivery);
    const posted = await this.#once(to, delivery.body, headers, signal);
    // A kept connection that the receiver had just closed: it has read nothing.
    return posted === 'reset' ? this.#retried(to, delivery.body, headers, signal) : posted;
  }

  async #retried(to: Destination, body: string, headers: Headers, signal: AbortSignal) {
    const posted = await this.#once(to, body, headers, signal, false);
    return posted === 'reset' ? 'no answer (ECONNRESET)' : posted;
  }

  #headersOf({ id, secret }: Webhook, { body, position, digest }: Delivery): Headers {
    const seconds = Math.floor(this.#deps.clock.nowMs() / 1000);
    const messageId = `${id}_${digest}`;
    return {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'upcurve',
      'upcurve-id': id,
      'upcurve-position': position,
      'upcurve-signature': signatureOf(secret, seconds, body),
      'webhook-id': messageId,
      'webhook-timestamp': seconds,
      'webhook-signature': standardSignature(secret, messageId, seconds, body),
    };
  }

  #once(
    { url, address }: Destination,
    body: string,
    headers: Headers,
    signal: AbortSignal,
    mayReuse = true,
  ): Promise<Refusal | 'reset'> {
    const isSecure = url.protocol === 'https:';
    const agent = isSecure ? this.#secure : this.#plain;
    const options: RequestOptions & { servername?: string } = {
      method: 'POST',
      host: address,
      port: url.port === '' ? (isSecure ? 443 : 80) : url.port,
      path: url.pathname + url.search,
      headers: { host: url.host, ...headers },
      agent: mayReuse ? agent : false,
      signal,
    };
    // The certificate must fit the name; a name that is an address has no server name.
    const name = url.hostname.replace(/\.$/, '');
    if (isSecure && isIP(name.replace(/^\[(.*)\]$/, '$1')) === 0) options.servername = name;
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const request = (isSecure ? secureRequest : plainRequest)(options, (response) => {
        const { statusCode = 0 } = response;
        isAnswered = true;
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_ANSWER_BYTES) response.destroy();
        });
        // `close` follows, and the delivery counts by its status.
        response.on('error', () => {});
        const isAccepted = statusCode >= 200 && statusCode < 300;
        // Not before its end: the connection is free for the next delivery then, and the time limit
        // still holds, so that an answer without an end does not keep its connection for ever.
        response.on('close', () => resolve(isAccepted ? null : `it answered ${statusCode}`));
      });
      request.on('error', (error) => {
        if (isAnswered) return;
        const wasReset = request.reusedSocket && fetchFailure(error) === 'ECONNRESET';
        if (wasReset && !signal.aborted) resolve('reset');
        else reject(error);
      });
      request.end(body);
    });
  }
}

type Headers = Readonly<Record<string, string | number>>;

/** `t=<Unix seconds>,v1=<HMAC-SHA256 of "<t>.<body>" in hex>`. */
export function signatureOf(secret: string, seconds: number, body: string): string {
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${mac}`;
}

/** `v1,<HMAC-SHA256 of "<id>.<t>.<body>" in base64>`, one for each reading of the secret. */
function standardSignature(
  secret: string,
  messageId: string,
  seconds: number,
  body: string,
): string {
  const signed = `${messageId}.${seconds}.${body}`;
  const macOf = (key: Buffer) => createHmac('sha256', key).update(signed).digest('base64');
  return keysOf(secret)
    .map((key) => `v1,${macOf(key)}`)
    .join(' ');
}

const PREFIX = 'whsec_';

/**
 * The standard's libraries read a secret as base64, after `whsec_` where it has that. A receiver
 * can also ask for the bytes of the text (`format: 'raw'`). A secret that a user chose can be meant
 * in both ways, so it signs in both.
 */
function keysOf(secret: string): Buffer[] {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const decoded = Buffer.from(text, 'base64');
  const isBase64 = decoded.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (!isBase64) return [Buffer.from(secret)];
  return text === secret ? [decoded, Buffer.from(secret)] : [decoded];
}
