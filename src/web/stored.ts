/** Settings that a browser keeps. Where storage is forbidden they last until the page is left. */
import { type Signal, signal } from '@preact/signals';

const PREFIX = 'upcurve.';

/** null where nothing is kept, or storage is forbidden. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    // Storage is forbidden.
    return null;
  }
}

export function writeStored(name: string, text: string): void {
  try {
    localStorage.setItem(PREFIX + name, text);
  } catch {
    // Storage is forbidden, or full.
  }
}

/** A signal whose value is kept as JSON; `read` returns null for data in an older page's format. */
export function storedSignal<T>(
  name: string,
  initial: T,
  read: (kept: unknown) => T | null,
): Signal<T> {
  const kept = signal<T>(parsed(readStored(name), read) ?? initial);
  let isFirst = true;
  kept.subscribe((value) => {
    if (!isFirst) writeStored(name, JSON.stringify(value));
    isFirst = false;
  });
  return kept;
}

function parsed<T>(text: string | null, read: (kept: unknown) => T | null): T | null {
  if (text === null) return null;
  try {
    return read(JSON.parse(text));
  } catch {
    // It is no JSON: an older page, or another program, left it.
    return null;
  }
}
