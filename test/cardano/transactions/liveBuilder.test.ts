/** A builder whose parameters come from a node: unknown at first, changed between builds. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { LedgerTerms } from '../../../src/cardano/ledger/parameters.ts';
import { LiveBuilder } from '../../../src/cardano/transactions/liveBuilder.ts';
import { planOrder } from '../../../src/cardano/transactions/order.ts';
import { type Clock, systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { until, untilAsked } from '../../support/until.ts';
import { ADA, ALICE, ada, DEPLOYMENT, NOW_MS, orderOf, SLOTS } from './world.ts';

/** Time limit of a build. It is long here, because these tests do not test the limit. */
const BUILD_MS = 10_000;
/** It asks again at once; a build may take its time. */
const CLOCK: Clock = {
  ...systemClock,
  after: (delayMs, run) => systemClock.after(delayMs === BUILD_MS ? 60_000 : delayMs / 1000, run),
};
const TERMS: LedgerTerms = { parameters: PARAMETERS, slots: SLOTS };
// trust: wrong on purpose; a function cannot cross threads
const UNSENDABLE = (() => 0) as unknown as number;
const { feeFixedLovelace } = PARAMETERS;
const DEARER: LedgerTerms = {
  ...TERMS,
  parameters: { ...PARAMETERS, feeFixedLovelace: feeFixedLovelace + 50_000n },
};

function open(t: TestContext, first: LedgerTerms | null) {
  let terms = first;
  const counts = { changed: 0, failed: 0, asked: 0 };
  const builder = new LiveBuilder({
    ask: async () => {
      counts.asked += 1;
      return terms ?? Promise.reject(new Error('the node is away'));
    },
    evaluate: () => Promise.reject(new Error('it is not asked')),
    comparesUnits: false,
    clock: CLOCK,
    limits: {},
    observer: {
      evaluatorChanged: () => {},
      unitsDiffer: () => {},
      parametersChanged: () => {
        counts.changed += 1;
      },
      parametersFailed: () => {
        counts.failed += 1;
      },
    },
  });
  builder.start();
  t.after(() => builder.stop());
  const plan = () => {
    return planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), [ada(ALICE, 100n * ADA)], NOW_MS)
      .plan;
  };
  const fee = async () => {
    const outcome = await builder.build(plan());
    if (outcome instanceof Failure) return outcome.cause;
    assert.equal(outcome.outcome, 'built');
    return outcome.outcome === 'built' ? outcome.feeLovelace : 0n;
  };
  const say = (next: LedgerTerms | null) => {
    terms = next;
  };
  return { builder, counts, fee, say };
}

test('nothing is built before the parameters are known, and then it is', async (t) => {
  const { builder, counts, fee, say } = open(t, null);
  assert.equal(await fee(), 'NOT_READY');
  await until('it has asked in vain', () => counts.failed > 1);
  assert.equal(builder.parameters, null);
  say(TERMS);
  const first = await untilAsked('it builds', fee, (found) => found !== 'NOT_READY');
  assert(typeof first === 'bigint' && first > feeFixedLovelace);
});

test('after they have changed it builds by the new ones, and no build is lost', async (t) => {
  const { counts, fee, say } = open(t, TERMS);
  const before = await untilAsked('it builds', fee, (found) => found !== 'NOT_READY');
  assert(typeof before === 'bigint');
  say(DEARER);
  const fees = new Set<unknown>();
  await untilAsked(
    'it builds by the new ones',
    async () => {
      for (const each of await Promise.all([fee(), fee(), fee()])) fees.add(each);
      return fees;
    },
    (seen) => seen.has(before + 50_000n),
  );
  for (const each of fees) assert(each === before || each === before + 50_000n, String(each));
  // A node that is away changes nothing.
  say(null);
  const { asked } = counts;
  await until('it has asked again', () => counts.asked > asked + 2);
  assert.equal(await fee(), before + 50_000n);
  assert.equal(counts.changed, 2);
});

test('unusable parameters are reported and requested again', async (t) => {
  const { builder, counts, fee, say } = open(t, {
    ...TERMS,
    parameters: { ...PARAMETERS, costModels: [[UNSENDABLE], [], []] },
  });
  await until('the failure is reported', () => counts.failed > 1);
  assert.equal(builder.parameters, null);
  say(TERMS);
  const first = await untilAsked('it builds', fee, (found) => found !== 'NOT_READY');
  assert(typeof first === 'bigint');
});
