/**
 * Explanations that come up on hover and on focus. One element for the whole page, placed beside
 * what it explains and named by it, so that it is read out too. Escape puts it away.
 */
import { el, setAttribute } from './dom.ts';

const ID = 'tip';
const EDGE = 8;
const bubble = el('div', { id: ID, class: 'tip', role: 'tooltip', hidden: true });
let explained: HTMLElement | null = null;

/** The element must be one that can have the focus. The text may change: it is read each time. */
export function addTooltip(element: HTMLElement, words: () => string): void {
  const show = () => open(element, words());
  element.addEventListener('pointerenter', show);
  element.addEventListener('focus', show);
  element.addEventListener('pointerleave', closeTooltip);
  element.addEventListener('blur', closeTooltip);
}

function open(element: HTMLElement, words: string): void {
  if (bubble.parentElement === null) document.body.append(bubble);
  closeTooltip();
  explained = element;
  bubble.textContent = words;
  bubble.hidden = false;
  setAttribute(element, 'aria-describedby', ID);
  const { left, bottom, top } = element.getBoundingClientRect();
  const { width, height } = bubble.getBoundingClientRect();
  const x = Math.min(left, innerWidth - width - EDGE);
  const isLow = bottom + height + EDGE > innerHeight;
  bubble.style.left = `${Math.max(EDGE, x)}px`;
  bubble.style.top = `${isLow ? top - height - 4 : bottom + 4}px`;
}

export function closeTooltip(): void {
  if (explained !== null) setAttribute(explained, 'aria-describedby', null);
  explained = null;
  bubble.hidden = true;
}
