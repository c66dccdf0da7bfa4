/**
 * Writing to the document once a frame, however often the market changes. A tab in the background
 * runs no job; when it is shown again, it runs each job once.
 */
import { systemClock } from '../engine/runtime/clock.ts';
import { FrameQueue } from './frameQueue.ts';

export const frames = new FrameQueue((run) => requestAnimationFrame(run), systemClock);

export function nextFrame(job: () => void): void {
  frames.add(job);
}

export function cancelFrame(job: () => void): void {
  frames.cancel(job);
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
