/**
 * Reads and checks query strings and path parameters. Polling clients repeat the same query string,
 * so the results of the most recent ones are cached.
 */
import { LRUCache } from 'lru-cache';
import type { TObject } from 'typebox';
import { type Failure, invalidField } from '../../engine/runtime/errors.ts';
import { type Check, type Checked, checkOf, isRecord } from '../gateway/input.ts';

const MALFORMED = 'has malformed percent-encoding: write % itself as %25';

const REMEMBERED = 500;
const LONGEST_REMEMBERED = 512;
const INTEGER = /^-?\d{1,15}$/;
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;
const NONE = { value: {} };

export class QueryParser {
  readonly #names: ReadonlyMap<string, RegExp | null>;
  /** Fields that may be repeated: lists. */
  readonly #repeated: ReadonlySet<string>;
  readonly #required: readonly string[];
  readonly #check: Check | null;
  readonly #remembered = new LRUCache<string, Checked | Failure>({ max: REMEMBERED });

  constructor(schema: TObject | undefined) {
    const properties = Object.entries(schema?.properties ?? {});
    this.#names = new Map(properties.map(([name, field]) => [name, numeralOf(field)]));
    const isList = ([, field]: [string, unknown]) => isRecord(field) && field.type === 'array';
    this.#repeated = new Set(properties.filter(isList).map(([name]) => name));
    this.#required = schema?.required ?? [];
    this.#check = schema === undefined ? null : checkOf(schema);
  }

  parse(raw: string): Checked | Failure {
    if (this.#check === null) return NONE;
    const known = this.#remembered.get(raw);
    if (known !== undefined) return known;
    const result = this.#parse(raw, this.#check);
    if (raw.length <= LONGEST_REMEMBERED) this.#remembered.set(raw, result);
    return result;
  }

  #parse(raw: string, check: Check): Checked | Failure {
    const fields: Record<string, string | number | string[]> = {};
    for (const pair of raw.split('&')) {
      const at = pair.indexOf('=');
      const name = decode(at < 0 ? pair : pair.slice(0, at));
      const text = decode(at < 0 ? '' : pair.slice(at + 1));
      if (name === null || text === null) return invalidField('query', MALFORMED);
      const numeral = this.#names.get(name);
      if (numeral === undefined) continue;
      const isAbsent = text === '' || (text === 'null' && !this.#required.includes(name));
      if (this.#repeated.has(name)) {
        if (isAbsent) continue;
        const list = fields[name];
        fields[name] = [...(Array.isArray(list) ? list : []), text];
        continue;
      }
      if (isAbsent) delete fields[name];
      else fields[name] = numeral?.test(text) ? Number(text) : text;
    }
    return check(fields, 'query');
  }
}

/** The pattern of a number in a field's text; null for fields that stay text. */
function numeralOf(field: unknown): RegExp | null {
  if (!isRecord(field)) return null;
  if (field.type === 'integer') return INTEGER;
  return field.type === 'number' ? NUMBER : null;
}

/** Null when the text is not percent-encoded UTF-8. */
function decode(text: string): string | null {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    // `decodeURIComponent` throws on bytes that are not UTF-8.
    return null;
  }
}

/** The `:name` segments of a path: decoded, and checked where the route says how. */
export class ParameterParser {
  readonly #names: readonly string[];
  readonly #check: Check | null;

  constructor(path: string, schema: TObject | undefined) {
    this.#names = Array.from(path.matchAll(/:([A-Za-z0-9_]+)/g), (match) => match[1] ?? '');
    this.#check = schema === undefined ? null : checkOf(schema);
  }

  /** `segment` gives the raw text of a parameter by its index. */
  parse(segment: (index: number) => string): Checked | Failure {
    if (this.#names.length === 0) return NONE;
    const params: Record<string, string> = {};
    for (const [index, name] of this.#names.entries()) {
      const value = decodeSegment(segment(index));
      if (value === null) return invalidField(`path.${name}`, MALFORMED);
      params[name] = value;
    }
    return this.#check?.(params, 'path') ?? { value: params };
  }
}

/** As `decode`, for path segments, where a plus sign is itself. */
function decodeSegment(text: string): string | null {
  return text.includes('%') ? decode(text.replaceAll('+', '%2B')) : text;
}
