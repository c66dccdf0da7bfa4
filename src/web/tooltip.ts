/**
 * Explanations that come up on hover and on focus. The whole page has one element, placed beside
 * the explained element and named by it, so that screen readers read it. Escape puts it away.
 */
const ID = 'tip';
const EDGE = 8;
const bubble = document.createElement('div');
Object.assign(bubble, { id: ID, className: 'tip', role: 'tooltip', hidden: true });
let explained: HTMLElement | null = null;

interface Explained {
  readonly onPointerEnter: (event: { readonly currentTarget: HTMLElement }) => void;
  readonly onFocus: (event: { readonly currentTarget: HTMLElement }) => void;
  readonly onPointerLeave: () => void;
  readonly onBlur: () => void;
}

/** Properties of an element that can have the focus. The text is read each time it is shown. */
export function explainedBy(words: () => string): Explained {
  const show = ({ currentTarget }: { readonly currentTarget: HTMLElement }) =>
    open(currentTarget, words());
  const hide = closeTooltip;
  return { onPointerEnter: show, onFocus: show, onPointerLeave: hide, onBlur: hide };
}

function open(element: HTMLElement, words: string): void {
  if (bubble.parentElement === null) document.body.append(bubble);
  closeTooltip();
  explained = element;
  bubble.textContent = words;
  bubble.hidden = false;
  element.setAttribute('aria-describedby', ID);
  const { left, bottom, top } = element.getBoundingClientRect();
  const { width, height } = bubble.getBoundingClientRect();
  const x = Math.min(left, innerWidth - width - EDGE);
  const isLow = bottom + height + EDGE > innerHeight;
  bubble.style.left = `${Math.max(EDGE, x)}px`;
  bubble.style.top = `${isLow ? top - height - 4 : bottom + 4}px`;
}

export function closeTooltip(): void {
  explained?.removeAttribute('aria-describedby');
  explained = null;
  bubble.hidden = true;
}
