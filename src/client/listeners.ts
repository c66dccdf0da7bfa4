/** Callbacks. A callback that throws stops neither the other callbacks nor the client. */
export class Listeners<Args extends readonly unknown[]> {
  readonly #listeners = new Set<(...args: Args) => void>();

  /** Until the returned function is called. */
  add(listener: (...args: Args) => void): () => void {
    // The same function added twice is called twice.
    const own = (...args: Args) => listener(...args);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  notify(...args: Args): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(...args);
      } catch (error) {
        // The program gets it as an uncaught error.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
