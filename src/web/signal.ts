/** A value that notifies its listeners of each change: at once, in the order of subscription. */
export interface Signal<T> {
  readonly value: T;
  /** Runs with every new value, not with the present one; until the returned function is called. */
  subscribe(listener: (value: T) => void): () => void;
}

export class Source<T> implements Signal<T> {
  #value: T;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of Array.from(this.#listeners)) listener(value);
  }

  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Runs with the present value, and with every new one. */
export function watch<T>(signal: Signal<T>, listener: (value: T) => void): () => void {
  const stop = signal.subscribe(listener);
  listener(signal.value);
  return stop;
}
