/**
 * Writing to the document once a frame, however often the market changes. A job that was asked for
 * several times runs once; a tab in the background runs none, and one when it is looked at again.
 * What does not fit into a frame runs in the next ones, in the order in which it was asked for: a
 * busy market delays the page by some milliseconds, and never blocks it.
 */
import { systemClock } from '../engine/runtime/clock.ts';

/** Of a frame; its styles, layout and painting come on top. */
const BUDGET_MS = 6;
const queued = new Set<() => void>();
let isRequested = false;

export function nextFrame(job: () => void): void {
  queued.add(job);
  requestFrame();
}

export function cancelFrame(job: () => void): void {
  queued.delete(job);
}

function requestFrame(): void {
  if (isRequested) return;
  isRequested = true;
  requestAnimationFrame(run);
}

/** At least one job a frame; one that is queued again while it runs comes in the next frame. */
function run(): void {
  isRequested = false;
  const endMs = systemClock.monotonicMs() + BUDGET_MS;
  try {
    for (const job of Array.from(queued)) {
      // A job before it may have cancelled it.
      if (queued.delete(job)) job();
      if (systemClock.monotonicMs() >= endMs) break;
    }
  } finally {
    if (queued.size > 0) requestFrame();
  }
}

const FLASH_MS = 900;
/** Fading colours are painted in every frame; and where everything flashes, nothing stands out. */
const MAX_FLASHES = 16;
/** When each ends, by the monotonic clock; the first to end comes first. */
const flashes = new Map<Element, number>();

/** Says by colour, for a moment, where a value went; one flash at a time for an element. */
export function flash(element: HTMLElement, direction: 'up' | 'down' | 'same'): void {
  const nowMs = systemClock.monotonicMs();
  for (const [flashing, endMs] of flashes) {
    if (endMs > nowMs) break;
    flashes.delete(flashing);
  }
  if (flashes.has(element) || flashes.size >= MAX_FLASHES) return;
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const colour = direction === 'same' ? 'var(--accent-soft)' : `var(--${direction}-soft)`;
  const fading = [{ backgroundColor: colour }, { backgroundColor: 'transparent' }];
  element.animate(fading, { duration: FLASH_MS, easing: 'ease-out' });
  flashes.set(element, nowMs + FLASH_MS);
}
