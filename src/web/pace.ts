/**
 * A job that a busy market asks for thousands of times a second runs at most 15 times: the eye sees
 * no more, and the page stays free for the reader. It runs in a frame, and in no hidden tab.
 */
import type { Clock } from '../engine/runtime/clock.ts';

const MIN_MS = 1000 / 15;

export interface Pace {
  ask(): void;
  /** A job that was asked for does not run any more. */
  end(): void;
}

interface Frames {
  add(job: () => void): void;
  cancel(job: () => void): void;
}

export function paced(
  clock: Pick<Clock, 'monotonicMs' | 'after'>,
  frames: Frames,
  job: () => void,
): Pace {
  let lastMs = Number.NEGATIVE_INFINITY;
  let isAsked = false;
  let cancel = () => {};
  const run = () => {
    isAsked = false;
    lastMs = clock.monotonicMs();
    job();
  };
  return {
    ask() {
      if (isAsked) return;
      isAsked = true;
      const waitMs = lastMs + MIN_MS - clock.monotonicMs();
      const timer = waitMs > 0 ? clock.after(waitMs, () => frames.add(run)) : null;
      if (timer === null) frames.add(run);
      cancel = () => timer?.cancel();
    },
    end() {
      cancel();
      frames.cancel(run);
      isAsked = false;
    },
  };
}
