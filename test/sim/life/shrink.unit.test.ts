import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchedule, type Schedule, scheduleText } from './schedule.ts';
import { cutAfter, shrink } from './shrink.ts';
import { drawSchedule, STEPS } from './steps/all.ts';

const NAMES = new Set(Object.keys(STEPS));

test('a schedule is a function of its seed, and survives its own text', () => {
  const drawn = drawSchedule({ seed: 7, hours: 24 });
  assert.deepEqual(drawSchedule({ seed: 7, hours: 24 }), drawn);
  assert.notDeepEqual(drawSchedule({ seed: 8, hours: 24 }).steps, drawn.steps);
  assert.deepEqual(parseSchedule(scheduleText(drawn), NAMES), drawn);
  assert.ok(drawn.steps.length > 100);
  const times = drawn.steps.map(({ atMs }) => atMs);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.ok(drawn.steps.at(-1)?.step === 'calm');
});

test('every step is drawn by some seed', () => {
  const drawn = new Set<string>();
  for (let seed = 1; seed < 30; seed += 1) {
    for (const { step } of drawSchedule({ seed, hours: 24 }).steps) drawn.add(step);
  }
  assert.deepEqual(
    [...NAMES].filter((name) => !drawn.has(name)),
    [],
  );
});

test('a schedule of a person says what is wrong with it', () => {
  const text = (change: object) =>
    JSON.stringify({ ...drawSchedule({ seed: 1, hours: 1 }), ...change });
  assert.throws(() => parseSchedule('[]', NAMES), /not an object/);
  assert.throws(() => parseSchedule(text({ seed: 'x' }), NAMES), /`seed`/);
  assert.throws(() => parseSchedule(text({ endMs: 0 }), NAMES), /`endMs`/);
  const steps = [
    { atMs: 5, step: 'calm' },
    { atMs: 4, step: 'calm' },
  ];
  assert.throws(() => parseSchedule(text({ steps }), NAMES), /steps\[1\].atMs goes back/);
  const unknown = [{ atMs: 5, step: 'explode' }];
  assert.throws(() => parseSchedule(text({ steps: unknown }), NAMES), /steps\[0\].step is one of/);
});

test('shrinking leaves the steps that the failure needs, each as short as it may be', async () => {
  const schedule = drawSchedule({ seed: 3, hours: 24 });
  const kills = schedule.steps.filter(({ step }) => step === 'kill');
  const [first, last] = [kills[0], kills.at(-1)];
  assert.ok(first !== undefined && last !== undefined && first !== last);
  let runs = 0;
  // Two kills, the first for 3 s at least, and half an hour in between.
  const isBroken = ({ steps }: Schedule) => {
    const found = steps.filter(({ step }) => step === 'kill');
    const [a, b] = [found[0], found.at(-1)];
    const isLong = a !== undefined && (a.forMs ?? 0) >= Math.min(3_000, first.forMs ?? 0);
    return isLong && b !== undefined && b.atMs - a.atMs >= 1_800_000;
  };
  assert.ok(isBroken(schedule));
  const shortest = await shrink(cutAfter(schedule, last.atMs), {
    fails: async (candidate) => {
      runs += 1;
      return isBroken(candidate);
    },
    isOver: () => false,
    tried: () => {},
  });
  assert.deepEqual(
    shortest.steps.map(({ step }) => step),
    ['kill', 'kill'],
  );
  const [a, b] = shortest.steps;
  assert.ok(a !== undefined && b !== undefined);
  assert.ok(a.atMs < 2_000, `${a.atMs}`);
  assert.ok(b.atMs - a.atMs < 3_600_000 && (a.forMs ?? 0) < 6_000, JSON.stringify(shortest));
  assert.ok(runs < 400, `${runs} runs`);
  assert.ok(isBroken(shortest));
});

test('no more is tried when the time for it is over', async () => {
  const schedule = drawSchedule({ seed: 3, hours: 24 });
  let runs = 0;
  const shortest = await shrink(schedule, {
    fails: async () => {
      runs += 1;
      return true;
    },
    isOver: () => runs >= 3,
    tried: () => {},
  });
  assert.equal(runs, 3);
  assert.ok(shortest.steps.length < schedule.steps.length);
});
