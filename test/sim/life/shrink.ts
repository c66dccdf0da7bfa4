/**
 * Makes a schedule that fails smaller while it still fails in the same way: fewer steps first, by
 * delta debugging (ever smaller pieces are left out), then shorter ones and shorter waits.
 */
import type { Schedule, TimedStep } from './schedule.ts';

interface ShrinkDeps {
  /** Plays it; true: it fails as the first did. */
  fails(schedule: Schedule): Promise<boolean>;
  /** true: no more time. */
  isOver(): boolean;
  tried(schedule: Schedule, failed: boolean): void;
}

const SHORTEST_MS = 1_000;

/** Steps after the failure are not needed for it. */
export function cutAfter(schedule: Schedule, atMs: number): Schedule {
  const steps = schedule.steps.filter((step) => step.atMs <= atMs);
  return { ...schedule, steps, endMs: Math.max(1, Math.ceil(atMs)) };
}

export async function shrink(first: Schedule, deps: ShrinkDeps): Promise<Schedule> {
  let best = first;
  const attempt = async (candidate: Schedule): Promise<boolean> => {
    const failed = await deps.fails(candidate);
    deps.tried(candidate, failed);
    if (failed) best = candidate;
    return failed;
  };
  const withSteps = (steps: readonly TimedStep[]) => attempt({ ...best, steps });
  await dropSteps(() => best.steps, withSteps, deps.isOver);
  await shortenSteps(() => best.steps, withSteps, deps.isOver);
  await closeGaps(() => best, attempt, deps.isOver);
  return best;
}

type Attempt = (steps: readonly TimedStep[]) => Promise<boolean>;

async function dropSteps(
  steps: () => readonly TimedStep[],
  attempt: Attempt,
  isOver: () => boolean,
): Promise<void> {
  for (let size = Math.ceil(steps().length / 2); size >= 1; ) {
    let dropped = false;
    // From the end: what happens late is needed least by what happens early.
    for (let from = steps().length - size; from > -size && !isOver(); from -= size) {
      const all = steps();
      const rest = [...all.slice(0, Math.max(0, from)), ...all.slice(from + size)];
      if (rest.length < all.length && (await attempt(rest))) dropped = true;
    }
    if (isOver()) return;
    if (size === 1 && !dropped) return;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
}

async function shortenSteps(
  steps: () => readonly TimedStep[],
  attempt: Attempt,
  isOver: () => boolean,
): Promise<void> {
  for (let index = 0; index < steps().length; index += 1) {
    for (;;) {
      const step = steps()[index];
      const half = Math.floor((step?.forMs ?? 0) / 2);
      if (isOver() || step === undefined || half < SHORTEST_MS) break;
      if (!(await attempt(steps().with(index, { ...step, forMs: half })))) break;
    }
  }
}

/** Brings each step, and the end, closer to the step before. */
async function closeGaps(
  best: () => Schedule,
  attempt: (schedule: Schedule) => Promise<boolean>,
  isOver: () => boolean,
): Promise<void> {
  for (let index = 0; index <= best().steps.length; index += 1) {
    for (;;) {
      const { steps, endMs } = best();
      const before = steps[index - 1]?.atMs ?? 0;
      const gap = Math.floor(((steps[index]?.atMs ?? endMs) - before) / 2);
      if (isOver() || gap < SHORTEST_MS) break;
      const moved = steps.map((step, at) => {
        return at < index ? step : { ...step, atMs: step.atMs - gap };
      });
      if (!(await attempt({ ...best(), steps: moved, endMs: endMs - gap }))) break;
    }
  }
}
