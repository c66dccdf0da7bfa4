/** What a client of a foreign HTTP server needs beside `fetch`. */

/** Why a `fetch` failed: the system's code where there is one (ECONNREFUSED), else a message. */
export function fetchFailure(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  if (typeof code === 'string') return code;
  return cause instanceof Error ? cause.message : String(cause);
}

/** The Authorization header for the percent-encoded name and password of a URL. */
export function basicAuthorization(username: string, password: string): string {
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

/** At most one chunk more than `maxBytes` is read; what is longer is cut to `maxBytes`. */
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
