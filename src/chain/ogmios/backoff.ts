import type { Rng } from '../../engine/runtime/rng.ts';

/** How long to wait before the next try: twice as long each time, and never quite as others do. */
export class Backoff {
  readonly #rng: Rng;
  readonly #firstMs: number;
  readonly #mostMs: number;
  #tries = 0;

  constructor(
    rng: Rng,
    { firstRetryMs, mostRetryMs }: { firstRetryMs: number; mostRetryMs: number },
  ) {
    this.#rng = rng;
    this.#firstMs = firstRetryMs;
    this.#mostMs = mostRetryMs;
  }

  /** Between half of it and all of it. */
  nextMs(): number {
    const wholeMs = Math.min(this.#mostMs, this.#firstMs * 2 ** Math.min(this.#tries, 30));
    this.#tries += 1;
    return wholeMs * (0.5 + this.#rng.unit() / 2);
  }

  reset(): void {
    this.#tries = 0;
  }
}
