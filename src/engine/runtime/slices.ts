/** Long work done a few milliseconds at a time, so that nothing else waits for the loop. */
import { type Clock, nextTurn } from './clock.ts';

const SLICE_MS = 2;

/** Answers true once `sliceMs` are over. */
export function sliceOf(clock: Clock, sliceMs = SLICE_MS): () => boolean {
  const endMs = clock.monotonicMs() + sliceMs;
  return () => clock.monotonicMs() >= endMs;
}

/** All of `work` at once. */
export function finish<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Until `work` answers true, or `isStopping` does: `work` ends early where its slice is over. */
export async function inSlices(
  clock: Clock,
  work: (isOver: () => boolean) => boolean,
  isStopping: () => boolean,
): Promise<void> {
  while (!isStopping() && !work(sliceOf(clock))) await nextTurn(clock);
}
