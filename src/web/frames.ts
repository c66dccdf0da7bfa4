/**
 * Writing to the document once a frame, however often the market changes. A job that was asked for
 * several times runs once; a tab in the background runs none, and one when it is looked at again.
 */
const waiting = new Set<() => void>();
let asked = false;

export function nextFrame(job: () => void): void {
  waiting.add(job);
  if (asked) return;
  asked = true;
  requestAnimationFrame(run);
}

export function forget(job: () => void): void {
  waiting.delete(job);
}

function run(): void {
  asked = false;
  const jobs = Array.from(waiting);
  waiting.clear();
  for (const job of jobs) job();
}

const FLASH_MS = 900;
const flashes = new WeakMap<Element, Animation>();

/** Says by colour, for a moment, where a value went; one flash at a time for an element. */
export function flash(element: HTMLElement, direction: 'up' | 'down' | 'same'): void {
  if (flashes.get(element)?.playState === 'running') return;
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const colour = direction === 'same' ? 'var(--accent-soft)' : `var(--${direction}-soft)`;
  const fading = [{ backgroundColor: colour }, { backgroundColor: 'transparent' }];
  flashes.set(element, element.animate(fading, { duration: FLASH_MS, easing: 'ease-out' }));
}
