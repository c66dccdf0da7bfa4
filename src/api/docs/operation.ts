/**
 * An operation of the OpenAPI document: parameters, request body, and responses (the route's
 * answers, and the errors that its flags and input imply).
 */

import Type, { type TSchema } from 'typebox';
import { assert } from '../../engine/runtime/assert.ts';
import { CATALOGUE, type Cause, Failure } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import { POSITION_PATTERN } from '../../engine/runtime/position.ts';
import { bodyLimitsOf } from '../gateway/bodyLimits.ts';
import { checkOf, isRecord } from '../gateway/input.ts';
import type { AnswerShape, CsvShape, FormShape, Route } from '../gateway/port.ts';
import { PROBLEM_TYPE } from '../http/accept.ts';
import { CsvWriter } from '../http/csv.ts';
import type { Definitions, JsonObject } from './definitions.ts';
import type { Examples, RouteExample } from './examples.ts';

/** Headers that the gateway adds, under `components.headers`. */
export const HEADERS: JsonObject = {
  'X-Position': text('<epoch>:<seq>: the answer is complete at least up to it (WebSocket: since).'),
  'X-Slot': integer('Slot of that position; absent without a chain.'),
  'X-Block-Hash': text('Block of that position; absent without a chain.'),
  'Idempotency-Replayed': text('`true`: the answer was made for an earlier request.'),
  ETag: text('Send it back as If-None-Match; 304 when nothing changed.'),
  'Retry-After': integer('Seconds after which another try may succeed.'),
  'RateLimit-Policy': text(
    '`"<name>";q=<quota>;w=<seconds>`: the limit that the request counts for.',
  ),
  RateLimit: text('`"<name>";r=<left>;t=<seconds until one more>`: what is left of it.'),
  'RateLimit-Limit': integer('Requests that fit into the bucket of your address or API key.'),
  'RateLimit-Remaining': integer('Requests left in it.'),
  'RateLimit-Reset': integer('Seconds until it is full again.'),
};

const RATE_LIMIT = [
  'RateLimit-Policy',
  'RateLimit',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];
const POSITION = ['X-Position', 'X-Slot', 'X-Block-Hash'];

function text(description: string): JsonObject {
  return { description, schema: { type: 'string' } };
}

function integer(description: string): JsonObject {
  return { description, schema: { type: 'integer' } };
}

export function responsesOf(
  route: Route,
  definitions: Definitions,
  { routes, errors }: Examples,
): JsonObject {
  const recorded = routes[`${route.method} ${route.path}`];
  const responses: Record<string, JsonObject> = {};
  for (const [status, causes] of causesByStatus(route)) {
    responses[status] = errorResponse(route, status, causes, errors);
  }
  if (route.etag) {
    const description = 'Not modified: If-None-Match names the current body.';
    responses['304'] = { description, headers: headersOf(route, 304) };
  }
  for (const [status, answer] of Object.entries(route.answers)) {
    const example = recorded?.status === Number(status) ? exampleOf(recorded.body) : {};
    responses[status] = ownResponse(route, Number(status), answer, definitions, example);
  }
  return responses;
}

function ownResponse(
  route: Route,
  status: number,
  answer: AnswerShape,
  definitions: Definitions,
  example: JsonObject,
): JsonObject {
  const type = answer.type ?? 'application/json';
  const schema = answer.schema === undefined ? { type: 'string' } : definitions.add(answer.schema);
  const own = Object.entries(answer.headers ?? {}).map(([name, about]) => [name, text(about)]);
  return {
    description: answer.description,
    headers: { ...headersOf(route, status), ...Object.fromEntries(own) },
    content: {
      [type]: { schema, ...example },
      ...(route.csv !== undefined && status === 200
        ? { 'text/csv': csvOf(route.csv, example) }
        : {}),
    },
  };
}

/** The example is the JSON example, written as the gateway writes it. */
function csvOf(shape: CsvShape, { example }: JsonObject): JsonObject {
  const schema = { type: 'string', description: CSV };
  if (example === undefined) return { schema };
  const { body } = new CsvWriter(shape).answer({ body: JSON.stringify(example) });
  return { schema, example: String(body) };
}

