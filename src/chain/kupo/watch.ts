/** Asks Kupo for its health again and again: facts for readiness and metrics. */
import { type Clock, pause } from '../../engine/runtime/clock.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { KupoClient, KupoError, type KupoHealth, type KupoObserver } from './client.ts';
import { readHealth } from './matches.ts';

export interface KupoHealthWatchDeps {
  readonly url: string;
  readonly clock: Clock;
  readonly observer: KupoObserver;
  readonly everyMs?: number;
}

const EVERY_MS = 5_000;
const DEADLINE_MS = 4_000;
const LIMITS = { atOnce: 1, maxBytes: 65_536 };

export class KupoHealthWatch implements Service {
  readonly name = 'kupo watch';
  readonly #deps: KupoHealthWatchDeps;
  readonly #questions: KupoClient;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #latest: KupoHealth | null = null;

  constructor(deps: KupoHealthWatchDeps) {
    const { url, clock, observer } = deps;
    this.#deps = deps;
    this.#questions = new KupoClient(url, clock, observer, LIMITS);
  }

  /** As it was last; null: it could not be asked. */
  get latest(): KupoHealth | null {
    return this.#latest;
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(stopping: AbortSignal): Promise<void> {
    const { clock, observer, everyMs = EVERY_MS } = this.#deps;
    while (!stopping.aborted) {
      this.#latest = await this.#ask(stopping);
      if (stopping.aborted) return;
      observer.kupoHealth(this.#latest);
      await pause(clock, everyMs, stopping);
    }
  }

  async #ask(stopping: AbortSignal): Promise<KupoHealth | null> {
    const abort = new AbortController();
    const timer = this.#deps.clock.after(DEADLINE_MS, () => abort.abort());
    const end = () => abort.abort();
    stopping.addEventListener('abort', end, { once: true });
    try {
      return readHealth((await this.#questions.ask('/health', abort.signal)).body);
    } catch (error) {
      if (error instanceof KupoError) return null;
      throw error;
    } finally {
      timer.cancel();
      stopping.removeEventListener('abort', end);
    }
  }
}
