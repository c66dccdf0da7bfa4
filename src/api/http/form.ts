/**
 * Reads a multipart/form-data body that was collected whole: files, and JSON in text fields or in
 * parts with a file name. Hostile forms cost at most what their bytes do (6 MiB: 0.1 s) and a
 * bounded number of parts; whatever is wrong with one is a Failure, never an exception.
 */
import busboy from 'busboy';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { type Check, checkOf } from '../gateway/input.ts';
import type { FormFile, FormShape } from '../gateway/port.ts';
import { parseJson, tooLarge } from './body.ts';

export const FORM_TYPE = /^multipart\/form-data\s*(?:;|$)/i;

export interface Form {
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
/** RFC 2046: what a boundary may be, quoted or not. */
const BOUNDARY = /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+,./:=?-]{1,70})(?=[\s;]|$))/gi;

export class FormReader {
  readonly #shape: FormShape;
  readonly #fields: readonly string[];
  readonly #check: Check;
  readonly #maxFieldBytes: number;

  /** `maxFieldBytes` bounds each part of JSON. */
  constructor(shape: FormShape, maxFieldBytes: number) {
    this.#shape = shape;
    this.#fields = Object.keys(shape.fields.properties);
    this.#check = checkOf(shape.fields);
    this.#maxFieldBytes = maxFieldBytes;
  }

  async read(contentType: string, bytes: Buffer): Promise<Form | Failure> {
    if (bytes.length === 0) return invalid('body', 'send a form (multipart/form-data)');
    const parts = await partsOf(contentType, bytes, this.#maxFieldBytes);
    if (parts instanceof Failure) return parts;
    const named = new Map<string, Part>();
    for (const part of parts) {
      const known = this.#fields.includes(part.name) || Object.hasOwn(this.#shape.files, part.name);
      if (!known) continue;
      if (named.has(part.name)) return invalid(`body.${part.name}`, 'may be given once only');
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
        if (required) return invalid(`body.${name}`, 'is required');
      } else if (part.filename === null) {
        return invalid(`body.${name}`, 'must be sent as a file: with a file name');
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
      if (bytes.length > this.#maxFieldBytes) return tooLarge(this.#maxFieldBytes, name);
      const parsed = bytes.length === 0 ? { value: '' } : parseJson(bytes, `body.${name}`);
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
      // One more each: busboy takes what reaches a limit for what is above it.
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
      // Undefined, against its types: of a charset that busboy cannot decode.
      if (text === undefined) {
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
