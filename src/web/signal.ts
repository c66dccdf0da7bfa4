/** Listening to signals outside of components; inside, reading `value` is enough. */
import type { ReadonlySignal } from '@preact/signals';

/** Runs with every new value, not with the present one; until the returned function is called. */
export function onChange<T>(signal: ReadonlySignal<T>, listener: (value: T) => void): () => void {
  let isFirst = true;
  return signal.subscribe((value) => {
    if (isFirst) isFirst = false;
    else listener(value);
  });
}

/** Runs with the present value, and with every new one. */
export function watch<T>(signal: ReadonlySignal<T>, listener: (value: T) => void): () => void {
  return signal.subscribe(listener);
}
