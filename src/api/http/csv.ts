/**
 * Answers of rows as CSV (RFC 4180): the same rows as in JSON, written from the JSON answer, so the
 * two cannot differ. A column is a field of the row's schema, in the order of the document; a field
 * inside another is `outer.inner`; null is empty.
 */
import { isRecord } from '../gateway/input.ts';
import type { Answer, CsvShape } from '../gateway/port.ts';
import { qualityOf } from './accept.ts';

export class CsvWriter {
  readonly #shape: CsvShape;
  readonly #columns: readonly (readonly string[])[];
  /** By the JSON body: handlers return the same one again while nothing has changed. */
  readonly #written = new WeakMap<Uint8Array, Buffer>();

  constructor(shape: CsvShape) {
    this.#shape = shape;
    this.#columns = columnsOf(shape.row);
  }

  answer({ body, headers, tag, ...more }: Answer): Answer {
    const disposition = `attachment; filename="${this.#shape.file}.csv"`;
    return {
      ...more,
      ...(tag === undefined ? {} : { tag: `${tag}-csv` }),
      body: this.#text(body),
      type: 'text/csv; charset=utf-8; header=present',
      headers: { ...headers, 'Content-Disposition': disposition },
    };
  }

  #text(body: string | Uint8Array): Buffer {
    if (typeof body === 'string') return this.#write(body);
    const known = this.#written.get(body);
    if (known !== undefined) return known;
    const text = this.#write(Buffer.from(body).toString());
    this.#written.set(body, text);
    return text;
  }

  #write(json: string): Buffer {
    const head = this.#columns.map((path) => path.join('.')).join(',');
    const lines = this.#shape
      .rows(JSON.parse(json))
      .map((row) => this.#columns.map((path) => cellOf(path.reduce(fieldOf, row))).join(','));
    return Buffer.from([head, ...lines, ''].join('\r\n'));
  }
}

function columnsOf(schema: unknown): string[][] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [[]];
  return Object.entries(schema.properties).flatMap(([name, field]) =>
    columnsOf(field).map((path) => [name, ...path]),
  );
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : null;
}

function cellOf(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** `format` of the query decides; else what Accept prefers. */
export function wantsCsv(accept: string, query: unknown): boolean {
  const format = isRecord(query) ? query.format : undefined;
  if (format !== undefined) return format === 'csv';
  if (!accept.toLowerCase().includes('text/')) return false;
  return qualityOf(accept, 'text', 'csv') > qualityOf(accept, 'application', 'json');
}
