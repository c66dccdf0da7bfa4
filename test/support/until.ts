/** Waiting for a condition with a deadline: the only way tests wait. */
import assert from 'node:assert/strict';
import { inspect } from 'node:util';

const LOOK_EVERY_MS = 2;
const SHOWN = { depth: 8, breakLength: Number.POSITIVE_INFINITY };

/** Fails with `what`, which may say how far it got, when `condition` does not come true in time. */
export async function until(
  what: string | (() => string),
  condition: () => boolean,
  limitMs = 60_000,
): Promise<void> {
  const startMs = performance.now();
  while (!condition()) {
    if (performance.now() - startMs > limitMs) {
      assert.fail(`never happened: ${typeof what === 'string' ? what : what()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** As `until`, for a condition that has to be asked for; answers what made it true. */
export async function untilAsked<T>(
  what: string | (() => string),
  ask: () => Promise<T>,
  fits: (answer: T) => boolean,
  limitMs = 60_000,
): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (performance.now() - startMs > limitMs) {
      const name = typeof what === 'string' ? what : what();
      assert.fail(`never happened: ${name}; last answer ${inspect(answer, SHOWN).slice(0, 500)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5 * LOOK_EVERY_MS));
  }
}
