/**
 * Reads and checks a body, JSON where it is no form: judged by its media type first, and bounded
 * while it arrives, alone and together with all others.
 */
import type { TSchema } from 'typebox';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { type Check, type Checked, checkOf } from '../gateway/input.ts';
import type { Exchange } from './exchange.ts';

/**
 * How long a chunked body may pause. The library takes the characters of a chunk extension for
 * digits of the chunk's size and waits for bytes that never come.
 */
const CHUNK_PAUSE_MS = 1_500;

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** What a route takes, before a byte of it was read. */
export interface AcceptedBody {
  readonly maxBytes: number;
  readonly type: RegExp;
  /** For the message. */
  readonly typeName: string;
}

export function acceptedJson(maxBytes: number): AcceptedBody {
  return { maxBytes, type: JSON_TYPE, typeName: 'application/json' };
}

/** What is wrong before a byte of the body was read; null when it may be read. */
export function refuseByHeaders(exchange: Exchange, accepted: AcceptedBody): Failure | null {
  const declared = Number(exchange.contentLength);
  if (declared > accepted.maxBytes) return tooLarge(accepted.maxBytes);
  return declared > 0 ? refuseByType(exchange, accepted) : null;
}

export function refuseByType(exchange: Exchange, { type, typeName }: AcceptedBody): Failure | null {
  const { contentType } = exchange;
  if (type.test(contentType)) return null;
  const got = contentType === '' ? 'none was given' : `got ${contentType}`;
  return new Failure('UNSUPPORTED_MEDIA_TYPE', `send the body as ${typeName}; ${got}`);
}

/** The bytes of all bodies that are still arriving: many large ones at once fill no memory. */
export class BodyBudget {
  /** Of one body, or part of a form, in JSON. */
  readonly maxBodyBytes: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(bounds: { readonly maxBodyBytes: number; readonly maxArrivingBytes: number }) {
    this.maxBodyBytes = bounds.maxBodyBytes;
    this.#maxBytes = bounds.maxArrivingBytes;
  }

  get isFull(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Negative: bytes that arrived whole, or will be dropped. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }
}

/**
 * Collects the body. `done` gets a Failure as soon as the body is too large, or all that arrive
 * are, or a chunked one pauses; then the rest is dropped. It is not called when the client goes
 * away.
 */
export function readBody(
  exchange: Exchange,
  maxBytes: number,
  { bodyBudget, clock }: { readonly bodyBudget: BodyBudget; readonly clock: Clock },
  done: (body: Buffer | Failure) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let isDone = false;
  let pause: Timer | null = null;
  const finish = () => {
    if (!isDone) bodyBudget.add(-length);
    isDone = true;
    pause?.cancel();
  };
  const watch = () => {
    pause?.cancel();
    pause = clock.after(CHUNK_PAUSE_MS, () => {
      finish();
      done(paused());
    });
  };
  exchange.onGone = finish;
  if (exchange.endsConnection) watch();
  exchange.res.onData((chunk, isLast) => {
    if (!exchange.alive || isDone) return;
    length += chunk.byteLength;
    bodyBudget.add(chunk.byteLength);
    if (length > maxBytes || bodyBudget.isFull) {
      finish();
      chunks.length = 0;
      done(length > maxBytes ? tooLarge(maxBytes) : overloaded());
      return;
    }
    // The library reuses the chunk's memory after this call.
    if (chunk.byteLength > 0) chunks.push(Buffer.from(chunk.slice(0)));
    if (!isLast) {
      if (pause !== null) watch();
      return;
    }
    finish();
    done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
  });
}

function paused(): Failure {
  const message =
    `a chunked body may not pause for ${CHUNK_PAUSE_MS} ms and has no chunk extensions; ` +
    'or send a Content-Length';
  return invalid('body', message);
}

function overloaded(): Failure {
  const message = 'too many uploads at once: try again in a second';
  return new Failure('OVERLOADED', message, { retryAfterSeconds: 1 });
}

export class BodyReader {
  readonly #check: Check | null;

  constructor(schema: TSchema | undefined) {
    this.#check = schema === undefined ? null : checkOf(schema);
  }

  read(bytes: Buffer): Checked | Failure {
    const parsed = bytes.length === 0 ? { value: null } : parseJson(bytes, 'body');
    if (parsed instanceof Failure) return parsed;
    if (this.#check === null) return { value: undefined };
    if (parsed.value !== null) return this.#check(parsed.value, 'body');
    // No body: fine where the schema takes null or an object without any field.
    if (!(this.#check(null, 'body') instanceof Failure)) return { value: null };
    const empty = this.#check({}, 'body');
    return empty instanceof Failure ? empty : { value: undefined };
  }
}

export function parseJson(bytes: Buffer, path: string): { readonly value: unknown } | Failure {
  try {
    return { value: JSON.parse(bytes.toString('utf8')) };
  } catch (error) {
    const message = `malformed JSON: ${error instanceof Error ? error.message : 'unreadable'}`;
    return new Failure('INVALID_PARAMS', message, { details: [{ path, message }] });
  }
}

export function tooLarge(maxBytes: number, what = 'the body'): Failure {
  return new Failure('PAYLOAD_TOO_LARGE', `${what} may have at most ${maxBytes} bytes`);
}
