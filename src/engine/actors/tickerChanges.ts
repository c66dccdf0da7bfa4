/**
 * When the ticker of a token last changed: by what happened to the token, or because a minute left
 * one of its windows. A step of market time costs the same whatever leaves or enters: who asks
 * about a token looks whether it is among those that did.
 *
 * Assumes: every minute in which a token was traded, or launched, is noted.
 * Never:   says that a ticker is unchanged when it is not; the opposite happens.
 */
import type { AssetId } from '../market/asset.ts';
import { HOUR_MS, MINUTE_MS } from '../market/resolution.ts';
import { KEPT_MS, WINDOW_MS, WINDOWS, type Window } from '../market/windows.ts';
import { ChangeLog } from './changeLog.ts';

const LONGEST_MS = WINDOW_MS['24h'];
/** Mostly to a next minute; far fewer minutes than stay beyond the longest window. */
const REMEMBERED_STEPS = 30;
/** After a longer step every ticker counts as changed. */
const LONGEST_STEP_MS = 4 * MINUTE_MS;

/** Of market time. */
interface Step {
  readonly seq: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** What keeps something in step with tickers. */
export interface TickerFollower {
  /** Something happened to a token, so that its ticker may be another. */
  changed(asset: AssetId): void;
  /**
   * Market time, cut to the minute, was `fromMs`: `changed` is not called for the tokens that
   * `crossed` the edge of a window.
   */
  moved(fromMs: number): void;
}

export class TickerChanges {
  /** Tokens in which something happened in a minute, by its start. */
  readonly #minutes = new Map<number, Set<AssetId>>();
  readonly #changed = new Map<AssetId, number>();
  readonly #traded = new Map<AssetId, number>();
  readonly #followers = new Set<TickerFollower>();
  /** Oldest first. */
  #steps: Step[] = [];
  /** Steps up to here are not remembered. */
  #stepsFloorSeq: number;
  #floorSeq: number;
  #hourSeq: number;
  #log: ChangeLog;
  #atMs: number;

  /** Nothing is known of what changed before entry `seq`. */
  constructor(seq: number, atMs: number) {
    this.#floorSeq = seq;
    this.#stepsFloorSeq = seq;
    this.#hourSeq = seq;
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

  /** False only if the ticker surely is as it was at entry `seq`. */
  changedSince(asset: AssetId, seq: number): boolean {
    const lastSeq = Math.max(this.#changed.get(asset) ?? this.#floorSeq, this.#hourSeq);
    if (seq < lastSeq || seq < this.#stepsFloorSeq) return true;
    for (let index = this.#steps.length - 1; index >= 0; index -= 1) {
      const step = this.#steps[index];
      if (step === undefined || step.seq <= seq) return false;
      if (this.#hasCrossed(asset, step)) return true;
    }
    return false;
  }

  /** The prices of its last hours last changed with this entry, or before it. */
  sparkSeq(asset: AssetId): number {
    return Math.max(this.#traded.get(asset) ?? this.#floorSeq, this.#hourSeq);
  }

  /**
   * Tokens of the minutes that leave a window when market time steps from one minute to another, or
   * enter it when it steps back. Later steps do not change what was answered.
   */
  crossed(window: Window, fromMs: number, toMs: number): readonly Iterable<AssetId>[] {
    const { firstMs, endMs } = edgesOf(window, fromMs, toMs);
    const crossed: Iterable<AssetId>[] = [];
    if ((endMs - firstMs) / MINUTE_MS > this.#minutes.size) {
      for (const [startMs, assets] of this.#minutes) {
        if (startMs >= firstMs && startMs < endMs) crossed.push(assets);
      }
      return crossed;
    }
    for (let startMs = firstMs; startMs < endMs; startMs += MINUTE_MS) {
      const assets = this.#minutes.get(startMs);
      if (assets !== undefined) crossed.push(assets);
    }
    return crossed;
  }

  /** All whose windows hold something. */
  *inWindows(): Generator<AssetId> {
    for (const assets of this.#minutes.values()) yield* assets;
  }

  /** Until `unfollow`. */
  follow(follower: TickerFollower): void {
    this.#followers.add(follower);
  }

  unfollow(follower: TickerFollower): void {
    this.#followers.delete(follower);
  }

  /** The windows of a token hold something of this minute. */
  noteMinute(asset: AssetId, startMs: number): void {
    const known = this.#minutes.get(startMs);
    if (known === undefined) this.#minutes.set(startMs, new Set([asset]));
    else known.add(asset);
  }

  /** `isTraded`: so that the prices of its last hours changed. */
  note(asset: AssetId, seq: number, isTraded: boolean): void {
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
    if (Math.floor(atMs / HOUR_MS) !== Math.floor(beforeMs / HOUR_MS)) {
      this.#hourSeq = seq;
      this.#log.add(seq);
    }
    for (const follower of this.#followers) follower.moved(beforeMs);
    this.#remember({ seq, fromMs: beforeMs, toMs: atMs });
    for (const startMs of this.#minutes.keys()) {
      if (startMs < atMs - LONGEST_MS - KEPT_MS) this.#minutes.delete(startMs);
    }
    return true;
  }

  #remember(step: Step): void {
    const { seq, fromMs, toMs } = step;
    if (WINDOWS.some((window) => this.crossed(window, fromMs, toMs).length > 0)) {
      this.#log.add(seq);
    }
    if (Math.abs(toMs - fromMs) > LONGEST_STEP_MS) {
      this.#steps = [];
      this.#stepsFloorSeq = seq;
      return;
    }
    this.#steps.push(step);
    if (this.#steps.length <= REMEMBERED_STEPS) return;
    this.#stepsFloorSeq = this.#steps.shift()?.seq ?? this.#stepsFloorSeq;
  }

  #hasCrossed(asset: AssetId, { fromMs, toMs }: Step): boolean {
    for (const window of WINDOWS) {
      const { firstMs, endMs } = edgesOf(window, fromMs, toMs);
      for (let startMs = firstMs; startMs < endMs; startMs += MINUTE_MS) {
        if (this.#minutes.get(startMs)?.has(asset) === true) return true;
      }
    }
    return false;
  }

  /** Nothing is known of what changed before entry `seq`, after a step back beyond what is kept. */
  forget(seq: number, atMs: number): void {
    const beforeMs = this.#atMs;
    this.#atMs = atMs;
    for (const follower of this.#followers) follower.moved(beforeMs);
    this.#steps = [];
    this.#stepsFloorSeq = seq;
    this.#changed.clear();
    this.#traded.clear();
    this.#minutes.clear();
    this.#floorSeq = seq;
    this.#hourSeq = seq;
    this.#log = new ChangeLog(seq);
  }
}

/** Starts of the minutes that are in a window at one of two market times, and not at the other. */
function edgesOf(window: Window, fromMs: number, toMs: number): { firstMs: number; endMs: number } {
  const lengthMs = WINDOW_MS[window];
  return { firstMs: Math.min(fromMs, toMs) - lengthMs, endMs: Math.max(fromMs, toMs) - lengthMs };
}
