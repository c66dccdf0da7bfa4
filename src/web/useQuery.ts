/**
 * Data that has no topic and is requested over HTTP: it is requested again when something moved,
 * one call at a time with a pause after it, so that answers cannot overtake each other. An answer
 * stays on the screen while the server is away, and shows at once when the reader comes back. A
 * hidden tab requests nothing; when it is shown again, it makes one request.
 */
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../client/apiError.ts';
import type { Clock, Timer } from '../engine/runtime/clock.ts';
import { keep, recall, showAged } from './kept.ts';
import { usePage } from './page.tsx';

const PAUSE_MS = 3_000;

interface Asked<T> {
  /** null until the first answer. */
  readonly data: T | null;
  /** Why there is none; null once there is one. */
  readonly error: unknown;
}

const NOTHING = { data: null, error: null };

/**
 * `name` and `inputs` identify the request: one name, one type of answers. `moved` is another value
 * when the answer may be another one.
 */
export function useQuery<T>(
  name: string,
  ask: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  moved: unknown = null,
): ReadonlySignal<Asked<T>> {
  const { clock } = usePage();
  const asked = useSignal<Asked<T>>(NOTHING);
  const asker = useRef<Asker<T> | null>(null);
  useEffect(() => {
    const made = new Asker(clock, JSON.stringify([name, ...inputs]), ask, asked);
    asker.current = made;
    return () => made.close();
  }, inputs);
  useEffect(() => asker.current?.refresh(), [...inputs, moved]);
  return asked;
}

class Asker<T> {
  readonly #clock: Clock;
  readonly #key: string;
  readonly #ask: (signal: AbortSignal) => Promise<T>;
  readonly #asked: Signal<Asked<T>>;
  readonly #ended = new AbortController();
  #pause: Timer | null = null;
  #isBusy = false;
  #isWanted = false;
  #endAge: () => void = () => {};

  constructor(
    clock: Clock,
    key: string,
    ask: (signal: AbortSignal) => Promise<T>,
    asked: Signal<Asked<T>>,
  ) {
    this.#clock = clock;
    this.#key = key;
    this.#ask = ask;
    this.#asked = asked;
    const known = recall<T>(key);
    if (known !== null) this.#endAge = showAged(known);
    asked.value = known === null ? NOTHING : { data: known.value, error: null };
    const seen = () => this.#seen();
    document.addEventListener('visibilitychange', seen, { signal: this.#ended.signal });
  }

  refresh(): void {
    this.#isWanted = true;
    if (!this.#isBusy) void this.#run();
  }

  close(): void {
    this.#ended.abort();
    this.#pause?.cancel();
    this.#endAge();
  }

  #seen(): void {
    if (this.#isWanted && !this.#isBusy) void this.#run();
  }

  async #run(): Promise<void> {
    if (document.hidden) return;
    const { signal } = this.#ended;
    this.#isBusy = true;
    this.#isWanted = false;
    try {
      const data = await this.#ask(signal);
      if (signal.aborted) return;
      keep(this.#key, data, this.#clock.nowMs());
      this.#endAge();
      this.#asked.value = { data, error: null };
    } catch (error) {
      if (signal.aborted) return;
      if (this.#asked.peek().data === null) this.#asked.value = { data: null, error };
      this.#isWanted ||= error instanceof ApiError && error.isPassing;
    }
    this.#pause = this.#clock.after(PAUSE_MS, () => {
      this.#isBusy = false;
      if (this.#isWanted) void this.#run();
    });
  }
}
