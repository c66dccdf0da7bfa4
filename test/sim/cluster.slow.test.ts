/**
 * The simulator of a cluster, for a while: schedules that once failed, fixed seeds, and an hour of
 * `SEED`; where that is not set, of the day's date. So what CI plays changes with the code alone:
 * not with the day, and not with how fast the machine is.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runSchedule } from './life/run.ts';
import { parseSchedule, type Schedule } from './life/schedule.ts';
import { drawSchedule, STEPS } from './life/steps/all.ts';

const SEEDS = join(import.meta.dirname, 'seeds');
const TODAY = new Date().toISOString().slice(0, 10).replaceAll('-', '');
const SEED = Number(process.env.SEED ?? TODAY);
const FIXED_SEEDS = [2, 3, 4];
const LIMIT_MS = 600_000;

async function assertSound(t: TestContext, name: string, schedule: Schedule): Promise<void> {
  const { broken, timeline, positions, digest } = await runSchedule(schedule);
  t.diagnostic(`${name}: ${digest}`);
  if (broken === null) return;
  for (const line of [...timeline, ...positions]) t.diagnostic(line);
  assert.fail(`${name}: ${broken.invariant}: ${broken.why}`);
}

for (const file of readdirSync(SEEDS)
  .filter((name) => name.endsWith('.json'))
  .sort()) {
  test(`${file} no longer fails`, { timeout: LIMIT_MS }, async (t) => {
    const text = readFileSync(join(SEEDS, file), 'utf8');
    await assertSound(t, file, parseSchedule(text, new Set(Object.keys(STEPS))));
  });
}

test('a run is a function of its seed', { timeout: LIMIT_MS }, async () => {
  const schedule = drawSchedule({ seed: 4, hours: 0.3 });
  const [first, second] = [await runSchedule(schedule), await runSchedule(schedule)];
  assert.equal(second.digest, first.digest);
  assert.deepEqual(second.counts, first.counts);
  const other = await runSchedule({ ...schedule, seed: 5 });
  assert.notEqual(other.digest, first.digest);
});

test('fixed seeds break no rule', { timeout: LIMIT_MS }, async (t) => {
  for (const seed of FIXED_SEEDS) {
    await assertSound(t, `seed ${seed}`, drawSchedule({ seed, hours: 0.5 }));
  }
});

test(`an hour of seed ${SEED} breaks no rule`, { timeout: LIMIT_MS }, async (t) => {
  await assertSound(t, `seed ${SEED}`, drawSchedule({ seed: SEED, hours: 1 }));
});
