/**
 * Time on a chain whose blocks are rare: minutes that ended without a block, by the leader's clock.
 * A block that comes later and lies before is late, as a trade of a feed can be.
 */
import type { Fold } from '../engine/actors/fold.ts';
import { MarketTimeDrafter } from '../engine/actors/marketTimeDrafter.ts';
import type { EntryDraft } from '../engine/log/writer.ts';
import { intervalStart, MINUTE_MS } from '../engine/market/resolution.ts';

/** When the minute that market time is in has ended for certain; never before the first block. */
export function minuteOverMs({ marketMs }: Fold, graceMs: number): number {
  if (marketMs === 0) return Number.POSITIVE_INFINITY;
  return intervalStart('min1', marketMs) + MINUTE_MS + graceMs;
}

/** What has ended and begun up to the newest minute that is over by `graceMs`. */
export function passedMinutes(fold: Fold, nowMs: number, graceMs: number): EntryDraft[] {
  const marketTime = new MarketTimeDrafter(fold);
  const minuteMs = intervalStart('min1', nowMs - graceMs);
  return [...marketTime.endsUpTo(minuteMs), ...marketTime.startAt(minuteMs)];
}
