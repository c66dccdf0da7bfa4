/** Who wants to know when the fold has got further, or no further. */
export class FoldListeners {
  readonly #all = new Set<() => void>();

  /** Answers how to stop listening. */
  add(listener: () => void): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  notify(): void {
    for (const listener of [...this.#all]) listener();
  }

  /** Resolves when `isDone`; rejects when `isStopped` before that, or who asks gives up. */
  until(
    isDone: () => boolean,
    isStopped: () => boolean,
    what: string,
    givenUp?: AbortSignal,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const done = isDone();
        if (!done && !isStopped() && givenUp?.aborted !== true) return;
        stop();
        givenUp?.removeEventListener('abort', look);
        if (done) resolve();
        else reject(new Error(`the fold stopped before ${what}`));
      };
      const stop = this.add(look);
      givenUp?.addEventListener('abort', look);
      look();
    });
  }
}
