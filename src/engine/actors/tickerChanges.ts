/**
 * When the ticker of a token last changed: by what happened to the token, or because a minute left
 * one of its windows. A step of market time costs what leaves, not what is there.
 *
 * Assumes: every minute in which a token was traded, or launched, is noted.
 * Never:   says that a ticker is unchanged when it is not; the opposite happens.
 */
import type { AssetId } from '../market/asset.ts';
import { HOUR_MS } from '../market/resolution.ts';
import { KEPT_MS, WINDOW_MS, WINDOWS } from '../market/windows.ts';
import { ChangeLog } from './changeLog.ts';

const LONGEST_MS = WINDOW_MS['24h'];

export class TickerChanges {
  /** Tokens in which something happened in a minute, by its start. */
  readonly #minutes = new Map<number, Set<AssetId>>();
  readonly #changed = new Map<AssetId, number>();
  readonly #traded = new Map<AssetId, number>();
  readonly #followers = new Set<Set<AssetId>>();
  #floorSeq: number;
  #hourSeq: number;
  #log: ChangeLog;
  #atMs: number;

  /** Nothing is known of what changed before entry `seq`. */
  constructor(seq: number, atMs: number) {
    this.#floorSeq = seq;
    this.#hourSeq = seq;
    this.#log = new ChangeLog(seq);
    this.#atMs = atMs;
  }

  /** Whether some ticker may have changed in (fromSeq, toSeq]; false only if surely not. */
  between(fromSeq: number, toSeq: number): boolean {
    return this.#log.between(fromSeq, toSeq);
  }

  /** The ticker last changed with this entry, or before it. */
  changedSeq(asset: AssetId): number {
    return Math.max(this.#changed.get(asset) ?? this.#floorSeq, this.#hourSeq);
  }

  /** The same of the prices of its last hours. */
  sparkSeq(asset: AssetId): number {
    return Math.max(this.#traded.get(asset) ?? this.#floorSeq, this.#hourSeq);
  }

  /** A set that every token is added to when its ticker changes, until `unfollow`. */
  follow(): Set<AssetId> {
    const changed = new Set<AssetId>();
    this.#followers.add(changed);
    return changed;
  }

  unfollow(changed: Set<AssetId>): void {
    this.#followers.delete(changed);
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
    for (const changed of this.#followers) changed.add(asset);
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
    const [fromMs, toMs] = atMs < beforeMs ? [atMs, beforeMs] : [beforeMs, atMs];
    for (const [startMs, assets] of this.#minutes) {
      if (hasCrossed(startMs, fromMs, toMs)) {
        for (const asset of assets) this.note(asset, seq, false);
      }
      if (startMs < atMs - LONGEST_MS - KEPT_MS) this.#minutes.delete(startMs);
    }
    return true;
  }

  /** Nothing is known of what changed before entry `seq`, after a step back beyond what is kept. */
  forget(seq: number, atMs: number): void {
    this.#changed.clear();
    this.#traded.clear();
    this.#minutes.clear();
    this.#floorSeq = seq;
    this.#hourSeq = seq;
    this.#log = new ChangeLog(seq);
    this.#atMs = atMs;
  }
}

/** Whether a minute is in a window of one of two market times, and not in that of the other. */
function hasCrossed(startMs: number, fromMs: number, toMs: number): boolean {
  return WINDOWS.some((window) => {
    const lengthMs = WINDOW_MS[window];
    return startMs >= fromMs - lengthMs && startMs < toMs - lengthMs;
  });
}
