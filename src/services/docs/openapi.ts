/** The OpenAPI document: every route of the process, from the schemas that check its requests. */
import Type from 'typebox';
import type { Route } from '../../gateway/port.ts';
import { CATALOGUE } from '../../runtime/errors.ts';
import type { Json } from '../../runtime/json.ts';
import { HEADERS, responsesOf } from './answers.ts';
import { Definitions, type JsonObject } from './definitions.ts';
import { parametersOf, requestBodyOf } from './requests.ts';

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
    parameters: parametersOf(route, definitions),
    ...(requestBody === null ? {} : { requestBody }),
    responses: responsesOf(route, definitions),
  };
}
