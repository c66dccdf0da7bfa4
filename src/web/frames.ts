/**
 * Writing to the document once a frame, however often the market changes. A job that was asked for
 * several times runs once; a tab in the background runs none, and one when it is looked at again.
 * What does not fit into a frame runs in the next ones, in the order in which it was asked for: a
 * lively market makes the page late by some milliseconds, and never deaf.
 */
import { systemClock } from '../engine/runtime/clock.ts';

/** Of a frame; its styles, layout and painting come on top. */
const BUDGET_MS = 6;
const waiting = new Set<() => void>();
let asked = false;

export function nextFrame(job: () => void): void {
  waiting.add(job);
  askForFrame();
}

export function forget(job: () => void): void {
  waiting.delete(job);
}

function askForFrame(): void {
  if (asked) return;
  asked = true;
  requestAnimationFrame(run);
}

/** At least one job a frame; one that asks again while it runs waits for the next frame. */
function run(): void {
  asked = false;
  const endMs = systemClock.monotonicMs() + BUDGET_MS;
  try {
    for (const job of Array.from(waiting)) {
      // One that ran before it may have taken it back.
      if (waiting.delete(job)) job();
      if (systemClock.monotonicMs() >= endMs) break;
    }
  } finally {
    if (waiting.size > 0) askForFrame();
  }
}

const FLASH_MS = 900;
/** Colours are painted anew in every frame; and where everything flashes, nothing is told. */
const MOST_FLASHES = 16;
/** When each ends, by the monotonic clock; the first to end comes first. */
const flashes = new Map<Element, number>();

/** Says by colour, for a moment, where a value went; one flash at a time for an element. */
export function flash(element: HTMLElement, direction: 'up' | 'down' | 'same'): void {
  const nowMs = systemClock.monotonicMs();
  for (const [flashing, endMs] of flashes) {
    if (endMs > nowMs) break;
    flashes.delete(flashing);
  }
  if (flashes.has(element) || flashes.size >= MOST_FLASHES) return;
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const colour = direction === 'same' ? 'var(--accent-soft)' : `var(--${direction}-soft)`;
  const fading = [{ backgroundColor: colour }, { backgroundColor: 'transparent' }];
  element.animate(fading, { duration: FLASH_MS, easing: 'ease-out' });
  flashes.set(element, nowMs + FLASH_MS);
}
