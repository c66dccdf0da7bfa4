/** Schedules of the simulated cluster that once broke a rule. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LONG_ONLY } from '../support/long.ts';
import { assertSound, LIMIT_MS } from './assertSound.ts';
import { parseSchedule } from './life/schedule.ts';
import { STEPS } from './life/steps/all.ts';

const SEEDS = join(import.meta.dirname, 'seeds');
/** More than 10 s each: CI leaves them out. */
const LONG = [
  'damaged-first-entry-taken-for-another-market.json',
  'epoch-entry-damaged.json',
  'nats-server-lost-its-last-writes.json',
  'requests-beside-strange-epochs.json',
];

for (const file of readdirSync(SEEDS)
  .filter((name) => name.endsWith('.json'))
  .sort()) {
  const tier = LONG.includes(file) ? LONG_ONLY : {};
  test(`${file} no longer fails`, { timeout: LIMIT_MS, ...tier }, async (t) => {
    const text = readFileSync(join(SEEDS, file), 'utf8');
    await assertSound(t, file, parseSchedule(text, new Set(Object.keys(STEPS))));
  });
}
