/** A route asked without a port. */
import assert from 'node:assert/strict';
import { checkOf } from '../../src/api/gateway/input.ts';
import { type Answer, type Handled, type Route, SlicedAnswer } from '../../src/api/gateway/port.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';

/** As the gateway asks it: the query is checked, and absent fields get their defaults. */
export function askRoute(
  route: Route,
  query: Readonly<Record<string, string | number>> = {},
  body?: unknown,
): Answer | Failure | Promise<Answer | Failure> {
  const checked = route.query === undefined ? { value: {} } : checkOf(route.query)(query, 'query');
  assert(!(checked instanceof Failure), checked instanceof Failure ? checked.message : '');
  return wholeOf(route.handle({ query: checked.value, params: {}, body }));
}

/** Completes a sliced answer in this turn of the loop. */
export function wholeOf(
  handled: Handled | Promise<Answer | Failure>,
): Answer | Failure | Promise<Answer | Failure> {
  if (!(handled instanceof SlicedAnswer)) return handled;
  for (let steps = 0; steps < 100_000; steps += 1) {
    const answer = handled.step(() => false);
    if (answer !== null) return answer;
  }
  throw new Error('an answer does not end');
}
