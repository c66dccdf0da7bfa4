/** A route asked without a port. */
import assert from 'node:assert/strict';
import { checkOf } from '../../src/api/gateway/input.ts';
import type { Answer, Route } from '../../src/api/gateway/port.ts';
import { inOneTurn } from '../../src/api/gateway/route.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';

/** As the gateway asks it: the query is checked, and absent fields get their defaults. */
export function askRoute(
  route: Route,
  query: Readonly<Record<string, string | number>> = {},
  body?: unknown,
): Answer | Failure | Promise<Answer | Failure> {
  const checked = route.query === undefined ? { value: {} } : checkOf(route.query)(query, 'query');
  assert(!(checked instanceof Failure), checked instanceof Failure ? checked.message : '');
  return inOneTurn(route.handle({ query: checked.value, params: {}, body }));
}
