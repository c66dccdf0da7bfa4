import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { after, test } from 'node:test';
import {
  type BuilderLimits,
  ThreadedBuilder,
} from '../../../src/cardano/transactions/builderThreads.ts';
import { planOrder } from '../../../src/cardano/transactions/order.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { ADA, ALICE, ada, built, DEPLOYMENT, NOW_MS, orderOf, SLOTS } from './world.ts';

function pool(limits: Partial<BuilderLimits>, rssBytes?: () => number): ThreadedBuilder {
  const common = { clock: systemClock, parameters: PARAMETERS, slots: SLOTS };
  const options = { ...common, limits: { buildTimeMs: 60_000, ...limits } };
  return new ThreadedBuilder(rssBytes === undefined ? options : { ...options, rssBytes });
}

function placing(): TransactionPlan {
  return planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), [ada(ALICE, 100n * ADA)], NOW_MS)
    .plan;
}

/** One thread, shared by all tests that do not stop it. */
const builder = pool({ maxWaiting: 3, maxUrgent: 1 });
const started = builder.start();
after(() => builder.stop());

test('a thread builds what the main thread would', async () => {
  await started;
  const plan = placing();
  const outcome = await builder.build(plan);
  assert.ok(!(outcome instanceof Failure) && outcome.outcome === 'built');
  assert.equal(outcome.id, built(plan).id);
  assert.deepEqual(outcome.bytes, built(plan).bytes);
});

const TASKS = '/proc/self/task';
const skip = existsSync(TASKS) ? false : 'threads have no priority of their own here';

test('no builder thread has a lower priority than the process', { skip }, async () => {
  await started;
  await builder.build(placing());
  const priorities = readdirSync(TASKS).map((id) => getPriority(Number(id)));
  assert.ok(priorities.length > 1);
  assert.deepEqual([...new Set(priorities)], [getPriority()]);
});

test('a full queue answers OVERLOADED and says when to come back', async () => {
  await started;
  const { builds } = builder.state();
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => builder.build(placing())));
  const failures = outcomes.filter((outcome) => outcome instanceof Failure);
  assert.deepEqual(
    failures.map(({ cause, retryAfterSeconds }) => [cause, retryAfterSeconds]),
    [
      ['OVERLOADED', 1],
      ['OVERLOADED', 1],
    ],
  );
  assert.equal(builder.state().builds - builds, 4);
});

test('urgent builds go first, and a line that users filled does not refuse them', async () => {
  await started;
  const ended: string[] = [];
  const asked = (name: string, urgent: boolean) =>
    builder.build(placing(), { urgent }).then((outcome) => {
      ended.push(outcome instanceof Failure ? `${name} ${outcome.cause}` : name);
    });
  const users = ['a', 'b', 'c', 'd', 'e'].map((name) => asked(name, false));
  const urgent = ['x', 'y'].map((name) => asked(name, true));
  assert.equal(builder.state().waiting, 4);
  await Promise.all([...users, ...urgent]);
  assert.deepEqual(ended, ['e OVERLOADED', 'y OVERLOADED', 'a', 'x', 'b', 'c', 'd']);
});

test('a broken plan is a failure of this build only', async () => {
  await started;
  const broken = { ...placing(), changeAddress: 'nowhere' };
  const outcome = await builder.build(broken);
  assert.ok(outcome instanceof Failure && outcome.cause === 'SERVER_ERROR');
  const next = await builder.build(placing());
  assert.ok('outcome' in next && next.outcome === 'built');
});

test('threads are replaced after their number of builds, and no build is lost', async () => {
  const own = pool({ maxBuilds: 3, threads: 2 });
  await own.start();
  try {
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => own.build(placing())));
    assert.ok(outcomes.every((outcome) => 'outcome' in outcome && outcome.outcome === 'built'));
    assert.ok(own.state().generation >= 3);
    assert.deepEqual(
      { ...own.state(), generation: 0 },
      { running: 0, waiting: 0, builds: 10, generation: 0 },
    );
  } finally {
    await own.stop();
  }
});

test('threads are replaced above the memory limit', async () => {
  const own = pool({ minBuilds: 2, maxRssBytes: 100 }, () => 101);
  await own.start();
  try {
    for (let build = 0; build < 4; build += 1) await own.build(placing());
    assert.equal(own.state().generation, 3);
  } finally {
    await own.stop();
  }
});

test('a build that takes too long is given up, and the next one works', async () => {
  const timers: (() => void)[] = [];
  const clock = {
    ...systemClock,
    after: (_: number, run: () => void) => {
      timers.push(run);
      return { cancel: () => {} };
    },
  };
  const own = new ThreadedBuilder({ clock, parameters: PARAMETERS, slots: SLOTS });
  await own.start();
  try {
    const late = own.build(placing());
    timers[0]?.();
    const outcome = await late;
    assert.ok(outcome instanceof Failure);
    assert.match(outcome.message, /took longer than 10000 ms/);
    assert.deepEqual([outcome.reason, outcome.retry], ['TIMED_OUT', true]);
    const next = await own.build(placing());
    assert.ok('outcome' in next && next.outcome === 'built');
  } finally {
    await own.stop();
  }
});

test('a stop lets running builds end and gives up those that wait', async () => {
  const own = pool({});
  await own.start();
  const [first, second] = [own.build(placing()), own.build(placing())];
  await own.stop();
  const [ran, waited] = await Promise.all([first, second]);
  assert.ok('outcome' in ran && ran.outcome === 'built');
  assert.ok(waited instanceof Failure && waited.cause === 'NOT_READY');
  const after = await own.build(placing());
  assert.ok(after instanceof Failure && after.cause === 'NOT_READY');
  assert.equal(own.state().running, 0);
});
