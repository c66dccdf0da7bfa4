/**
 * The simulator of a cluster, for an hour of `SEED`; where that is not set, of the day's date. So
 * what CI plays changes with the code alone: not with the day, nor with how fast the machine is.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONG_ONLY } from '../support/long.ts';
import { assertSound, LIMIT_MS } from './assertSound.ts';
import { runSchedule } from './life/run.ts';
import { drawSchedule } from './life/steps/all.ts';

const TODAY = new Date().toISOString().slice(0, 10).replaceAll('-', '');
const SEED = Number(process.env.SEED ?? TODAY);

test('a run is a function of its seed', { timeout: LIMIT_MS, ...LONG_ONLY }, async () => {
  const schedule = drawSchedule({ seed: 4, hours: 0.1 });
  const [first, second] = [await runSchedule(schedule), await runSchedule(schedule)];
  assert.equal(second.digest, first.digest);
  assert.deepEqual(second.counts, first.counts);
  const other = await runSchedule({ ...schedule, seed: 5 });
  assert.notEqual(other.digest, first.digest);
});

test(`an hour of seed ${SEED} breaks no rule`, { timeout: LIMIT_MS }, async (t) => {
  await assertSound(t, `seed ${SEED}`, drawSchedule({ seed: SEED, hours: 1 }));
});
