/**
 * The last data of each view, kept after the reader leaves the view: a returning reader sees it at
 * once, and while the server is away only this data shows, with its age.
 */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';

/** Answers and mirrors; the one used longest ago goes first. */
const MOST = 64;

interface Known<T> {
  readonly value: T;
  /** Wall time at which it was true. */
  readonly atMs: number;
}

const kept = new Map<string, Known<unknown>>();
/** Data on the screen that was not confirmed since it was loaded. */
const shown: Signal<readonly { readonly atMs: number }[]> = signal([]);

/** Unix ms; null: the shown data is as new as the connection. */
export const oldestShownMs: ReadonlySignal<number | null> = computed(() =>
  shown.value.length === 0 ? null : Math.min(...shown.value.map(({ atMs }) => atMs)),
);

/** `key` identifies the data: one key, one type. */
export function keep(key: string, value: unknown, atMs: number): void {
  kept.delete(key);
  kept.set(key, { value, atMs });
  const [oldest] = kept.keys();
  if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
}

export function recall<T>(key: string): Known<T> | null {
  // trust: one key, one type
  return (kept.get(key) as Known<T> | undefined) ?? null;
}

/** Its age counts until the returned function is called. */
export function showAged(known: Known<unknown>): () => void {
  shown.value = [...shown.peek(), known];
  return () => {
    shown.value = shown.peek().filter((each) => each !== known);
  };
}
