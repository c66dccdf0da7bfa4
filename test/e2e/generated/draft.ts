/** A request before it is bytes, and valid ones for an operation of the document. */
import fc from 'fast-check';
import { pictureOf } from '../../../src/client/trade/picture.ts';
import { type Json, type Operation, objectOf, type Served } from './document.ts';
import type { Finds, Values } from './values.ts';

export interface Draft {
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  /** Names and values of the query, percent-encoded. */
  readonly pairs: readonly (readonly [string, string])[];
  readonly headers: readonly (readonly [string, string])[];
  /** JSON, or the fields of a form; undefined: no body. */
  readonly body: unknown;
  /** Sent in place of `body`. */
  readonly bytes: Buffer | null;
  readonly isForm: boolean;
}

/** The request's bytes, and the fields that a reader of a failure needs. */
export interface Ask {
  readonly kind: 'valid' | 'mutated' | 'hostile';
  readonly method: string;
  readonly path: string;
  readonly bytes: Buffer;
  /** Not one whole request of HTTP/1.1: the answer may come from the HTTP library. */
  readonly isBare: boolean;
}

const BOUNDARY = 'wKz4-boundary';
/** Longer heads are refused by the library, before any route is looked for. */
const LONGEST_HEAD_BYTES = 4_000;

export class Drafts {
  readonly #openapi: Served;
  readonly #values: Values;
  readonly #finds: Finds;

  constructor(openapi: Served, values: Values, finds: Finds) {
    this.#openapi = openapi;
    this.#values = values;
    this.#finds = finds;
  }

  valid(operation: Operation): fc.Arbitrary<Draft> {
    const { method, path, parameters } = operation;
    const given = parameters.filter(({ place }) => place !== 'header');
    const fields: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
      given.map(({ name, schema }) => [name, this.#values.of(schema, name)]),
    );
    const requiredKeys: string[] = given.filter(({ required }) => required).map(({ name }) => name);
    const inputs = fc.record(fields, { requiredKeys, noNullPrototype: true });
    const headers = this.#headers(operation);
    return fc.tuple(inputs, headers, this.#body(operation)).map(([input, own, body]) => {
      const chosen = objectOf(input);
      const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name) =>
        encodeURIComponent(String(chosen[name])),
      );
      const pairs = given
        .filter(({ name, place }) => place === 'query' && name in chosen)
        .map(({ name }) => [name, encodeURIComponent(wellFormed(chosen[name]))] as const);
      const isForm = operation.body?.type === 'multipart/form-data';
      return { method, path: filled, pairs, headers: own, body, bytes: null, isForm };
    });
  }

  #headers({ parameters }: Operation): fc.Arbitrary<Draft['headers']> {
    const names = parameters.filter(({ place }) => place === 'header').map(({ name }) => name);
    const pairs: (readonly [string, string])[] = [['Accept-Encoding', 'gzip']];
    if (names.includes('If-None-Match')) {
      pairs.push(['If-None-Match', '*'], ['If-None-Match', 'W/"abc", "def"']);
    }
    if (names.includes('X-Min-Position')) pairs.push(['X-Min-Position', '0-a:0']);
    return fc.oneof(
      { weight: 3, arbitrary: fc.constant<Draft['headers']>([]) },
      { weight: 1, arbitrary: fc.subarray(pairs, { maxLength: 1 }) },
    );
  }

  #body({ body, route }: Operation): fc.Arbitrary<unknown> {
    if (body === null) return fc.constant(undefined);
    const made = this.#values
      .of(body.schema, '')
      .map((value) => formOf(this.#openapi, body, value));
    const known = [...(this.#finds.bodies[route] ?? [])];
    if (known.length === 0) return made;
    return fc.oneof({ weight: 2, arbitrary: made }, fc.constantFrom(...known));
  }
}

/** The JSON part of a form. */
function formOf(openapi: Served, body: Json, value: unknown): unknown {
  if (body.type !== 'multipart/form-data') return value;
  const { properties } = openapi.resolved(objectOf(body.schema));
  const json = Object.keys(objectOf(properties)).find((name) => name !== 'image');
  return objectOf(value)[json ?? ''];
}

/** Lone surrogates cannot be percent-encoded. */
function wellFormed(value: unknown): string {
  return String(value).toWellFormed();
}

export function contentOf({ body, bytes, isForm }: Draft): Buffer | null {
  if (bytes !== null) return bytes;
  if (body === undefined) return null;
  const text = JSON.stringify(body);
  if (!isForm) return Buffer.from(text);
  return formBytes([
    { head: 'name="info"', bytes: Buffer.from(text) },
    {
      head: 'name="image"; filename="a.png"\r\nContent-Type: image/png',
      bytes: Buffer.from(pictureOf('generated')),
    },
  ]);
}

export function formBytes(parts: readonly { head: string; bytes: Buffer }[]): Buffer {
  const chunks = parts.flatMap(({ head, bytes }) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** As bytes of HTTP/1.1; a header that the draft names stands in place of ours. */
export function askOf(kind: Ask['kind'], draft: Draft): Ask {
  const { method, path, pairs, headers, isForm } = draft;
  const content = contentOf(draft);
  const names = headers.map(([name]) => name.toLowerCase());
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  if (content !== null) {
    const type = isForm ? `multipart/form-data; boundary=${BOUNDARY}` : 'application/json';
    if (!names.includes('content-type')) lines.push(`Content-Type: ${type}`);
    if (!names.includes('transfer-encoding')) lines.push(`Content-Length: ${content.length}`);
  } else if (method === 'POST' && !names.includes('transfer-encoding')) {
    lines.push('Content-Length: 0');
  }
  const query = pairs.map(([name, value]) => `${name}=${value}`).join('&');
  const target = pairs.length === 0 ? path : `${path}?${query}`;
  const head = Buffer.from(
    [`${method} ${target} HTTP/1.1`, 'Host: localhost', ...lines, '', ''].join('\r\n'),
  );
  const isChunked = names.includes('transfer-encoding');
  const sent = isChunked ? chunked(content ?? Buffer.alloc(0)) : [content ?? Buffer.alloc(0)];
  const isBare = head.length > LONGEST_HEAD_BYTES;
  return { kind, method, path, bytes: Buffer.concat([head, ...sent]), isBare };
}

function chunked(content: Buffer): Buffer[] {
  const half = content.length >> 1;
  const chunks = [content.subarray(0, half), content.subarray(half)].filter(({ length }) => length);
  const framed = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return [...framed, Buffer.from('0\r\n\r\n')];
}
