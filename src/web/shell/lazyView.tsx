/**
 * Views in a script of their own: chart, trading and wallet are most of the page, and readers of
 * the market's lists do not need that code. It is loaded with the first such view, or before that,
 * as soon as the reader moves.
 */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';

export type Views = typeof import('../views.ts');

const loaded = signal<Views | null>(null);
const hasFailed = signal(false);
let isAsked = false;

export async function loadViews(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    loaded.value = await import('../views.ts');
    hasFailed.value = false;
  } catch {
    // The server is away, or a newer one has other names for its files.
    isAsked = false;
    hasFailed.value = true;
  }
}

interface LaterViewProps {
  /** In its place until it is there. */
  readonly coming: ComponentChildren;
  readonly show: (views: Views) => ComponentChildren;
}

export function LazyView({ coming, show }: LaterViewProps) {
  const views = loaded.value;
  useEffect(() => void loadViews(), []);
  if (views !== null) return show(views);
  return hasFailed.value ? <Missing /> : coming;
}

/** Browsers remember that a script could not be loaded: only another document tries again. */
function Missing() {
  const { link } = usePage();
  const isOpen = link.value.is === 'open';
  const wasAway = useRef(!isOpen);
  useEffect(() => {
    if (isOpen && wasAway.current) location.reload();
  }, [isOpen]);
  return (
    <div class="empty" role="alert">
      <strong>{t.shell.notLoaded}</strong>
      <div>
        <button type="button" class="button primary" onClick={() => location.reload()}>
          {t.shell.loadAgain}
        </button>
      </div>
    </div>
  );
}
