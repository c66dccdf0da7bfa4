/**
 * Market time: the time of the newest entry, and when intervals ended and began in terms of seq.
 *
 * `marketMs` closes bars. `openedMs` follows it, except that an `end` entry closes the old interval
 * before a `start` entry (or a block) opens the new one: see `TimePayload`.
 */
import { intervalStart, MINUTE_MS, RESOLUTIONS, type Resolution } from '../market/resolution.ts';

/** A step of market time across at least one minute boundary, made by entry `seq`. */
export interface ClockMove {
  readonly seq: number;
  readonly closedFromMs: number;
  readonly closedToMs: number;
  readonly openedFromMs: number;
  readonly openedToMs: number;
}

const MOVES = 1024;
const NONE: readonly string[] = [];

/** The tag for a stream of filled bars: intervals of this resolution end and begin. */
export function clockTag(resolution: Resolution): string {
  return `clock:${resolution}`;
}

export class MarketClock {
  #marketMs = 0;
  #openedMs = 0;
  #moves: ClockMove[] = [];
  /** All moves after this seq are in `#moves`. */
  #floorSeq = 0;

  get marketMs(): number {
    return this.#marketMs;
  }

  get openedMs(): number {
    return this.#openedMs;
  }

  /** Starts from a checkpoint: what moved before it is not remembered. */
  resume(marketMs: number, openedMs: number, seq: number): void {
    this.#marketMs = marketMs;
    this.#openedMs = openedMs;
    this.#moves = [];
    this.#floorSeq = seq;
  }

  /** Sets market time; returns the tags of resolutions that changed interval. */
  advance(timeMs: number, seq: number, phase: 'end' | 'start' | 'block'): readonly string[] {
    const closedFromMs = this.#marketMs;
    const openedFromMs = this.#openedMs;
    this.#marketMs = timeMs;
    if (phase !== 'end') this.#openedMs = timeMs;
    if (sameMinute(closedFromMs, timeMs) && sameMinute(openedFromMs, this.#openedMs)) return NONE;
    const openedToMs = this.#openedMs;
    this.#moves.push({ seq, closedFromMs, closedToMs: timeMs, openedFromMs, openedToMs });
    if (this.#moves.length > 2 * MOVES) {
      this.#floorSeq = this.#moves[MOVES - 1]?.seq ?? this.#floorSeq;
      this.#moves = this.#moves.slice(MOVES);
    }
    return RESOLUTIONS.filter(
      (resolution) =>
        changes(resolution, closedFromMs, timeMs) || changes(resolution, openedFromMs, openedToMs),
    ).map(clockTag);
  }

  /** Moves made after `seq`; null when some are forgotten. */
  movesAfter(seq: number): readonly ClockMove[] | null {
    if (seq < this.#floorSeq) return null;
    return this.#moves.filter((move) => move.seq > seq);
  }
}

function sameMinute(fromMs: number, toMs: number): boolean {
  return Math.floor(fromMs / MINUTE_MS) === Math.floor(toMs / MINUTE_MS);
}

function changes(resolution: Resolution, fromMs: number, toMs: number): boolean {
  return intervalStart(resolution, fromMs) !== intervalStart(resolution, toMs);
}
