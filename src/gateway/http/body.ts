/** Reads and checks a JSON body: bounded while it arrives, and judged by its media type first. */
import type { TSchema } from 'typebox';
import { Failure } from '../../runtime/errors.ts';
import { type Check, checkOf } from '../input.ts';
import type { Exchange } from './exchange.ts';

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** What is wrong before a byte of the body was read; null when it may be read. */
export function refusedUnread(exchange: Exchange, maxBytes: number): Failure | null {
  const declared = Number(exchange.contentLength);
  if (declared > maxBytes) return tooLarge(maxBytes);
  return declared > 0 && !isJson(exchange) ? unsupported(exchange.contentType) : null;
}

/**
 * Collects the body. `done` gets a Failure as soon as the body is too large; then the rest is
 * dropped. It is not called when the client goes away.
 */
export function collect(
  exchange: Exchange,
  maxBytes: number,
  done: (body: Buffer | Failure) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  exchange.res.onData((chunk, isLast) => {
    if (!exchange.alive || length > maxBytes) return;
    length += chunk.byteLength;
    if (length > maxBytes) {
      chunks.length = 0;
      done(tooLarge(maxBytes));
      return;
    }
    // The library reuses the chunk's memory after this call.
    if (chunk.byteLength > 0) chunks.push(Buffer.from(chunk.slice(0)));
    if (isLast) done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
  });
}

export class BodyReader {
  readonly #check: Check | null;

  constructor(schema: TSchema | undefined) {
    this.#check = schema === undefined ? null : checkOf(schema);
  }

  read(exchange: Exchange, bytes: Buffer): { readonly value: unknown } | Failure {
    if (bytes.length > 0 && !isJson(exchange)) return unsupported(exchange.contentType);
    const parsed = bytes.length === 0 ? { value: null } : parse(bytes);
    if (parsed instanceof Failure) return parsed;
    if (this.#check === null) return { value: undefined };
    if (parsed.value !== null) return this.#check(parsed.value, 'body');
    // No body: fine where the schema takes null or an object without any field.
    if (!(this.#check(null, 'body') instanceof Failure)) return { value: null };
    const empty = this.#check({}, 'body');
    return empty instanceof Failure ? empty : { value: undefined };
  }
}

function parse(bytes: Buffer): { readonly value: unknown } | Failure {
  try {
    return { value: JSON.parse(bytes.toString('utf8')) };
  } catch (error) {
    const message = `malformed JSON: ${error instanceof Error ? error.message : 'unreadable'}`;
    return new Failure('INVALID_PARAMS', message, { details: [{ path: 'body', message }] });
  }
}

function isJson(exchange: Exchange): boolean {
  return JSON_TYPE.test(exchange.contentType);
}

function tooLarge(maxBytes: number): Failure {
  return new Failure('PAYLOAD_TOO_LARGE', `the body may have at most ${maxBytes} bytes`);
}

function unsupported(type: string): Failure {
  const got = type === '' ? 'none was given' : `got ${type}`;
  return new Failure('UNSUPPORTED_MEDIA_TYPE', `send the body as application/json; ${got}`);
}
