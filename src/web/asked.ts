/**
 * What has no topic and is asked for over HTTP: asked again when something moved, one call at a
 * time with a pause after it, so that answers cannot overtake each other. An answer stays on the
 * screen while the server is away.
 */
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../client/index.ts';
import type { Clock, Timer } from '../engine/runtime/clock.ts';
import { usePage } from './page.tsx';

const PAUSE_MS = 3_000;

interface Asked<T> {
  /** null until the first answer. */
  readonly data: T | null;
  /** Why there is none; null once there is one. */
  readonly error: unknown;
}

const NOTHING = { data: null, error: null };

/** `inputs` name what is asked, `moved` is another value when the answer may be another one. */
export function useAsked<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  moved: unknown = null,
): ReadonlySignal<Asked<T>> {
  const { clock } = usePage();
  const asked = useSignal<Asked<T>>(NOTHING);
  const asker = useRef<Asker<T> | null>(null);
  useEffect(() => {
    const made = new Asker(clock, ask, asked);
    asker.current = made;
    asked.value = NOTHING;
    return () => made.close();
  }, inputs);
  useEffect(() => asker.current?.want(), [...inputs, moved]);
  return asked;
}

class Asker<T> {
  readonly #clock: Clock;
  readonly #ask: (signal: AbortSignal) => Promise<T>;
  readonly #asked: Signal<Asked<T>>;
  readonly #ended = new AbortController();
  #pause: Timer | null = null;
  #isBusy = false;
  #isWanted = false;

  constructor(clock: Clock, ask: (signal: AbortSignal) => Promise<T>, asked: Signal<Asked<T>>) {
    this.#clock = clock;
    this.#ask = ask;
    this.#asked = asked;
  }

  want(): void {
    this.#isWanted = true;
    if (!this.#isBusy) void this.#run();
  }

  close(): void {
    this.#ended.abort();
    this.#pause?.cancel();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    this.#isBusy = true;
    this.#isWanted = false;
    try {
      const data = await this.#ask(signal);
      if (signal.aborted) return;
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
