/**
 * The tools of the MCP server, made from the OpenAPI document: one for each operation that reads
 * the market or builds a transaction, with the same names, schemas and bounds. Routes that stream,
 * need an API key, or answer anything but JSON are left out.
 */
import { Failure, invalid, invalidField } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import { isRecord } from '../gateway/input.ts';

type JsonObject = { readonly [key: string]: Json };

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown };
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean };
}

/** A tool, and the request that it makes. */
export interface RouteTool {
  readonly tool: Tool;
  readonly method: 'GET' | 'POST';
  /** With `{name}` for path parameters. */
  readonly path: string;
  readonly inPath: readonly string[];
  readonly inQuery: readonly string[];
  readonly hasBody: boolean;
  /** Its body is a form with one picture, which arrives as base64. */
  readonly isForm: boolean;
}

export interface ToolRequest {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly target: string;
  /** JSON or a form; null: none. */
  readonly body: { readonly type: string; readonly bytes: Uint8Array } | null;
}

const TAGS = new Set([
  ...['Charts', 'Pools', 'Tickers', 'Orders', 'Trades', 'Holders', 'Builder', 'Vesting'],
  ...['UTxO monitor', 'Operations'],
]);
/** They send transactions that were signed elsewhere; all others change nothing. */
const SENDING = new Set(['submit', 'signAndSubmit']);
const REFS = '#/components/schemas/';

export function routeTools(openapi: Json): RouteTool[] {
  const paths = recordAt(openapi, 'paths');
  const schemas = recordAt(recordAt(openapi, 'components'), 'schemas');
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(recordOf(methods)).flatMap(([method, operation]) => {
      if (method !== 'get' && method !== 'post') return [];
      const made = toolOf(method === 'get' ? 'GET' : 'POST', path, recordOf(operation), schemas);
      return made === null ? [] : [made];
    }),
  );
}

function toolOf(
  method: 'GET' | 'POST',
  path: string,
  operation: JsonObject,
  schemas: JsonObject,
): RouteTool | null {
  const name = String(operation.operationId);
  const answer = recordAt(recordAt(recordAt(operation, 'responses'), '200'), 'content');
  const [tag = ''] = listAt(operation, 'tags').map(String);
  const isOpen = TAGS.has(tag) && operation.security === undefined;
  if (!isOpen || !Object.hasOwn(answer, 'application/json')) return null;
  const fields = listAt(operation, 'parameters').map(recordOf);
  const of = (place: string) => fields.filter((each) => each.in === place);
  const [inPath, inQuery] = [of('path'), of('query')];
  const content = recordAt(recordAt(operation, 'requestBody'), 'content');
  const json = recordOf(content['application/json']).schema;
  const form = recordOf(content['multipart/form-data']).schema;
  const body = json ?? (form === undefined ? undefined : withoutFiles(recordOf(form)));
  const needsBody = recordAt(operation, 'requestBody').required === true;
  const taken = [...inPath, ...inQuery].map((each) => [String(each.name), parameterOf(each)]);
  const required = [...inPath, ...inQuery].filter((each) => each.required === true);
  const inputSchema = selfContained(
    {
      type: 'object',
      properties: { ...Object.fromEntries(taken), ...(body === undefined ? {} : { body }) },
      required: [...required.map((each) => String(each.name)), ...(needsBody ? ['body'] : [])],
      additionalProperties: false,
    },
    schemas,
  );
  const sends = SENDING.has(name);
  return {
    tool: {
      name,
      description: `${String(operation.summary)}. ${String(operation.description ?? '')}`.trim(),
      inputSchema,
      annotations: { readOnlyHint: !sends, ...(sends ? { destructiveHint: true } : {}) },
    },
    method,
    path,
    inPath: inPath.map((each) => String(each.name)),
    inQuery: inQuery.map((each) => String(each.name)),
    hasBody: body !== undefined,
    isForm: form !== undefined,
  };
}

function parameterOf({ schema, description }: JsonObject): Json {
  return { ...recordOf(schema), ...(description === undefined ? {} : { description }) };
}

/** A form as JSON: its picture is base64. */
function withoutFiles(form: JsonObject): JsonObject {
  const fields = Object.entries(recordAt(form, 'properties')).map(([name, field]) => {
    const isFile = recordOf(field).format === 'binary';
    const text = { type: 'string', contentEncoding: 'base64', description: PICTURE };
    return [name, isFile ? text : field];
  });
  return { type: 'object', properties: Object.fromEntries(fields), required: form.required ?? [] };
}

