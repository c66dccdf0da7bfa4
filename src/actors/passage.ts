/**
 * The passing of market time, as the leader writes it: an `end` entry for every moment at which an
 * open bar ends, and a `start` entry for a new minute, before what happens then.
 */
import type { EntryDraft } from '../log/writer.ts';
import { intervalStart } from '../market/resolution.ts';
import type { Fold } from './fold.ts';

export class Passage {
  readonly #fold: Fold;
  #marketMs: number;
  #openedMs: number;

  /** Begins at the applied state. */
  constructor(fold: Fold) {
    this.#fold = fold;
    this.#marketMs = fold.marketMs;
    this.#openedMs = fold.clock.openedMs;
  }

  get marketMs(): number {
    return this.#marketMs;
  }

  /** Ends up to `toMs`: those the fold knows, and `moreEndsMs` of entries not applied yet. */
  endsUpTo(toMs: number, moreEndsMs: readonly number[] = []): EntryDraft[] {
    const known = [...this.#fold.endsUpTo(toMs), ...moreEndsMs];
    const endsMs = [...new Set(known)].filter((endMs) => endMs > this.#marketMs);
    endsMs.sort((a, b) => a - b);
    this.#marketMs = endsMs.at(-1) ?? this.#marketMs;
    return endsMs.map((endMs) => ({ timeMs: endMs, payload: { kind: 'time', phase: 'end' } }));
  }

  /** An entry of its own for a new minute, before trades that may fall into it; time is there. */
  startAt(marketMs: number): EntryDraft[] {
    const minuteMs = intervalStart('min1', marketMs);
    const begins = minuteMs > this.#openedMs && minuteMs >= this.#marketMs;
    this.#marketMs = marketMs;
    this.#openedMs = marketMs;
    return begins ? [{ timeMs: minuteMs, payload: { kind: 'time', phase: 'start' } }] : [];
  }
}
