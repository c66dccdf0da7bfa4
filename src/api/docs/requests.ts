/** What a route takes, for the OpenAPI document: parameters, and a body of JSON or a form. */
import type { TSchema } from 'typebox';
import type { Json } from '../../engine/runtime/json.ts';
import type { FormShape, Route } from '../gateway/port.ts';
import type { Definitions, JsonObject } from './definitions.ts';
import type { RouteExample } from './examples.ts';

/** An empty body is for the handler to judge, so only a form is marked as required. */
export function requestBodyOf(
  route: Route,
  definitions: Definitions,
  recorded?: RouteExample,
): JsonObject | null {
  const { body, form } = route;
  const example = exampleOf(recorded?.request.body);
  if (form !== undefined) return formBody(form, definitions, example);
  if (body === undefined) return null;
  return { content: { 'application/json': { schema: definitions.add(body), ...example } } };
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
    properties[name] = definitions.add(schema);
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
  if (route.positioned) list.push(header('X-Min-Position', MIN_POSITION));
  if (route.etag) list.push(header('If-None-Match', 'ETag of the body that you hold.'));
  return list;
}

function descriptionOf(schema: TSchema | undefined): JsonObject {
  const about: unknown = schema === undefined ? undefined : Reflect.get(schema, 'description');
  return typeof about === 'string' ? { description: about } : {};
}

const MIN_POSITION =
  '<epoch>:<seq>: answer from this position on; waits up to 2 s, then 503 with Retry-After.';

function header(name: string, description: string): JsonObject {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}
