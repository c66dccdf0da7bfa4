/** Buttons that do one thing at a time. */
import { el, setAttribute } from '../dom.ts';

interface ButtonOptions {
  readonly kind?: 'primary' | 'plain-button';
  readonly type?: 'button' | 'submit';
  /** For readers of the screen, where the label alone says too little. */
  readonly describe?: string;
}

export function button(
  label: string,
  run: () => Promise<void> | void,
  { kind, type = 'button', describe }: ButtonOptions = {},
): HTMLButtonElement {
  const made = el(
    'button',
    { type, class: `button ${kind ?? ''}`.trim(), 'aria-label': describe ?? null },
    label,
  );
  if (type === 'button') made.addEventListener('click', () => void runOnce(made, run));
  return made;
}

const running = new WeakSet<HTMLButtonElement>();

/** Until `run` is done the button says so and takes no other click. `run` handles its errors. */
export async function runOnce(
  pressed: HTMLButtonElement,
  run: () => Promise<void> | void,
): Promise<void> {
  if (running.has(pressed)) return;
  running.add(pressed);
  // Not `disabled`: the focus stays where it is.
  setAttribute(pressed, 'aria-busy', 'true');
  setAttribute(pressed, 'aria-disabled', 'true');
  try {
    await run();
  } finally {
    running.delete(pressed);
    setAttribute(pressed, 'aria-busy', null);
    setAttribute(pressed, 'aria-disabled', null);
  }
}
