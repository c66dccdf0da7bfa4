/** The content of one tab below the chart: its filters in a line, and its rows. */
import type { ComponentChildren } from 'preact';

interface TabPartProps {
  readonly class: string;
  readonly title: string;
  /** Above the rows. */
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function TabPart({ class: look, title, tools = null, children }: TabPartProps) {
  return (
    <section class={`tab-part ${look}`} aria-label={title}>
      {tools !== null && <div class="tab-tools">{tools}</div>}
      {children}
    </section>
  );
}
