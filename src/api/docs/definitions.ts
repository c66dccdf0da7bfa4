/**
 * Copies schemas into a document as plain JSON Schema. A schema with an `$id` stands once, under
 * `components`, and is referenced elsewhere. The same schemas check requests.
 */
import type { TSchema } from 'typebox';
import { assert } from '../../engine/runtime/assert.ts';
import type { Json } from '../../engine/runtime/json.ts';

export type JsonObject = { readonly [key: string]: Json };

const HOME = '#/components/schemas/';

/** OpenAPI 3.1 takes JSON Schema 2020-12; AsyncAPI 3 takes draft 7, as the schemas are written. */
type Dialect = '2020-12' | 'draft-07';

export class Definitions {
  readonly #schemas = new Map<string, Json>();
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** `schema` itself, or a reference to it where it has an `$id`. */
  add(schema: TSchema): Json {
    return this.#copy(schema);
  }

  /** Everything that was referred to, by `$id`. */
  all(): JsonObject {
    return Object.fromEntries(this.#schemas);
  }

  #copy(value: unknown): Json {
    if (Array.isArray(value)) return value.map((item) => this.#copy(item));
    if (typeof value === 'object' && value !== null) return this.#copyObject(value);
    const isScalar = ['string', 'number', 'boolean'].includes(typeof value) || value === null;
    assert(isScalar, `a schema holds JSON only, not ${typeof value}`);
    // trust: the line above leaves null, string, number and boolean
    return value as Json;
  }

  #copyObject(value: object): Json {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    const id: unknown = Reflect.get(value, '$id');
    const isNamed = typeof id === 'string';
    const own = fields.filter(([key]) => !(isNamed && key === '$id'));
    const body = this.#dialect === '2020-12' ? own.flatMap(tupleOf2020) : own;
    const copy = Object.fromEntries(
      body.map(([key, field]) => [key, key === '$ref' ? reference(field) : this.#copy(field)]),
    );
    return isNamed ? this.#define(id, copy) : copy;
  }

  #define(id: string, schema: Json): Json {
    const known = this.#schemas.get(id);
    const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(schema);
    assert(isSame, `one schema is called ${id}`);
    this.#schemas.set(id, schema);
    return { $ref: HOME + id };
  }
}

/** A list of items by place has another keyword since 2020-12. */
function tupleOf2020([key, field]: [string, unknown]): [string, unknown][] {
  if (key === 'additionalItems') return [['items', field]];
  return [[key === 'items' && Array.isArray(field) ? 'prefixItems' : key, field]];
}

function reference(target: unknown): string {
  return String(target).startsWith('#') ? String(target) : HOME + String(target);
}
