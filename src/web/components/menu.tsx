/** A button with choices below it, which go with Escape and with a press elsewhere. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface MenuProps {
  readonly label: string;
  /** How many choices are in force; 0 is not said. */
  readonly count: number;
  /** Below the start of the button, not its end. */
  readonly isAtStart?: boolean;
  readonly children: ComponentChildren;
}

export function Menu({ label, count, isAtStart = false, children }: MenuProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const summary = useRef<HTMLElement>(null);
  useEffect(() => {
    const pressed = ({ target }: PointerEvent) => {
      const { current } = details;
      if (current?.open && target instanceof Node && !current.contains(target))
        current.open = false;
    };
    addEventListener('pointerdown', pressed);
    return () => removeEventListener('pointerdown', pressed);
  }, []);
  return (
    <details
      ref={details}
      class={isAtStart ? 'menu at-start' : 'menu'}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || details.current?.open !== true) return;
        event.stopPropagation();
        details.current.open = false;
        summary.current?.focus();
      }}
    >
      <summary ref={summary} class="button plain-button">
        {label}
        {count > 0 && <span class="mark">{count}</span>}
      </summary>
      <div class="menu-list">{children}</div>
    </details>
  );
}
