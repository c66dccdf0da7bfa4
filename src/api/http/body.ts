/**
 * Reads and checks request bodies: JSON or multipart/form-data. The media type is checked first;
 * the size of each body, and of all together, is bounded while they are received. A form is parsed
 * once it is complete: a hostile one costs at most what its bytes do (6 MiB: 0.1 s) and a bounded
 * number of parts, and every error is a Failure, never an exception.
 */
import { isUtf8 } from 'node:buffer';
import busboy from 'busboy';
import type { TSchema } from 'typebox';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { Failure, invalid, invalidField } from '../../engine/runtime/errors.ts';
import { type BodyLimits, hasMoreValues } from '../gateway/bodyLimits.ts';
import { type Check, type Checked, checkOf } from '../gateway/input.ts';
import type { FormFile, FormShape } from '../gateway/port.ts';
import type { Exchange } from './exchange.ts';

/**
 * How long a chunked body may pause. The library takes the characters of a chunk extension for
 * digits of the chunk's size and waits for bytes that never come.
 */
const CHUNK_PAUSE_MS = 1_500;

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

/** The body that a route accepts. */
export interface AcceptedBody {
  readonly maxBytes: number;
  readonly type: RegExp;
  /** For the message. */
  readonly typeName: string;
}

export function acceptedJson(maxBytes: number): AcceptedBody {
  return { maxBytes, type: JSON_TYPE, typeName: 'application/json' };
}

/** Checks the declared size and type; null: the body may be read. */
export function refuseByHeaders(exchange: Exchange, accepted: AcceptedBody): Failure | null {
  const declared = Number(exchange.contentLength);
  if (declared > accepted.maxBytes) return tooLarge(accepted.maxBytes);
  return declared > 0 ? refuseByType(exchange, accepted) : null;
}

export function refuseByType(exchange: Exchange, { type, typeName }: AcceptedBody): Failure | null {
  const { contentType, contentEncoding } = exchange;
  if (contentEncoding !== '' && contentEncoding.toLowerCase() !== 'identity') {
    const message = `send the body without Content-Encoding; got ${contentEncoding.slice(0, 40)}`;
    return new Failure('UNSUPPORTED_MEDIA_TYPE', message);
  }
  const charset = CHARSET.exec(contentType)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    const message = `a body is UTF-8, whatever its type; got the charset ${charset.slice(0, 40)}`;
    return new Failure('UNSUPPORTED_MEDIA_TYPE', message);
  }
  if (type.test(contentType)) return null;
  const got = contentType === '' ? 'none was given' : `got ${contentType}`;
  return new Failure('UNSUPPORTED_MEDIA_TYPE', `send the body as ${typeName}; ${got}`);
}

/** A caller's large bodies must not hold up its small ones: bodies above this count separately. */
const SMALL_BYTES = 16_384;

interface Arriving {
  small: number;
  large: number;
}

/**
 * Bounds the bytes of the bodies being received: of all together, so that they fill no memory, and
 * of each caller, so that one leaves room for the others.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #maxBytesEach: number;
  readonly #ofCallers = new Map<string, Arriving>();
  #bytes = 0;

  constructor(bounds: { readonly maxArrivingBytes: number; readonly maxArrivingEach: number }) {
    this.#maxBytes = bounds.maxArrivingBytes;
    this.#maxBytesEach = bounds.maxArrivingEach;
  }

  /** The callers that are sending a body now. */
  get callers(): number {
    return this.#ofCallers.size;
  }

  /** A body grows from one length to another, or to 0: it is complete, or dropped. */
  change(caller: string, from: number, to: number): void {
    const arriving = this.#ofCallers.get(caller) ?? { small: 0, large: 0 };
    arriving.small += Math.min(to, SMALL_BYTES) - Math.min(from, SMALL_BYTES);
    arriving.large += Math.max(0, to - SMALL_BYTES) - Math.max(0, from - SMALL_BYTES);
    this.#bytes += to - from;
    if (arriving.small + arriving.large > 0) this.#ofCallers.set(caller, arriving);
    else this.#ofCallers.delete(caller);
  }

  /** Whether a body of that length of this caller, counted already, is too much. */
  isFull(caller: string, length: number): boolean {
    if (this.#bytes > this.#maxBytes) return true;
    const { small, large } = this.#ofCallers.get(caller) ?? { small: 0, large: 0 };
    return (length > SMALL_BYTES ? large : small) > this.#maxBytesEach;
  }
}

