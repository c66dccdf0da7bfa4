/** A part of the page in its box: a title, controls beside it, and the content. */
import type { ComponentChildren } from 'preact';

interface PanelProps {
  readonly id?: string;
  readonly class: string;
  readonly title: string;
  /** At the other end of the title's line. */
  readonly side?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Panel({ id, class: look, title, side, children }: PanelProps) {
  return (
    <section id={id} class={`panel ${look}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {side}
      </header>
      {children}
    </section>
  );
}
