/** Schedules of the simulated cluster that once broke a rule. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertSound, LIMIT_MS } from './assertSound.ts';
import { parseSchedule } from './life/schedule.ts';
import { STEPS } from './life/steps/all.ts';

const SEEDS = join(import.meta.dirname, 'seeds');

for (const file of readdirSync(SEEDS)
  .filter((name) => name.endsWith('.json'))
  .sort()) {
  test(`${file} no longer fails`, { timeout: LIMIT_MS }, async (t) => {
    const text = readFileSync(join(SEEDS, file), 'utf8');
    await assertSound(t, file, parseSchedule(text, new Set(Object.keys(STEPS))));
  });
}