/**
 * Receives the body. `done` gets a Failure as soon as this body or all together are too large, or a
 * chunked one pauses; the rest is then dropped. It is not called when the client disconnects.
 */
export function readBody(
  { exchange, caller }: { readonly exchange: Exchange; readonly caller: { readonly key: string } },
  maxBytes: number,
  { bodyBudget, clock }: { readonly bodyBudget: BodyBudget; readonly clock: Clock },
  done: (body: Buffer | Failure) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let isDone = false;
  let pause: Timer | null = null;
  const finish = () => {
    if (!isDone) bodyBudget.change(caller.key, length, 0);
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
    bodyBudget.change(caller.key, length, length + chunk.byteLength);
    length += chunk.byteLength;
    if (length > maxBytes || bodyBudget.isFull(caller.key, length)) {
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

export class BodyParser {
  readonly #check: Check | null;
  readonly #limits: BodyLimits;

  constructor(schema: TSchema | undefined, limits: BodyLimits) {
    this.#check = schema === undefined ? null : checkOf(schema);
    this.#limits = limits;
  }

  parse(bytes: Buffer): Checked | Failure {
    const { values } = this.#limits;
    const parsed = bytes.length === 0 ? { value: null } : parseJson(bytes, 'body', values);
    if (parsed instanceof Failure) return parsed;
    if (this.#check === null) return { value: undefined };
    if (parsed.value !== null) return this.#check(parsed.value, 'body');
    // No body: fine where the schema takes null or an object without any field.
    if (!(this.#check(null, 'body') instanceof Failure)) return { value: null };
    const empty = this.#check({}, 'body');
    return empty instanceof Failure ? empty : { value: undefined };
  }
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

function parseJson(
  bytes: Buffer,
  path: string,
  maxValues: number,
): { readonly value: unknown } | Failure {
  if (!isUtf8(bytes))
    return invalidField(path, 'is not UTF-8: encode the text as UTF-8 and send again');
  if (BYTE_ORDER_MARK.equals(bytes.subarray(0, BYTE_ORDER_MARK.length))) {
    return invalidField(path, 'begins with a byte order mark (U+FEFF): send the JSON without it');
  }
  if (hasMoreValues(bytes, maxValues)) {
    const most = `at most ${maxValues} values (items and fields) together`;
    return invalid(path, `JSON of this route may hold ${most}`);
  }
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

export const FORM_TYPE = /^multipart\/form-data\s*(?:;|$)/i;

interface Form {
  readonly body: unknown;
  readonly files: readonly FormFile[];
}

interface Part {
  readonly name: string;
  /** Null for a text field. */
  readonly filename: string | null;
  readonly mediaType: string;
  readonly chunks: Uint8Array[];
}

const MAX_PARTS = 16;
/** RFC 2046: valid boundaries, quoted or not. */
const BOUNDARY = /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+,./:=?-]{1,70})(?=[\s;]|$))/gi;

export class FormParser {
  readonly #shape: FormShape;
  readonly #fields: readonly string[];
  readonly #check: Check;
  readonly #limits: BodyLimits;

  /** `limits` hold for each part of JSON. */
  constructor(shape: FormShape, limits: BodyLimits) {
    this.#shape = shape;
    this.#fields = Object.keys(shape.fields.properties);
    this.#check = checkOf(shape.fields);
    this.#limits = limits;
  }

  async parse(contentType: string, bytes: Buffer): Promise<Form | Failure> {
    if (bytes.length === 0) return invalid('body', 'send a form (multipart/form-data)');
    const parts = await partsOf(contentType, bytes, this.#limits.bytes);
    if (parts instanceof Failure) return parts;
    const named = new Map<string, Part>();
    for (const part of parts) {
      const known = this.#fields.includes(part.name) || Object.hasOwn(this.#shape.files, part.name);
      if (!known) continue;
      if (named.has(part.name)) return invalidField(`body.${part.name}`, 'may be given once only');
      named.set(part.name, part);
    }
    const files = this.#files(named);
    if (files instanceof Failure) return files;
    const fields = this.#json(named);
    if (fields instanceof Failure) return fields;
    const body = this.#check(fields, 'body');
    return body instanceof Failure ? body : { body: body.value, files };
  }

  #files(named: ReadonlyMap<string, Part>): FormFile[] | Failure {
    const files: FormFile[] = [];
    for (const [name, { required }] of Object.entries(this.#shape.files)) {
      const part = named.get(name);
      if (part === undefined) {
        if (required) return invalidField(`body.${name}`, 'is required');
      } else if (part.filename === null) {
        return invalidField(`body.${name}`, 'must be sent as a file: with a file name');
      } else {
        const { filename, mediaType } = part;
        files.push({ name, filename, mediaType, bytes: Buffer.concat(part.chunks) });
      }
    }
    return files;
  }

  #json(named: ReadonlyMap<string, Part>): Record<string, unknown> | Failure {
    const fields: [string, unknown][] = [];
    for (const name of this.#fields) {
      const part = named.get(name);
      if (part === undefined) continue;
      const bytes = Buffer.concat(part.chunks);
      const { bytes: most, values } = this.#limits;
      if (bytes.length > most) return tooLarge(most, name);
      const parsed = bytes.length === 0 ? { value: '' } : parseJson(bytes, `body.${name}`, values);
      if (parsed instanceof Failure) return parsed;
      fields.push([name, parsed.value]);
    }
    return Object.fromEntries(fields);
  }
}

function partsOf(
  contentType: string,
  bytes: Buffer,
  maxFieldBytes: number,
): Promise<Part[] | Failure> {
  return new Promise((resolve) => {
    const parts: Part[] = [];
    const refuse = (what: string) => resolve(invalid('body', `malformed form: ${what}`));
    const boundary = boundaryOf(contentType);
    if (boundary === null) {
      refuse('its Content-Type must name one boundary of 1 to 70 characters');
      return;
    }
    const end = endOf(bytes, boundary);
    if (end < 0) {
      refuse('it ends before its closing boundary');
      return;
    }
    const parser = busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      defParamCharset: 'utf8',
      // One more each: busboy treats what reaches a limit as above it.
      limits: { parts: MAX_PARTS + 1, fieldSize: maxFieldBytes + 1 },
    });
    parser.on('file', (name: string | undefined, stream, { filename = '', mimeType }) => {
      const chunks: Uint8Array[] = [];
      // Errors come to the parser as well; unheard here, they would end the process.
      stream.on('error', () => {});
      stream.on('data', (chunk: Uint8Array) => chunks.push(chunk));
      parts.push({ name: name ?? '', filename, mediaType: mimeType.toLowerCase(), chunks });
    });
    parser.on('field', (name: string | undefined, text: string | undefined, { mimeType }) => {
      // `text` is undefined, against its type, for a charset that busboy cannot decode. If busboy
      // put U+FFFD in place of bytes that are not UTF-8, the form does not contain that text.
      if (text === undefined || (text.includes('\ufffd') && !bytes.includes(text))) {
        refuse(`the part "${name ?? ''}" must be text in UTF-8`);
        return;
      }
      const mediaType = mimeType.toLowerCase();
      parts.push({ name: name ?? '', filename: null, mediaType, chunks: [Buffer.from(text)] });
    });
    parser.on('partsLimit', () => refuse(`it may have at most ${MAX_PARTS} parts`));
    parser.on('error', (error) => refuse(error instanceof Error ? error.message : 'unreadable'));
    parser.on('close', () => resolve(parts));
    parser.end(bytes.subarray(0, end));
  });
}

function boundaryOf(contentType: string): string | null {
  const [first, ...more] = contentType.matchAll(BOUNDARY);
  return first === undefined || more.length > 0 ? null : (first[1] ?? first[2] ?? null);
}

/**
 * Where the closing boundary ends, -1 where there is none. The parser is not shown what follows:
 * busboy 1.6.0 never finishes when a file begins there.
 */
function endOf(bytes: Buffer, boundary: string): number {
  const closing = `--${boundary}--`;
  if (bytes.subarray(0, closing.length).equals(Buffer.from(closing))) return closing.length;
  const at = bytes.indexOf(`\r\n${closing}`);
  return at < 0 ? -1 : at + 2 + closing.length;
}