const CSV =
  'RFC 4180: a header row, then the same rows. Columns are the fields of a row in the order of ' +
  'the JSON schema, `outer.inner` for a field inside another; null is empty. Of pages of orders, ' +
  'those on the chain.';

function errorResponse(
  route: Route,
  status: number,
  causes: readonly Cause[],
  errors: Examples['errors'],
): JsonObject {
  const schemaOf = (body: string) => ({
    allOf: [
      { $ref: `#/components/schemas/${body}` },
      { type: 'object', properties: { cause: { enum: causes } } },
    ],
  });
  const recorded = causes.flatMap((cause) => {
    const value = errors[cause];
    return value === undefined ? [] : [[cause, { value }] as const];
  });
  const examples = recorded.length === 0 ? {} : { examples: Object.fromEntries(recorded) };
  return {
    description: causes.join(', ') + notFaults(status, causes),
    headers: headersOf(route, status),
    content: {
      'application/json': { schema: schemaOf('Error'), ...examples },
      [PROBLEM_TYPE]: { schema: schemaOf('Problem') },
    },
  };
}

/** Which causes are 500 only because the contract that we keep says so. */
function notFaults(status: number, causes: readonly Cause[]): string {
  const named = causes.filter((cause) => !CATALOGUE[cause].retry);
  if (status !== 500 || named.length === 0) return '';
  return (
    `. No fault of the server, and 500 because the original contract says so: ` +
    `${named.join(', ')}; the body has \`retry: false\``
  );
}

function headersOf(route: Route, status: number): JsonObject {
  const names = [...RATE_LIMIT];
  if (route.positioned && status < 400) names.push(...POSITION);
  if (route.etag && status < 400) names.push('ETag');
  if (route.idempotency !== undefined && status === 200) names.push('Idempotency-Replayed');
  if (status === 429 || status === 503) names.push('Retry-After');
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function causesByStatus(route: Route): Map<number, Cause[]> {
  const byStatus = new Map<number, Cause[]>();
  const add = (cause: Cause, status: number) => {
    const causes = byStatus.get(status) ?? [];
    if (!causes.includes(cause)) byStatus.set(status, [...causes, cause]);
  };
  for (const cause of impliedCauses(route)) add(cause, CATALOGUE[cause].status);
  for (const own of route.causes ?? []) {
    const cause = typeof own === 'string' ? own : own.cause;
    assert(isCause(cause), `${route.operationId} answers causes of the catalogue, not ${cause}`);
    add(cause, typeof own === 'string' ? CATALOGUE[cause].status : own.status);
  }
  return byStatus;
}

function impliedCauses(route: Route): Cause[] {
  const causes: Cause[] = ['SERVER_ERROR', 'UNKNOWN_KEY'];
  if (route.needsKey === true) causes.push('KEY_REQUIRED');
  const takesInput = route.query !== undefined || route.path.includes(':') || route.positioned;
  if (takesInput || route.method === 'POST') causes.push('INVALID_PARAMS');
  if (route.method === 'POST') {
    causes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'OVERLOADED');
  }
  if (route.localOnly === true) causes.push('FORBIDDEN');
  if (route.idempotency !== undefined) causes.push('IDEMPOTENCY_CONFLICT');
  if (route.rate !== 'free' && route.stream === undefined) causes.push('RATE_LIMITED');
  if (route.needsSync || route.positioned) causes.push('NOT_READY');
  return causes;
}

function isCause(cause: string): cause is Cause {
  return Object.hasOwn(CATALOGUE, cause);
}

export function requestBodyOf(
  route: Route,
  definitions: Definitions,
  recorded?: RouteExample,
): JsonObject | null {
  const { body, form } = route;
  const example = exampleOf(recorded?.request.body);
  if (form !== undefined) return formBody(route, form, definitions, example);
  if (body === undefined) return null;
  const schema = definitions.add(withNulls(body));
  const { bytes, values } = bodyLimitsOf(body, route);
  return {
    description: `At most ${bytes} bytes and ${values} values (items and fields together).`,
    required: isRequired(body),
    content: { 'application/json': { schema, ...example } },
    'x-max-bytes': bytes,
    'x-max-values': values,
  };
}

