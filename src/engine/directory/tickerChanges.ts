/**
 * When the ticker of a token last changed by what happened to it, and the last steps of market
 * time, by which minutes leave windows: a reader then checks whether the token had trades at the
 * edges of a window.
 *
 * Never: says that a ticker is unchanged when it is not; the opposite happens.
 */

import type { AssetId } from '../market/asset.ts';
import { MINUTE_MS } from '../market/resolution.ts';
import type { Span } from '../pools/poolTicker.ts';
import { ChangeLog } from '../store/changeLog.ts';

/**
 * Shorter than the time that minutes are kept beyond the longest window. Over a longer time every
 * ticker counts as changed.
 */
const REMEMBERED_MS = 30 * MINUTE_MS;

/** A step of market time with an entry. */
interface Step extends Span {
  readonly seq: number;
}

/** A listener that is kept in step with tickers. */
export interface TickerFollower {
  /** Something happened to a token, so that its ticker may be another. */
  changed(asset: AssetId): void;
  /**
   * Market time, cut to the minute, was `fromMs`: `changed` is not called for the tokens whose
   * minutes crossed the edge of a window.
   */
  moved(fromMs: number): void;
}

export class TickerChanges {
  readonly #changed = new Map<AssetId, number>();
  readonly #traded = new Map<AssetId, number>();
  readonly #followers = new Set<TickerFollower>();
  /** Oldest first. */
  #steps: Step[] = [];
  /** Steps up to here are not remembered. */
  #stepsFloorSeq: number;
  #floorSeq: number;
  #log: ChangeLog;
  #atMs: number;

  /** Nothing is known of what changed before entry `seq`. */
  constructor(seq: number, atMs: number) {
    this.#floorSeq = seq;
    this.#stepsFloorSeq = seq;
    this.#log = new ChangeLog(seq);
    this.#atMs = atMs;
  }

  /** Market time, cut to the minute. */
  get atMs(): number {
    return this.#atMs;
  }

  /** Whether some ticker may have changed in (fromSeq, toSeq]; false only if surely not. */
  between(fromSeq: number, toSeq: number): boolean {
    return this.#log.between(fromSeq, toSeq);
  }

  /** False only if surely nothing happened to it since entry `seq`; but see `stepsSince`. */
  changedSince(asset: AssetId, seq: number): boolean {
    return seq < (this.#changed.get(asset) ?? this.#floorSeq) || seq < this.#stepsFloorSeq;
  }

  /**
   * The span of the steps of market time since entry `seq`, forward or back; null: there was none.
   */
  stepsSince(seq: number): Span | null {
    let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let index = this.#steps.length - 1; index >= 0; index -= 1) {
      const step = this.#steps[index];
      if (step === undefined || step.seq <= seq) break;
      fromMs = Math.min(fromMs, step.fromMs);
      toMs = Math.max(toMs, step.toMs);
    }
    return fromMs < toMs ? { fromMs, toMs } : null;
  }

  /** Whether it may have been traded since entry `seq`; false only if surely not. */
  tradedSince(asset: AssetId, seq: number): boolean {
    return seq < (this.#traded.get(asset) ?? this.#floorSeq) || seq < this.#stepsFloorSeq;
  }

  follow(follower: TickerFollower): void {
    this.#followers.add(follower);
  }

  /** `isTraded`: so that its price of now changed. */
  record(asset: AssetId, seq: number, isTraded: boolean): void {
    this.#changed.set(asset, seq);
    this.#log.add(seq);
    if (isTraded) this.#traded.set(asset, seq);
    for (const follower of this.#followers) follower.changed(asset);
  }

  /** Market time, cut to the minute, is `atMs` from entry `seq` on. Answers whether it moved. */
  moveTo(atMs: number, seq: number): boolean {
    const beforeMs = this.#atMs;
    if (atMs === beforeMs) return false;
    this.#atMs = atMs;
    this.#log.add(seq);
    this.#remember(seq, Math.min(beforeMs, atMs), Math.max(beforeMs, atMs));
    for (const follower of this.#followers) follower.moved(beforeMs);
    return true;
  }

  #remember(seq: number, fromMs: number, toMs: number): void {
    this.#steps.push({ seq, fromMs, toMs });
    while (isFar(this.#steps, this.#atMs)) {
      this.#stepsFloorSeq = this.#steps.shift()?.seq ?? this.#stepsFloorSeq;
    }
  }

  /** Changes before entry `seq` are unknown after a step back beyond the kept data. */
  forget(seq: number, atMs: number): void {
    const beforeMs = this.#atMs;
    this.#atMs = atMs;
    this.#steps = [];
    this.#stepsFloorSeq = seq;
    this.#changed.clear();
    this.#traded.clear();
    this.#floorSeq = seq;
    this.#log = new ChangeLog(seq);
    for (const follower of this.#followers) follower.moved(beforeMs);
  }
}

function isFar([first]: readonly Step[], atMs: number): boolean {
  if (first === undefined) return false;
  return Math.max(atMs - first.fromMs, first.toMs - atMs) > REMEMBERED_MS;
}
