/** Keys that work on every view, while no text is typed and no dialog is open. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A single key, without a modifier that belongs to the browser. */
export function isFree({ target, ctrlKey, metaKey, altKey, defaultPrevented }: KeyboardEvent) {
  if (defaultPrevented || ctrlKey || metaKey || altKey) return false;
  const isTyping =
    target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null;
  return !isTyping && document.querySelector('dialog[open]') === null;
}

/** Runs, as it was at the last render, for keys that are free. */
export function useFreeKeys(run: (event: KeyboardEvent) => void): void {
  const last = useRef(run);
  last.current = run;
  useEffect(() => {
    const ended = new AbortController();
    const listen = (event: KeyboardEvent) => {
      if (isFree(event)) last.current(event);
    };
    document.addEventListener('keydown', listen, { signal: ended.signal });
    return () => ended.abort();
  }, []);
}

interface PageKeys {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly help: () => void;
}

const ROW_STEPS: Readonly<Record<string, number>> = { j: 1, k: -1 };

export function usePageKeys({ search, help }: PageKeys): void {
  useFreeKeys((event) => {
    const step = ROW_STEPS[event.key];
    if (event.key === '/') {
      event.preventDefault();
      search.current?.focus();
      search.current?.select();
    } else if (event.key === '?') help();
    else if (step !== undefined) walkRows(step);
  });
}

/** Moves the focus to the first control of the row before or after the focused one. */
function walkRows(step: number): void {
  const rows = Array.from(document.querySelectorAll('main [data-key]')).flatMap((row) => {
    const control = row.querySelector('a, button');
    return control instanceof HTMLElement && control.checkVisibility() ? [{ row, control }] : [];
  });
  const at = rows.findIndex(({ row }) => row.contains(document.activeElement));
  const next = rows[at < 0 ? 0 : at + step];
  next?.control.focus();
}
