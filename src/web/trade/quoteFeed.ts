/**
 * The quote for the typed amount, kept fresh: requested shortly after the last keystroke, and again
 * when the pool has moved. An answer to an older question is dropped.
 */

import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { ApiError } from '../../client/index.ts';
import type { QuoteAnswer, QuoteQuery } from '../../client/types.ts';
import type { PageContext } from '../context.ts';
import { onChange } from '../signal.ts';

const AFTER_TYPING_MS = 200;
/** A lively pool moves many times a second. */
const AFTER_MOVE_MS = 700;
/** A server that is away or not ready: asked again without typing. */
const AFTER_OUTAGE_MS = 2_000;

export type QuoteState =
  | { readonly kind: 'none' }
  /** `last` is the quote of something else, to be shown faintly until this one is there. */
  | { readonly kind: 'asking'; readonly last: QuoteAnswer | null }
  | { readonly kind: 'quote'; readonly query: QuoteQuery; readonly quote: QuoteAnswer }
  | { readonly kind: 'refused'; readonly error: unknown };

export class QuoteFeed {
  readonly #state: Signal<QuoteState> = signal<QuoteState>({ kind: 'none' });
  readonly #context: PageContext;
  readonly #stopPool: () => void;
  #query: QuoteQuery | null = null;
  #last: QuoteAnswer | null = null;
  #timer: { cancel(): void } | null = null;
  #asked = new AbortController();

  constructor(context: PageContext) {
    this.#context = context;
    let poolState = stateOf(context);
    this.#stopPool = onChange(context.pool, () => {
      const now = stateOf(context);
      if (now === poolState) return;
      poolState = now;
      this.#again(AFTER_MOVE_MS);
    });
  }

  get state(): ReadonlySignal<QuoteState> {
    return this.#state;
  }

  /** null: nothing to quote. */
  want(query: QuoteQuery | null): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#asked.abort();
    this.#query = query;
    if (query === null) {
      this.#last = null;
      this.#state.value = { kind: 'none' };
      return;
    }
    this.#state.value = { kind: 'asking', last: this.#last };
    this.#later(AFTER_TYPING_MS);
  }

  close(): void {
    this.want(null);
    this.#stopPool();
  }

  /** A call that is scheduled already is soon enough. */
  #again(delayMs: number): void {
    if (this.#query !== null && this.#timer === null) this.#later(delayMs);
  }

  #later(delayMs: number): void {
    this.#timer = this.#context.clock.after(delayMs, () => {
      this.#timer = null;
      void this.#ask();
    });
  }

  async #ask(): Promise<void> {
    const query = this.#query;
    if (query === null) return;
    this.#asked.abort();
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const { data } = await this.#context.client.build.quote(query, { signal: asked.signal });
      if (asked.signal.aborted) return;
      this.#last = data;
      this.#state.value = { kind: 'quote', query, quote: data };
    } catch (error) {
      if (asked.signal.aborted) return;
      this.#state.value = { kind: 'refused', error };
      if (error instanceof ApiError && error.isPassing) this.#again(AFTER_OUTAGE_MS);
    }
  }
}

/** The data that a quote depends on: the reserves, wherever they lie. */
function stateOf({ pool }: PageContext): string {
  const { value } = pool;
  return value === null ? '' : `${value.pool.x.amount} ${value.pool.y.amount}`;
}
