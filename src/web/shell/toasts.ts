/** Short messages at the edge, read out politely; a failure stays until it is dismissed. */
import type { Clock } from '../../engine/runtime/clock.ts';
import type { NoticeKind } from '../context.ts';
import { el } from '../dom.ts';

const STAY_MS = 6_000;
const MOST = 4;

export class Toasts {
  readonly element = el('div', { class: 'toasts', role: 'log', 'aria-live': 'polite' });
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.element.setAttribute('aria-label', 'Notices');
  }

  notify(kind: NoticeKind, text: string): void {
    const close = el('button', { type: 'button', 'aria-label': 'Dismiss' }, '×');
    const toast = el('div', { class: `toast ${kind}` }, el('span', {}, text), close);
    const last = this.element.lastElementChild;
    // The same again, as when a server comes and goes, does not pile up.
    if (last?.firstElementChild?.textContent === text) last.remove();
    close.addEventListener('click', () => toast.remove());
    this.element.append(toast);
    while (this.element.childElementCount > MOST) this.element.firstElementChild?.remove();
    if (kind !== 'bad') this.#clock.after(STAY_MS, () => toast.remove());
  }

  /** Escape dismisses the newest. */
  dismiss(): boolean {
    const newest = this.element.lastElementChild;
    newest?.remove();
    return newest !== null;
  }
}
