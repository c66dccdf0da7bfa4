/** Helpers beside `fetch` for clients of foreign HTTP servers. */
import { messageOf, systemCode } from './errors.ts';

/** Why a `fetch` failed: the system's code where there is one (ECONNREFUSED), else a message. */
export function fetchFailure(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  return systemCode(cause) ?? messageOf(cause);
}

/** The Authorization header for the percent-encoded name and password of a URL. */
export function basicAuthorization(username: string, password: string): string {
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

/** At most one chunk more than `maxBytes` is read; a longer body is cut to `maxBytes`. */
export async function boundedBody(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
