/**
 * The simulator of a cluster, for a while: schedules that once failed, fixed seeds, and a new seed
 * every day. `DAY=20261123` plays the seed of that day.
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
const DAY = Number(process.env.DAY ?? TODAY);
const CPU_SECONDS = 60;
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
  const startUs = process.cpuUsage().user;
  for (let seed = 1; process.cpuUsage().user - startUs < CPU_SECONDS * 1e6; seed += 1) {
    await assertSound(t, `seed ${seed}`, drawSchedule({ seed, hours: 0.5 }));
  }
});

test('the seed of the day breaks no rule', { timeout: LIMIT_MS }, async (t) => {
  await assertSound(t, `seed ${DAY}`, drawSchedule({ seed: DAY, hours: 1 }));
});
