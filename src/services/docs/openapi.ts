/** The OpenAPI document: every route of the process, from the schemas that check its requests. */
import Type, { type TSchema } from 'typebox';
import type { Route } from '../../gateway/port.ts';
import { CATALOGUE } from '../../runtime/errors.ts';
import type { Json } from '../../runtime/json.ts';
import { HEADERS, responsesOf } from './answers.ts';
import { Definitions, type JsonObject } from './definitions.ts';

export interface About {
  readonly title: string;
  readonly version: string;
}

const ErrorBody = Type.Object(
  {
    cause: Type.String({ description: 'For a machine; see the list of causes.' }),
    message: Type.String({ description: 'For a person: what happened and what to do.' }),
    details: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: 'On 400: where in the input, and what is wrong there.',
      }),
    ),
    reason: Type.Optional(
      Type.String({ description: 'Of a refused transaction, for a machine: what exactly.' }),
    ),
  },
  { $id: 'Error' },
);

const CONVENTIONS = `Unknown parameters and fields are ignored; null or "" in an optional one means
that it is absent. Every origin may call (CORS). HEAD answers as GET without a body, 404 NOT_FOUND
where there is no such route, 405 METHOD_NOT_ALLOWED with Allow where it takes another method.

Causes of errors, with status and whether the same request may succeed later:
`;

/** `routes` are all of the process, those of the documents included. */
export function openapi(about: About, routes: readonly Route[]): JsonObject {
  const definitions = new Definitions();
  definitions.add(ErrorBody);
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:([A-Za-z0-9_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, definitions) };
  }
  return {
    openapi: '3.1.0',
    info: {
      ...about,
      description: CONVENTIONS + causes(),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { schemas: definitions.all(), headers: HEADERS },
  };
}

function causes(): string {
  const rows = Object.entries(CATALOGUE).map(
    ([cause, { code, status, retry }]) => `- ${code} ${cause}: ${status}${retry ? ', retry' : ''}`,
  );
  return `${rows.join('\n')}\n`;
}

function operation(route: Route, definitions: Definitions): JsonObject {
  const { operationId, summary, description, tag } = route;
  const requestBody = requestBodyOf(route, definitions);
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    parameters: parameters(route, definitions),
    ...(requestBody === null ? {} : { requestBody }),
    responses: responsesOf(route, definitions),
  };
}

/** An empty body is for the handler to judge, so only a form is marked as required. */
function requestBodyOf({ body, form }: Route, definitions: Definitions): JsonObject | null {
  if (form !== undefined) return formBody(form, body, definitions);
  if (body === undefined) return null;
  return { content: { 'application/json': { schema: definitions.add(body) } } };
}

/** The JSON parts are the properties of the body's schema; the files stand beside them. */
function formBody(
  form: FormShape,
  body: TSchema | undefined,
  definitions: Definitions,
): JsonObject {
  const files = Object.entries(form.files);
  const fields: readonly [string, TSchema][] = Object.entries(propertiesOf(body));
  const parts: [string, Json][] = fields.map(([name, schema]) => [name, definitions.add(schema)]);
  const required = [
    ...files.filter(([, file]) => file.required).map(([name]) => name),
    ...fields.map(([name]) => name).filter((name) => requiredOf(body).includes(name)),
  ];
  const encodings: [string, Json][] = [
    ...files.map(([name, file]): [string, Json] => [
      name,
      { contentType: file.mediaTypes.join(', ') },
    ]),
    ...fields.map(([name]): [string, Json] => [name, { contentType: 'application/json' }]),
  ];
  const schema = {
    type: 'object',
    properties: {
      ...Object.fromEntries(files.map(([name, { description }]) => [name, { description }])),
      ...Object.fromEntries(parts),
    },
    required,
  };
  const about = `At most ${form.maxBodyBytes} bytes. JSON parts may come as text or as a file.`;
  const content = { 'multipart/form-data': { schema, encoding: Object.fromEntries(encodings) } };
  return { description: about, required: true, content };
}

function parameters(route: Route, definitions: Definitions): Json[] {
  const list: Json[] = Array.from(route.path.matchAll(/:([A-Za-z0-9_]+)/g), ([, name = '']) => {
    const schema: TSchema | undefined = route.params?.properties[name];
    return {
      name,
      in: 'path',
      required: true,
      ...descriptionOf(schema),
      schema: schema === undefined ? { type: 'string' } : definitions.add(schema),
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
