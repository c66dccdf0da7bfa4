/** Plays a schedule of the simulated cluster in a test; a broken rule shows what happened. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { runSchedule } from './life/run.ts';
import type { Schedule } from './life/schedule.ts';

export const LIMIT_MS = 600_000;

export async function assertSound(t: TestContext, name: string, schedule: Schedule): Promise<void> {
  const { broken, timeline, positions, digest } = await runSchedule(schedule);
  t.diagnostic(`${name}: ${digest}`);
  if (broken === null) return;
  for (const line of [...timeline, ...positions]) t.diagnostic(line);
  assert.fail(`${name}: ${broken.invariant}: ${broken.why}`);
}
