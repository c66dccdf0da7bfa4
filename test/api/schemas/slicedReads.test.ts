/**
 * Answers that are made in slices: each is what one turn would have answered when the request came,
 * whatever blocks, forks and pending transactions arrive meanwhile.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkOf } from '../../../src/api/gateway/input.ts';
import { type Answer, type Route, SlicedAnswer } from '../../../src/api/gateway/port.ts';
import { portfolioRoutes } from '../../../src/api/holders/portfolioRoutes.ts';
import { openOrdersOf } from '../../../src/api/orders/orderLookup.ts';
import { orderFeedRoutes } from '../../../src/api/orders/routes.ts';
import { SlicedReads } from '../../../src/api/schemas/slicedReads.ts';
import { vestingQueryRoutes } from '../../../src/api/vesting/routes.ts';
import type { Fold } from '../../../src/engine/fold/fold.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { ownerOf, USERS } from '../../chain/foldState.ts';
import { anyStep, inMarket } from '../../chain/mempoolSteps.ts';
import { wholeOf } from '../../support/askRoute.ts';

const KEYS = Array.from({ length: USERS }, (_, user) => ownerOf(user));
interface Node {
  readonly fold: Fold;
}

function routesOf(node: Node): Route[] {
  const reads = new SlicedReads(node);
  return [
    ...portfolioRoutes(node, reads, (state, pkhs) => openOrdersOf(node, state, pkhs)),
    ...orderFeedRoutes(node, reads),
    ...vestingQueryRoutes(reads),
  ];
}

const HISTORY = '/v1/user-history-feed/initial/state';
const REQUESTS: readonly [path: string, query: Record<string, string | number>, body: unknown][] = [
  ['/v1/portfolio', {}, KEYS],
  ['/v1/portfolio', { offset: 1, limit: 1 }, KEYS.slice(0, 2)],
  [HISTORY, { limit: 5, offset: 2 }, KEYS],
  [HISTORY, {}, KEYS.slice(0, 1)],
  [`${HISTORY}/open`, {}, KEYS],
  ['/v1/vesting/get-by-redeemer', { redeemerVkhs: KEYS[0] ?? '' }, {}],
];

function ask(routes: readonly Route[], at: number): SlicedAnswer {
  const [path, query, body] = REQUESTS[at] ?? ['', {}, null];
  const route = routes.find((each) => each.path === path);
  assert(route !== undefined, path);
  const fields = route.query === undefined ? { value: {} } : checkOf(route.query)(query, 'query');
  assert(!(fields instanceof Failure));
  const handled = route.handle({ query: fields.value, params: {}, body });
  assert(handled instanceof SlicedAnswer);
  return handled;
}

async function whole(handled: SlicedAnswer): Promise<string> {
  return textOf(await wholeOf(handled));
}

function textOf(answer: Answer | Failure): string {
  return answer instanceof Failure ? answer.message : Buffer.from(answer.body).toString();
}

test('an answer in slices is of the moment in which it was asked for', async () => {
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 25 }), async (steps) => {
      const lives = steps.filter(({ do: what }) => what !== 'restart' && what !== 'crash');
      let asked: { at: number; expected: string; found: () => Promise<string> }[] = [];
      await inMarket({}, lives, async ({ world: { node } }) => {
        const routes = routesOf(node);
        for (const { at, expected, found } of asked) {
          assert.equal(await found(), expected, REQUESTS[at]?.[0]);
          if ((await whole(ask(routes, at))) !== expected) changed += 1;
        }
        asked = await Promise.all(
          REQUESTS.map(async (_, at) => {
            const expected = await whole(ask(routes, at));
            // Its first slice ends at its first pause.
            const rest = ask(routes, at);
            const first = rest.step(() => true);
            return { at, expected, found: async () => (first ? textOf(first) : whole(rest)) };
          }),
        );
      });
    }),
    { numRuns: Number(process.env.RUNS ?? 8) },
  );
  assert(changed > 20, `answers that were others a step later: ${changed}`);
});

test('a few are made at one time, and none of a state that was replaced', async () => {
  await inMarket({}, [], async ({ world: { node } }) => {
    const other = { fold: node.fold };
    const routes = routesOf(other);
    const begin = () => {
      const answer = ask(routes, 0);
      return { answer, first: answer.step(() => true), isHeld: answer.held?.isHeld() };
    };
    const found = Array.from({ length: 12 }, begin);
    assert.deepEqual(
      found.map(({ first, isHeld }) => [first, isHeld]),
      Array.from({ length: 12 }, (_, at) => [null, at < 8]),
    );
    // trust: only read by identity
    other.fold = Object.create(node.fold) as Fold;
    const replaced = found[0]?.answer.step(() => false);
    assert(replaced instanceof Failure);
    assert.deepEqual([replaced.cause, replaced.retryAfterSeconds], ['NOT_READY', 1]);
    other.fold = node.fold;
    assert(found[9]?.answer.step(() => false) !== null, 'there is room for one');
    for (const { answer } of found) answer.held?.release();
    const answers = Array.from({ length: 8 }, begin);
    assert(
      answers.every(({ isHeld }) => isHeld),
      'those whose clients left make room',
    );
    for (const { answer } of answers) answer.held?.release();
  });
});