const PICTURE = 'A PNG, JPEG or GIF as base64.';

/** The schema with every schema that it refers to under `$defs`. */
function selfContained(schema: JsonObject, schemas: JsonObject): Tool['inputSchema'] {
  const used = new Map<string, Json>();
  const copy = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(copy);
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => {
        if (key !== '$ref' || typeof field !== 'string' || !field.startsWith(REFS)) {
          // trust: a part of JSON is JSON
          return [key, copy(field as Json)];
        }
        const name = field.slice(REFS.length);
        if (!used.has(name)) {
          used.set(name, null);
          used.set(name, copy(schemas[name] ?? {}));
        }
        return [key, `#/$defs/${name}`];
      }),
    );
  };
  const own = recordOf(copy(schema));
  return {
    type: 'object',
    ...own,
    ...(used.size === 0 ? {} : { $defs: Object.fromEntries(used) }),
  };
}

/** Refuses arguments that the tool does not have: a misspelt one would be ignored otherwise. */
export async function requestOf(
  { tool, method, path, inPath, inQuery, hasBody, isForm }: RouteTool,
  given: Readonly<Record<string, unknown>>,
): Promise<ToolRequest | Failure> {
  const known = [...inPath, ...inQuery, ...(hasBody ? ['body'] : [])];
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const takes = known.length === 0 ? 'no arguments' : known.join(', ');
    return invalid(`arguments.${unknown}`, `${tool.name} has no such argument; it takes ${takes}`);
  }
  const texts = new Map<string, readonly string[]>();
  for (const name of [...inPath, ...inQuery]) {
    const value = given[name];
    if (value === undefined || value === null) continue;
    const each = textsOf(value);
    if (each === null) {
      return invalidField(`arguments.${name}`, 'must be a text, a number or a boolean');
    }
    texts.set(name, each);
  }
  const missing = inPath.find((name) => texts.get(name)?.length !== 1);
  if (missing !== undefined) return invalidField(`arguments.${missing}`, 'must be one value');
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name) =>
    encodeURIComponent(texts.get(name)?.[0] ?? ''),
  );
  const query = new URLSearchParams();
  for (const name of inQuery) {
    for (const text of texts.get(name) ?? []) query.append(name, text);
  }
  const target = query.size === 0 ? filled : `${filled}?${query}`;
  if (!hasBody || given.body === undefined) return { method, target, body: null };
  const body = isForm ? await formOf(given.body) : jsonOf(given.body);
  return body instanceof Failure ? body : { method, target, body };
}

/** A list is a parameter for each of its items, as the API takes it; null: not for a query. */
function textsOf(value: unknown): string[] | null {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  const fits = items.every((item) => ['string', 'number', 'boolean'].includes(typeof item));
  return fits ? items.map(String) : null;
}

function jsonOf(body: unknown) {
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) };
}

const MEDIA_TYPES = [
  ['image/png', [0x89, 0x50]],
  ['image/jpeg', [0xff, 0xd8]],
  ['image/gif', [0x47, 0x49]],
] as const;

async function formOf(body: unknown) {
  if (!isRecord(body)) return invalidField('arguments.body', 'must be an object');
  const { image, ...fields } = body;
  const form = new FormData();
  if (image !== undefined) {
    const bytes = typeof image === 'string' ? Buffer.from(image, 'base64') : Buffer.alloc(0);
    const found = MEDIA_TYPES.find(([, magic]) => magic.every((byte, at) => bytes[at] === byte));
    if (found === undefined) {
      return invalidField('arguments.body.image', 'must be a PNG, JPEG or GIF as base64');
    }
    form.set('image', new Blob([bytes], { type: found[0] }), 'image');
  }
  for (const [name, value] of Object.entries(fields)) {
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const whole = new Response(form);
  const bytes = Buffer.from(await whole.arrayBuffer());
  return { type: whole.headers.get('content-type') ?? '', bytes };
}

function recordOf(value: unknown): JsonObject {
  // trust: it is a part of a JSON document
  return isRecord(value) ? (value as JsonObject) : {};
}

function recordAt(value: unknown, name: string): JsonObject {
  return recordOf(recordOf(value)[name]);
}

function listAt(value: unknown, name: string): readonly Json[] {
  const found = recordOf(value)[name];
  return Array.isArray(found) ? found : [];
}
