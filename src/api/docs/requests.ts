/** What a route takes, for the OpenAPI document: parameters, and a body of JSON or a form. */
import Type, { type TSchema } from 'typebox';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import { POSITION_PATTERN } from '../../engine/runtime/position.ts';
import { checkOf, isRecord } from '../gateway/input.ts';
import type { FormShape, Route } from '../gateway/port.ts';
import type { Definitions, JsonObject } from './definitions.ts';
import type { RouteExample } from './examples.ts';

export function requestBodyOf(
  route: Route,
  definitions: Definitions,
  recorded?: RouteExample,
): JsonObject | null {
  const { body, form } = route;
  const example = exampleOf(recorded?.request.body);
  if (form !== undefined) return formBody(form, definitions, example);
  if (body === undefined) return null;
  const schema = definitions.add(withNulls(body));
  return { required: isRequired(body), content: { 'application/json': { schema, ...example } } };
}

/** As the gateway reads an empty body: as null, or as an object without fields. */
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
export function exampleOf(recorded: Json | undefined): JsonObject {
  return recorded === undefined ? {} : { example: recorded };
}

function formBody(form: FormShape, definitions: Definitions, example: JsonObject): JsonObject {
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
  const description = `At most ${form.maxBodyBytes} bytes; JSON parts as text fields or as files.`;
  const content = { 'multipart/form-data': { schema, encoding, ...example } };
  return { description, required: true, content };
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
  if (route.etag) list.push(header('If-None-Match', 'ETag of the body that you hold.', null));
  return list;
}

function descriptionOf(schema: TSchema | undefined): JsonObject {
  const about: unknown = schema === undefined ? undefined : Reflect.get(schema, 'description');
  return typeof about === 'string' ? { description: about } : {};
}

const MIN_POSITION =
  '<epoch>:<seq>: answer from this position on; waits up to 2 s, then 503 with Retry-After.';

function header(name: string, description: string, pattern: string | null): JsonObject {
  const schema = pattern === null ? { type: 'string' } : { type: 'string', pattern };
  return { name, in: 'header', required: false, description, schema };
}
