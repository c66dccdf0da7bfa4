/** Code that all mirrors share: listeners, waiting for the first state, iterating, ending. */

import { ApiError } from '../apiError.ts';
import { Listeners } from '../listeners.ts';
import type { Position } from '../types.ts';
import type { Change, Mirror } from './mirror.ts';

export abstract class BaseMirror<State, News extends Change = Change>
  implements Mirror<State, News>
{
  #state: State;
  #position: Position | null = null;
  #isLoaded = false;
  #isClosed = false;
  #error: ApiError | null = null;
  readonly #changes = new Listeners<[state: State, change: News]>();
  readonly #errors = new Listeners<[error: ApiError]>();
  /** Pending iterations and `ready` calls. */
  readonly #waiters = new Set<() => void>();

  constructor(empty: State) {
    this.#state = empty;
  }

  get state(): State {
    return this.#state;
  }

  get position(): Position | null {
    return this.#position;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get error(): ApiError | null {
    return this.#error;
  }

  async ready(): Promise<State> {
    while (!this.#isLoaded) {
      if (this.#error !== null) throw this.#error;
      if (this.#isClosed) throw new ApiError('STOPPED', 'closed before it was loaded');
      await this.#nextEvent();
    }
    return this.#state;
  }

  onChange(listener: (state: State, change: News) => void): () => void {
    return this.#changes.add(listener);
  }

  onError(listener: (error: ApiError) => void): () => void {
    return this.#errors.add(listener);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#changes.clear();
    this.#errors.clear();
    this.stop();
    this.#wake();
  }

  /** The newest state each time; leaving the loop closes the mirror. */
  async *[Symbol.asyncIterator](): AsyncGenerator<State, void, undefined> {
    let given: State | null = null;
    let hasGiven = false;
    try {
      for (;;) {
        if (this.#isLoaded && (!hasGiven || this.#state !== given)) {
          given = this.#state;
          hasGiven = true;
          yield given;
          continue;
        }
        if (this.#error !== null) throw this.#error;
        if (this.#isClosed) return;
        await this.#nextEvent();
      }
    } finally {
      this.close();
    }
  }

  /** Ends its subscriptions. */
  protected abstract stop(): void;

  protected setState(state: State, position: Position, change: News): void {
    if (this.#isClosed) return;
    this.#state = state;
    this.#position = position;
    this.#isLoaded = true;
    this.#wake();
    this.#changes.notify(state, change);
  }

  /** Nothing has changed up to here. */
  protected advance(position: Position): void {
    if (this.#isLoaded) this.#position = position;
  }

  /** A close by this side is no error. */
  protected fail(error: ApiError): void {
    if (this.#isClosed) return;
    if (error.cause === 'STOPPED') {
      this.close();
      return;
    }
    this.#error = error;
    this.#isClosed = true;
    this.stop();
    this.#wake();
    this.#errors.notify(error);
    this.#changes.clear();
    this.#errors.clear();
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.add(resolve);
    });
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }
}
