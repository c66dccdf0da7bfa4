import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/runtime/clock.ts';
import { Failure } from '../../src/runtime/errors.ts';
import { planOrder } from '../../src/transactions/order.ts';
import { DEFAULT_PARAMETERS } from '../../src/transactions/parameters.ts';
import type { TransactionPlan } from '../../src/transactions/plan.ts';
import { type BuilderLimits, BuilderPool } from '../../src/transactions/pool.ts';
import { ADA, ALICE, ada, built, DEPLOYMENT, NOW_MS, orderOf, SLOTS } from './world.ts';

function pool(limits: Partial<BuilderLimits>, rssBytes?: () => number): BuilderPool {
  const options = { clock: systemClock, parameters: DEFAULT_PARAMETERS, slots: SLOTS, limits };
  return new BuilderPool(rssBytes === undefined ? options : { ...options, rssBytes });
}

function placing(): TransactionPlan {
  return planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), [ada(ALICE, 100n * ADA)], NOW_MS)
    .plan;
}

test('a thread builds what the main thread would', async () => {
  const builder = pool({});
  await builder.start();
  const plan = placing();
  try {
    const outcome = await builder.build(plan);
    assert.ok(!(outcome instanceof Failure) && outcome.outcome === 'built');
    assert.equal(outcome.id, built(plan).id);
    assert.deepEqual(outcome.bytes, built(plan).bytes);
  } finally {
    await builder.stop();
  }
});

test('a full queue answers OVERLOADED and says when to come back', async () => {
  const builder = pool({ mostWaiting: 3 });
  await builder.start();
  try {
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => builder.build(placing())));
    const failures = outcomes.filter((outcome) => outcome instanceof Failure);
    assert.deepEqual(
      failures.map(({ cause, retryAfterSeconds }) => [cause, retryAfterSeconds]),
      [
        ['OVERLOADED', 1],
        ['OVERLOADED', 1],
      ],
    );
    assert.equal(builder.state().builds, 4);
  } finally {
    await builder.stop();
  }
});

test('urgent builds go first, and a line that users filled does not refuse them', async () => {
  const builder = pool({ mostWaiting: 2, mostUrgent: 1 });
  await builder.start();
  const ended: string[] = [];
  const asked = (name: string, urgent: boolean) =>
    builder.build(placing(), { urgent }).then((outcome) => {
      ended.push(outcome instanceof Failure ? `${name} ${outcome.cause}` : name);
    });
  try {
    const users = ['a', 'b', 'c', 'd'].map((name) => asked(name, false));
    const urgent = ['x', 'y'].map((name) => asked(name, true));
    assert.equal(builder.state().waiting, 3);
    await Promise.all([...users, ...urgent]);
    assert.deepEqual(ended, ['d OVERLOADED', 'y OVERLOADED', 'a', 'x', 'b', 'c']);
  } finally {
    await builder.stop();
  }
});

test('threads are replaced after their number of builds, and no build is lost', async () => {
  const builder = pool({ mostBuilds: 3, threads: 2 });
  await builder.start();
  try {
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => builder.build(placing())));
    assert.ok(outcomes.every((outcome) => 'outcome' in outcome && outcome.outcome === 'built'));
    assert.ok(builder.state().generation >= 3);
    assert.deepEqual(
      { ...builder.state(), generation: 0 },
      { running: 0, waiting: 0, builds: 10, generation: 0 },
    );
  } finally {
    await builder.stop();
  }
});

test('threads are replaced above the memory limit', async () => {
  const builder = pool({ leastBuilds: 2, mostRssBytes: 100 }, () => 101);
  await builder.start();
  try {
    for (let build = 0; build < 4; build += 1) await builder.build(placing());
    assert.equal(builder.state().generation, 3);
  } finally {
    await builder.stop();
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
  const builder = new BuilderPool({ clock, parameters: DEFAULT_PARAMETERS, slots: SLOTS });
  await builder.start();
  try {
    const late = builder.build(placing());
    timers[0]?.();
    const outcome = await late;
    assert.ok(outcome instanceof Failure);
    assert.match(outcome.message, /took longer than 10000 ms/);
    const next = await builder.build(placing());
    assert.ok('outcome' in next && next.outcome === 'built');
  } finally {
    await builder.stop();
  }
});

test('a stop lets running builds end and gives up those that wait', async () => {
  const builder = pool({});
  await builder.start();
  const [first, second] = [builder.build(placing()), builder.build(placing())];
  await builder.stop();
  const [ran, waited] = await Promise.all([first, second]);
  assert.ok('outcome' in ran && ran.outcome === 'built');
  assert.ok(waited instanceof Failure && waited.cause === 'NOT_READY');
  const after = await builder.build(placing());
  assert.ok(after instanceof Failure && after.cause === 'NOT_READY');
  assert.equal(builder.state().running, 0);
});

test('a broken plan is a failure of this build only', async () => {
  const builder = pool({});
  await builder.start();
  try {
    const broken = { ...placing(), changeAddress: 'nowhere' };
    const outcome = await builder.build(broken);
    assert.ok(outcome instanceof Failure && outcome.cause === 'SERVER_ERROR');
    const next = await builder.build(placing());
    assert.ok('outcome' in next && next.outcome === 'built');
  } finally {
    await builder.stop();
  }
});