/** The gateway reads an empty body as null or as an object without fields. */
function isRequired(body: TSchema): boolean {
  const check = checkOf(body);
  return [null, {}].every((empty) => check(empty, 'body') instanceof Failure);
}

/** The gateway takes null in an optional field as absent; so does the document. */
function withNulls(schema: TSchema): TSchema {
  const shape: unknown = schema;
  if (!isRecord(shape) || !isRecord(shape.properties)) return schema;
  const required: readonly unknown[] = Array.isArray(shape.required) ? shape.required : [];
  const fields = Object.entries(shape.properties).map(([name, field]) => {
    // trust: the properties of a schema are schemas
    const inner = withNulls(field as TSchema);
    const takesNull = required.includes(name) || !(checkOf(inner)(null, name) instanceof Failure);
    return [name, takesNull ? inner : Type.Union([inner, Type.Null()])];
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

/** `example` where something was recorded. */
function exampleOf(recorded: Json | undefined): JsonObject {
  return recorded === undefined ? {} : { example: recorded };
}

function formBody(
  route: Route,
  form: FormShape,
  definitions: Definitions,
  example: JsonObject,
): JsonObject {
  const properties: Record<string, Json> = {};
  const encoding: Record<string, Json> = {};
  const required: string[] = [];
  for (const [name, { description, required: isRequired, mediaTypes }] of Object.entries(
    form.files,
  )) {
    properties[name] = { type: 'string', format: 'binary', description };
    encoding[name] = { contentType: mediaTypes.join(', ') };
    if (isRequired) required.push(name);
  }
  for (const [name, schema] of Object.entries(form.fields.properties)) {
    properties[name] = definitions.add(withNulls(schema));
    encoding[name] = { contentType: 'application/json' };
  }
  required.push(...(form.fields.required ?? []));
  const schema = { type: 'object', properties, required };
  const { bytes, values } = bodyLimitsOf(form.fields, route);
  const description =
    `At most ${form.maxBodyBytes} bytes; JSON parts as text fields or as files, each of at most ` +
    `${bytes} bytes and ${values} values (items and fields together).`;
  const content = { 'multipart/form-data': { schema, encoding, ...example } };
  return { description, required: true, content, 'x-max-bytes': form.maxBodyBytes };
}

export function parametersOf(
  route: Route,
  definitions: Definitions,
  recorded?: RouteExample,
): Json[] {
  const list: Json[] = Array.from(route.path.matchAll(/:([A-Za-z0-9_]+)/g), ([, name = '']) => {
    const schema: TSchema | undefined = route.params?.properties[name];
    return {
      name,
      in: 'path',
      required: true,
      ...descriptionOf(schema),
      schema: schema === undefined ? { type: 'string' } : definitions.add(schema),
      ...exampleOf(recorded?.request.params?.[name]),
    };
  });
  const required: readonly string[] = route.query?.required ?? [];
  for (const [name, schema] of Object.entries(route.query?.properties ?? {})) {
    list.push({
      name,
      in: 'query',
      required: required.includes(name),
      ...descriptionOf(schema),
      schema: definitions.add(schema),
      ...exampleOf(recorded?.request.query?.[name]),
    });
  }
  if (route.positioned) list.push(header('X-Min-Position', MIN_POSITION, POSITION_PATTERN));
  if (route.idempotency !== undefined) {
    list.push(header('Idempotency-Key', IDEMPOTENCY, '^[!-~]{1,64}$'));
  }
  if (route.etag) list.push(header('If-None-Match', 'ETag of the body that you hold.', null));
  return list;
}

function descriptionOf(schema: TSchema | undefined): JsonObject {
  const about: unknown = schema === undefined ? undefined : Reflect.get(schema, 'description');
  return typeof about === 'string' ? { description: about } : {};
}

const MIN_POSITION =
  '<epoch>:<seq>: answer from this position on; waits up to 2 s, then 503 with Retry-After.';

const IDEMPOTENCY =
  'A text of your own for this one transaction: a repeat within ten minutes gets the same answer.';

function header(name: string, description: string, pattern: string | null): JsonObject {
  const schema = pattern === null ? { type: 'string' } : { type: 'string', pattern };
  return { name, in: 'header', required: false, description, schema };
}
