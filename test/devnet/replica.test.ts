/**
 * A ledger that copies another one, over random payments, blocks, forks and restarts: it has the
 * same outputs and the same mempool, and leading it loses nothing that it was told of.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Action, Pair, waitingIds } from './replicaPair.ts';

const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('pay'),
      from: fc.nat(2),
      to: fc.nat(2),
      pick: fc.nat(9),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('mine'), blocks: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fork'),
      depth: fc.integer({ min: 1, max: 20 }),
      resubmit: fc.constantFrom('all', 'none'),
      judged: fc.nat(3),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('tell', 'settle') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart', 'reconcile') }) },
);

test('a copy has the outputs, the views and the mempool of its leader', () => {
  fc.assert(
    fc.property(fc.array(anyAction, { minLength: 10, maxLength: 60 }), (actions) => {
      const pair = new Pair();
      try {
        for (const action of actions) pair.run(action);
        pair.check();
      } finally {
        pair.close();
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 18) },
  );
});

test('a copy that begins to lead has all that its leader had, in the middle of a fork, too', () => {
  fc.assert(
    fc.property(
      fc.array(anyAction, { minLength: 10, maxLength: 40 }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(5),
      fc.boolean(),
      (actions, depth, judged, isBegunAnew) => {
        const pair = new Pair();
        try {
          for (const action of actions) pair.run(action);
          pair.settle();
          pair.run({ do: 'fork', depth, resubmit: 'all', judged });
          const { ledger } = pair.copy;
          if (isBegunAnew) pair.beginAnew();
          ledger.judgeAnew();
          while (ledger.isRevalidating) ledger.revalidateOne();
          pair.settle();
          assert.deepEqual(waitingIds(ledger), waitingIds(pair.leader.ledger));
          ledger.forge();
          const slot = pair.copy.file.tip()?.slot ?? 0;
          assert.ok(slot > (pair.leader.ledger.tip?.slot ?? 0), 'slots go on');
        } finally {
          pair.close();
        }
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 12) },
  );
});
