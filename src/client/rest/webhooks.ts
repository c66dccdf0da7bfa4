/** Webhooks of an API key, and what their receiver needs. */
import type * as api from '../types.ts';
import type { CallOptions } from './answer.ts';
import type { Http } from './http.ts';

/** With a key only: elsewhere `ApiError` KEY_REQUIRED. */
export function webhooksRoutes(http: Http) {
  return {
    /** Twice makes two, so it is not repeated by itself. Keep the `secret`. */
    create(body: api.CreateWebhookBody, options?: CallOptions) {
      const call = { path: '/v1/webhooks', body, isRepeatable: false, options };
      return http.call<api.CreateWebhookAnswer>({ method: 'POST', ...call });
    },

    list(options?: CallOptions) {
      return http.call<api.WebhooksAnswer>({ method: 'GET', path: '/v1/webhooks', options });
    },

    get(id: string, options?: CallOptions) {
      const path = `/v1/webhooks/${encodeURIComponent(id)}`;
      return http.call<api.WebhookAnswer>({ method: 'GET', path, options });
    },

    remove(id: string, options?: CallOptions) {
      const path = `/v1/webhooks/${encodeURIComponent(id)}`;
      const call = { path, isRepeatable: false, options };
      return http.call<api.DeleteWebhookAnswer>({ method: 'DELETE', ...call });
    },
  };
}

const SIGNATURE = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/;
/** Oldest delivery that is accepted: an older one may be recorded and replayed. */
const MAX_AGE_SECONDS = 300;

/**
 * Whether a delivery is from the server that knows `secret`, and no older than five minutes.
 * `signature`: its header `Upcurve-Signature`; `body`: its bytes as they came.
 */
export async function isFromWebhook(
  secret: string,
  signature: string,
  body: string | Uint8Array,
  nowMs: number,
): Promise<boolean> {
  const [, seconds, mac] = SIGNATURE.exec(signature) ?? [];
  if (seconds === undefined || mac === undefined) return false;
  if (Math.abs(nowMs / 1000 - Number(seconds)) > MAX_AGE_SECONDS) return false;
  const text = new TextEncoder();
  const { subtle } = globalThis.crypto;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await subtle.importKey('raw', text.encode(secret), algorithm, false, ['verify']);
  const head = text.encode(`${seconds}.`);
  const content = typeof body === 'string' ? text.encode(body) : body;
  const signed = new Uint8Array(head.length + content.length);
  signed.set(head);
  signed.set(content, head.length);
  const pairs = mac.match(/../g) ?? [];
  const bytes = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
  return subtle.verify('HMAC', key, bytes, signed);
}
