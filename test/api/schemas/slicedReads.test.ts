/**
 * Answers that are made in slices: each is what one turn would have answered when the request came,
 * whatever blocks, forks and pending transactions arrive meanwhile.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AGAIN, type Answer, type Route } from '../../../src/api/gateway/port.ts';
import { portfolioRoutes } from '../../../src/api/holders/portfolioRoutes.ts';
import { openOrdersOf } from '../../../src/api/orders/orderLookup.ts';
import { orderFeedRoutes } from '../../../src/api/orders/routes.ts';
import { SlicedReads } from '../../../src/api/schemas/slicedReads.ts';
import { vestingQueryRoutes } from '../../../src/api/vesting/routes.ts';
import type { Fold } from '../../../src/engine/actors/fold.ts';
import { type Clock, systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { ownerOf, USERS } from '../../chain/foldState.ts';
import { anyStep, inMarket } from '../../chain/mempoolSteps.ts';
import { askRoute } from '../../support/askRoute.ts';

const KEYS = Array.from({ length: USERS }, (_, user) => ownerOf(user));
/** No slice ends. */
const AT_ONCE: Clock = { ...systemClock, monotonicMs: () => 0 };

/** Every slice ends at its first pause. */
function shortestSlices(): Clock {
  let ms = 0;
  return {
    ...systemClock,
    monotonicMs() {
      ms += 10;
      return ms;
    },
  };
}

interface Node {
  readonly fold: Fold;
}

function routesOf(node: Node, clock: Clock): Route[] {
  const reads = new SlicedReads(node, clock);
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

function ask(routes: readonly Route[], at: number) {
  const [path, query, body] = REQUESTS[at] ?? ['', {}, null];
  const route = routes.find((each) => each.path === path);
  assert(route !== undefined, path);
  return askRoute(route, query, body);
}

function textOf(answer: Answer | Failure): string {
  return answer instanceof Failure ? answer.message : Buffer.from(answer.body).toString();
}

test('an answer in slices is of the moment in which it was asked for', async () => {
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 25 }), async (steps) => {
      const lives = steps.filter(({ do: what }) => what !== 'restart' && what !== 'crash');
      let asked: { at: number; expected: string; found: Promise<Answer | Failure> | Answer }[] = [];
      await inMarket({}, lives, async ({ world: { node } }) => {
        const now = routesOf(node, AT_ONCE);
        for (const { at, expected, found } of asked) {
          assert.equal(textOf(await found), expected, REQUESTS[at]?.[0]);
          const later = ask(now, at);
          assert(!(later instanceof Promise));
          if (textOf(later) !== expected) changed += 1;
        }
        const inSlices = routesOf(node, shortestSlices());
        asked = REQUESTS.map((_, at) => {
          const expected = ask(now, at);
          assert(!(expected instanceof Promise));
          const found = ask(inSlices, at);
          assert(!(found instanceof Failure));
          return { at, expected: textOf(expected), found };
        });
      });
    }),
    { numRuns: Number(process.env.RUNS ?? 8) },
  );
  assert(changed > 20, `answers that were others a step later: ${changed}`);
});

test('a few are made at one time, and none of a state that was replaced', async () => {
  await inMarket({}, [], async ({ world: { node } }) => {
    const other = { fold: node.fold };
    const routes = routesOf(other, shortestSlices());
    const portfolio = routes.find(({ path }) => path === '/v1/portfolio');
    assert(portfolio !== undefined);
    const request = { query: { offset: 0, limit: 10 }, params: {}, body: KEYS };
    const found = Array.from({ length: 12 }, () => portfolio.handle(request));
    assert.deepEqual(
      found.map((each) => each === AGAIN),
      Array.from({ length: 12 }, (_, at) => at >= 8),
    );
    // trust: only read by identity
    other.fold = Object.create(node.fold) as Fold;
    const [first] = await Promise.all(found.slice(0, 8));
    assert(first instanceof Failure);
    assert.deepEqual([first.cause, first.retryAfterSeconds], ['NOT_READY', 1]);
    other.fold = node.fold;
    const again = await portfolio.handle(request);
    assert(again !== AGAIN && !(again instanceof Failure));
  });
});
