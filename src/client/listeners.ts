/** Who wants to be told. One who throws does not keep the others, or the client, from going on. */
export class Listeners<Told extends readonly unknown[]> {
  readonly #listeners = new Set<(...told: Told) => void>();

  /** Until the returned function is called. */
  add(listener: (...told: Told) => void): () => void {
    // The same function twice is told twice.
    const own = (...told: Told) => listener(...told);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(...told: Told): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(...told);
      } catch (error) {
        // It is the program's, which hears of it as of any error that nobody caught.
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
