/**
 * The server's own documents, held against its answers: every status is documented, every body and
 * every frame has the documented type, and no field is there that its schema does not name.
 */
import { deepStrictEqual } from 'node:assert';
import assert from 'node:assert/strict';
import { Compile } from 'typebox/schema';
import { parse } from 'yaml';

type Json = Readonly<Record<string, unknown>>;
type Validator = ReturnType<typeof Compile>;

const METHODS = ['get', 'post'];
const INSIDE_ALL_OF = 'allOf';

/** The object at a path of keys; empty where there is none. */
function at(root: unknown, ...keys: readonly string[]): Json {
  let found: unknown = root;
  for (const key of keys) found = isObject(found) ? found[key] : undefined;
  return isObject(found) ? found : {};
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Objects with named fields have no others; ids are left out, so that references stay local. */
function closed(schema: unknown, parent = ''): unknown {
  if (Array.isArray(schema)) return schema.map((each) => closed(each, parent));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).filter(([key, value]) => {
    return key !== '$id' || typeof value !== 'string';
  });
  const inner = Object.fromEntries(entries.map(([key, value]) => [key, closed(value, key)]));
  const isOpen = inner.additionalProperties !== undefined || parent === INSIDE_ALL_OF;
  if (!isObject(inner.properties) || inner.type !== 'object' || isOpen) return inner;
  return { ...inner, additionalProperties: false };
}

function compiled(schema: unknown, { components }: Json): Validator {
  return Compile(at({ root: closed({ ...at({ schema }, 'schema'), components }) }, 'root'));
}

export class Documents {
  /** `GET /path` of every route. */
  readonly routes: readonly string[];
  readonly #openapi: Json;
  readonly #asyncapi: Json;
  readonly #validators = new Map<string, Validator>();

  private constructor(openapi: Json, asyncapi: Json) {
    this.#openapi = openapi;
    this.#asyncapi = asyncapi;
    this.routes = Object.entries(at(openapi, 'paths')).flatMap(([path, item]) =>
      METHODS.filter((method) => isObject(at(item)[method])).map(
        (method) => `${method.toUpperCase()} ${path}`,
      ),
    );
  }

  /** Servers of one process serve the same documents, whose checks are made once. */
  static async read(url: string): Promise<Documents> {
    const read = async (name: string) => {
      const answer = await fetch(`${url}/v1/docs/${name}`);
      assert.equal(answer.status, 200, name);
      return answer.text();
    };
    const texts = [await read('openapi'), await read('asyncapi')] as const;
    const key = texts.join();
    const known = KNOWN.get(key);
    if (known !== undefined) return known;
    const [openapi = {}, asyncapi = {}] = texts.map((text) => at({ it: parse(text) }, 'it'));
    const documents = new Documents(openapi, asyncapi);
    KNOWN.set(key, documents);
    return documents;
  }

  /** `GET /path` of a request, as the document names it; null where it names none. */
  routeOf(method: string, path: string): string | null {
    const segments = path.split('/');
    const found = this.routes.find((route) => {
      const [own, pattern = ''] = route.split(' ');
      const names = pattern.split('/');
      const fits = names.every((name, index) => name.startsWith('{') || name === segments[index]);
      return own === method && names.length === segments.length && fits;
    });
    return found ?? null;
  }

  get topics(): string[] {
    return Object.keys(at(this.#asyncapi, 'channels')).filter((name) => name !== 'socket');
  }

  /** Checks an answer of `GET /path`, with `{name}` in place of a parameter. */
  answer(route: string, status: number, body: unknown): void {
    const [method = '', path = ''] = route.split(' ');
    const responses = at(this.#openapi, 'paths', path, method.toLowerCase(), 'responses');
    const said = responses[String(status)];
    assert(isObject(said), `${route}: status ${status} is not documented`);
    const { schema } = at(said, 'content', 'application/json');
    assert(schema !== undefined, `${route} ${status}: the body has no schema`);
    this.#check(`${route} ${status}`, schema, this.#openapi, body);
  }

  /** A whole frame of a topic, its envelope included. */
  frame(topic: string, event: string, frame: unknown): void {
    const { payload } = at(this.#asyncapi, 'channels', topic, 'messages', event);
    assert(payload !== undefined, `${topic}: ${event} is not documented`);
    this.#check(`${topic} ${event}`, payload, this.#asyncapi, frame);
  }

  #check(name: string, schema: unknown, document: Json, value: unknown): void {
    const validator = this.#validators.get(name) ?? compiled(schema, document);
    this.#validators.set(name, validator);
    if (validator.Check(value)) return;
    const [, errors] = validator.Errors(value);
    const told = errors.map(({ instancePath, message }) => `${instancePath} ${message}`);
    deepStrictEqual(told.slice(0, 5), [], `${name}: the answer is not of its documented type`);
  }
}

const KNOWN = new Map<string, Documents>();
