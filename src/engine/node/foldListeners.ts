/** `tags` name what changed (streamTags.ts); null: anything may have. */
export type AppliedListener = (tags: ReadonlySet<string> | null) => void;

/** Notified after each applied batch, and when the fold stops. */
export class FoldListeners {
  readonly #all = new Set<AppliedListener>();

  /** Returns a function that removes the listener. */
  add(listener: AppliedListener): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  notify(tags: ReadonlySet<string> | null = null): void {
    for (const listener of [...this.#all]) listener(tags);
  }

  /** Resolves when `isDone`; rejects when `isStopped` or `givenUp` comes first. */
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

/** The fold's reports to the streams after each batch. */
export interface TopicHub {
  /** The applied position moved; `tags` name the streams that changed. Called once per batch. */
  applied(tags: Iterable<string>): void;
  /** The log was replaced: every subscription gets Resync and a snapshot. */
  epochChanged(): void;
}
