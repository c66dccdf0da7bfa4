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
  const { operationId, summary, description, tag, body } = route;
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    parameters: parameters(route, definitions),
    ...(body === undefined ? {} : { requestBody: requestBody(body, definitions) }),
    responses: responsesOf(route, definitions),
  };
}

/** An empty body is for the handler to judge, so no body is marked as required. */
function requestBody(body: TSchema, definitions: Definitions): JsonObject {
  return { content: { 'application/json': { schema: definitions.add(body) } } };
}

function parameters(route: Route, definitions: Definitions): Json[] {
  const list: Json[] = Array.from(route.path.matchAll(/:([A-Za-z0-9_]+)/g), ([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const required: readonly string[] = route.query?.required ?? [];
  for (const [name, schema] of Object.entries(route.query?.properties ?? {})) {
    const about: unknown = Reflect.get(schema, 'description');
    list.push({
      name,
      in: 'query',
      required: required.includes(name),
      ...(typeof about === 'string' ? { description: about } : {}),
      schema: definitions.add(schema),
    });
  }
  if (route.positioned) list.push(header('X-Min-Position', MIN_POSITION));
  if (route.etag) list.push(header('If-None-Match', 'ETag of the body that you hold.'));
  return list;
}

const MIN_POSITION =
  '<epoch>:<seq>: answer from this position on; waits up to 2 s, then 503 with Retry-After.';

function header(name: string, description: string): JsonObject {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}
