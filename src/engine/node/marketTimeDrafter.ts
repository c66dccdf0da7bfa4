/**
 * Drafts the entries by which the leader moves market time: an `end` entry for every moment at
 * which an open bar ends, and a `start` entry for a new minute, before what happens in it.
 */

import type { Fold } from '../fold/fold.ts';
import type { EntryDraft } from '../log/writer.ts';
import { intervalEnd, intervalStart, RESOLUTIONS } from '../market/resolution.ts';

export class MarketTimeDrafter {
  readonly #fold: Fold;
  /** Ends of bars that drafted, not yet applied entries open. */
  readonly #endsMs = new Set<number>();
  #marketMs: number;
  #openedMs: number;
  #tradedMinuteMs = -1;

  /** Starts at the applied state. */
  constructor(fold: Fold) {
    this.#fold = fold;
    this.#marketMs = fold.marketMs;
    this.#openedMs = fold.clock.openedMs;
  }

  get marketMs(): number {
    return this.#marketMs;
  }

  /** A trade at `atMs` was drafted: it opens bars that the fold does not know yet. */
  opens(atMs: number): void {
    const minuteMs = intervalStart('min1', atMs);
    if (minuteMs === this.#tradedMinuteMs) return;
    this.#tradedMinuteMs = minuteMs;
    for (const resolution of RESOLUTIONS) {
      this.#endsMs.add(intervalEnd(resolution, intervalStart(resolution, atMs)));
    }
  }

  /** `end` entries for bars that end after the present market time, up to `toMs`. */
  endsUpTo(toMs: number): EntryDraft[] {
    const opened = [...this.#endsMs].filter((endMs) => endMs <= toMs);
    for (const endMs of opened) this.#endsMs.delete(endMs);
    const known = [...this.#fold.endsUpTo(toMs), ...opened];
    const endsMs = [...new Set(known)].filter((endMs) => endMs > this.#marketMs);
    endsMs.sort((a, b) => a - b);
    this.#marketMs = endsMs.at(-1) ?? this.#marketMs;
    return endsMs.map((endMs) => ({ timeMs: endMs, payload: { kind: 'time', phase: 'end' } }));
  }

  /** Moves time to `marketMs`: a `start` entry when that is in a new minute, otherwise none. */
  startAt(marketMs: number): EntryDraft[] {
    const minuteMs = intervalStart('min1', marketMs);
    const begins = minuteMs > this.#openedMs && minuteMs >= this.#marketMs;
    this.#marketMs = marketMs;
    this.#openedMs = marketMs;
    return begins ? [{ timeMs: minuteMs, payload: { kind: 'time', phase: 'start' } }] : [];
  }
}
