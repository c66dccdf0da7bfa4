/**
 * A served document: OpenAPI as a list of operations, with what each takes and may answer; or
 * AsyncAPI, of which only the references are followed here.
 */
import assert from 'node:assert/strict';
import { parse } from 'yaml';

export type Json = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly place: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Json;
}

export interface Operation {
  readonly method: string;
  /** `{name}` stands for a parameter. */
  readonly path: string;
  /** `GET /path`. */
  readonly route: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly type: string; readonly schema: Json; readonly example: unknown } | null;
  readonly responses: Json;
  /** Only callers with an API key are answered with 200. */
  readonly needsKey: boolean;
}

export class Served {
  readonly document: Json;
  readonly operations: readonly Operation[];

  constructor(text: string) {
    this.document = objectOf(parse(text));
    this.operations = Object.entries(objectOf(this.document.paths ?? {})).flatMap(([path, item]) =>
      Object.entries(objectOf(item)).map(([method, operation]) =>
        this.#operation(method.toUpperCase(), path, objectOf(operation)),
      ),
    );
  }

  /** The schema that a `$ref` names; the schema itself if it has no `$ref`. */
  resolved(schema: Json): Json {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const keys = $ref.replace(/^#\//, '').split('/');
    const found = keys.reduce<unknown>((value, key) => objectOf(value)[key], this.document);
    return this.resolved(objectOf(found));
  }

  /** Operations with this path, of any method; the query is left out. */
  at(path: string): Operation[] {
    const [plain = ''] = path.split('?');
    const segments = plain.split('/');
    return this.operations.filter((operation) => {
      const own = operation.path.split('/');
      if (own.length !== segments.length) return false;
      return own.every((name, index) => {
        return name.startsWith('{') ? segments[index] !== '' : name === segments[index];
      });
    });
  }

  #operation(method: string, path: string, operation: Json): Operation {
    const [tag] = listOf(operation.tags);
    const content = objectOf(objectOf(operation.requestBody ?? {}).content ?? {});
    const [entry] = Object.entries(content);
    const media = entry === undefined ? null : objectOf(entry[1]);
    return {
      method,
      path,
      route: `${method} ${path}`,
      tag: String(tag),
      parameters: listOf(operation.parameters).map(parameterOf),
      body:
        entry === undefined || media === null
          ? null
          : { type: entry[0], schema: objectOf(media.schema), example: media.example },
      responses: objectOf(operation.responses),
      needsKey: operation.security !== undefined,
    };
  }
}

export function objectOf(value: unknown): Json {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  assert(isObject, `an object, not ${JSON.stringify(value)}`);
  // trust: an object, as was checked
  return value as Json;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function parameterOf(value: unknown): Parameter {
  const { name, in: place, required, schema } = objectOf(value);
  assert(place === 'path' || place === 'query' || place === 'header', `parameter in ${place}`);
  return { name: String(name), place, required: required === true, schema: objectOf(schema) };
}
