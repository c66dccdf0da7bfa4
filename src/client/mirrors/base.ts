/** What all mirrors share: listeners, waiting for the first state, iterating, ending. */
import { ApiError } from '../rest/apiError.ts';
import type { Position } from '../types.ts';
import type { Change, Mirror } from './port.ts';

export abstract class BaseMirror<State, News extends Change = Change>
  implements Mirror<State, News>
{
  #state: State;
  #position: Position | null = null;
  #isLoaded = false;
  #isClosed = false;
  #error: ApiError | null = null;
  readonly #changeListeners = new Set<(state: State, change: News) => void>();
  readonly #errorListeners = new Set<(error: ApiError) => void>();
  /** Iterations and `ready` that wait for something to happen. */
  readonly #wakers = new Set<() => void>();

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
      await this.#woken();
    }
    return this.#state;
  }

  onChange(listener: (state: State, change: News) => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  onError(listener: (error: ApiError) => void): () => void {
    this.#errorListeners.add(listener);
    return () => this.#errorListeners.delete(listener);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#changeListeners.clear();
    this.#errorListeners.clear();
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
        await this.#woken();
      }
    } finally {
      this.close();
    }
  }

  /** Ends its subscriptions. */
  protected abstract stop(): void;

  protected become(state: State, position: Position, change: News): void {
    if (this.#isClosed) return;
    this.#state = state;
    this.#position = position;
    this.#isLoaded = true;
    this.#wake();
    for (const listener of [...this.#changeListeners]) listener(state, change);
  }

  /** Nothing has changed up to here. */
  protected reach(position: Position): void {
    if (this.#isLoaded) this.#position = position;
  }

  /** An end that this side asked for is no error. */
  protected fail(error: ApiError): void {
    if (this.#isClosed) return;
    if (error.cause === 'STOPPED') {
      this.close();
      return;
    }
    this.#error = error;
    const listeners = [...this.#errorListeners];
    this.close();
    for (const listener of listeners) listener(error);
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakers.add(resolve);
    });
  }

  #wake(): void {
    const wakers = [...this.#wakers];
    this.#wakers.clear();
    for (const wake of wakers) wake();
  }
}
