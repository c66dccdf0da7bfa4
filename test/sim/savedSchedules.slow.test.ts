/** Schedules of the simulated cluster that once broke a rule. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LONG_ONLY } from '../support/long.ts';
import { assertSound, LIMIT_MS } from './assertSound.ts';
import { parseSchedule } from './life/schedule.ts';
import { STEPS } from './life/steps/all.ts';

const SEEDS = join(import.meta.dirname, 'seeds');
/** CI plays these, each in less than 8 s. `npm run test:long` plays all schedules. */
const IN_CI = [
  'empty-directory-beside-a-living-market.json',
  'nats-does-not-find-what-it-stores.json',
  'requests-of-a-shortened-lease.json',
  'shortened-log-taken-for-its-end.json',
  'twin-that-starts-after-its-step.json',
];

for (const file of readdirSync(SEEDS)
  .filter((name) => name.endsWith('.json'))
  .sort()) {
  const tier = IN_CI.includes(file) ? {} : LONG_ONLY;
  test(`${file} no longer fails`, { timeout: LIMIT_MS, ...tier }, async (t) => {
    const text = readFileSync(join(SEEDS, file), 'utf8');
    await assertSound(t, file, parseSchedule(text, new Set(Object.keys(STEPS))));
  });
}
