/** What a route may answer: its own answers, and the errors that its flags and input imply. */

import { assert } from '../../engine/runtime/assert.ts';
import { CATALOGUE, type Cause } from '../../engine/runtime/errors.ts';
import type { AnswerShape, Route } from '../gateway/port.ts';
import type { Definitions, JsonObject } from './definitions.ts';
import type { Examples } from './examples.ts';
import { exampleOf } from './requests.ts';

/** Headers that the gateway adds, under `components.headers`. */
export const HEADERS: JsonObject = {
  'X-Position': text('<epoch>:<seq>: the answer is complete at least up to it (WebSocket: since).'),
  'X-Slot': integer('Slot of that position; absent without a chain.'),
  'X-Block-Hash': text('Block of that position; absent without a chain.'),
  ETag: text('Send it back as If-None-Match; 304 when nothing changed.'),
  'Retry-After': integer('Seconds after which another try may succeed.'),
  'RateLimit-Limit': integer('Requests that fit into the bucket of your address.'),
  'RateLimit-Remaining': integer('Requests left in it.'),
  'RateLimit-Reset': integer('Seconds until it is full again.'),
};

const RATE_LIMIT = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
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
    content: { [type]: { schema, ...example } },
  };
}

function errorResponse(
  route: Route,
  status: number,
  causes: readonly Cause[],
  errors: Examples['errors'],
): JsonObject {
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Error' },
      { type: 'object', properties: { cause: { enum: causes } } },
    ],
  };
  const recorded = causes.flatMap((cause) => {
    const value = errors[cause];
    return value === undefined ? [] : [[cause, { value }] as const];
  });
  const examples = recorded.length === 0 ? {} : { examples: Object.fromEntries(recorded) };
  return {
    description: causes.join(', ') + notFaults(status, causes),
    headers: headersOf(route, status),
    content: { 'application/json': { schema, ...examples } },
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
  const causes: Cause[] = ['SERVER_ERROR'];
  const takesInput = route.query !== undefined || route.path.includes(':') || route.positioned;
  if (takesInput || route.method === 'POST') causes.push('INVALID_PARAMS');
  if (route.method === 'POST') {
    causes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'OVERLOADED');
  }
  if (route.localOnly === true) causes.push('FORBIDDEN');
  if (route.rate !== 'free') causes.push('RATE_LIMITED');
  if (route.needsSync || route.positioned) causes.push('NOT_READY');
  return causes;
}

function isCause(cause: string): cause is Cause {
  return Object.hasOwn(CATALOGUE, cause);
}
