/**
 * Histories that nothing can change any more, so that caches in front of the server may keep them
 * under the log's epoch. Source: protocol.md 10.0.
 */
import { KEPT_POINTS, pointKey, TIP } from '../../engine/fold/chainRows.ts';
import type { Fold } from '../../engine/fold/fold.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { type PointRecord, type PoolRecord, readRecord } from '../../engine/store/records.ts';
import type { Chart } from './findChart.ts';

/** The most that a feed's trade may be late. */
const MOST_LATE_MS = 86_400_000;

/** Whether no bar that starts before `toMs` can change while the epoch lasts. */
export function isUnchanging(fold: Fold, { pool }: Chart, toMs: number): boolean {
  const beforeMs = unchangingBeforeMs(fold);
  if (beforeMs === null || toMs > beforeMs) return false;
  const text = fold.store.get('pools', pool.pair.base);
  // Where following began in the middle of a pool's life, its history may still be completed.
  return text === null || readRecord<PoolRecord>(text).sinceSlot === null;
}

/**
 * Of a chain: the time of the newest block that no fork undoes. Of a feed: a day before the oldest
 * moment to which it can still go back, because later lines may be late by a day.
 */
function unchangingBeforeMs({ store }: Fold): number | null {
  const { oldest } = store.points;
  const tip = store.get('market', TIP);
  if (tip === null) return oldest === null ? null : oldest.marketMs - MOST_LATE_MS;
  const { height } = readRecord<PointRecord>(tip);
  const deep = store.get('points', pointKey(height - KEPT_POINTS));
  if (deep === null || oldest === null) return null;
  return Math.min(readRecord<PointRecord>(deep).timeMs, oldest.marketMs);
}

/** null: it is the epoch in force, or none was named. */
export function otherEpoch({ store }: Fold, epoch: string | undefined): Failure | null {
  const now = store.checkpoint?.epoch;
  if (epoch === undefined || epoch === now) return null;
  const message = `The epoch is ${now} now: what was kept under ${epoch} may be wrong, ask again.`;
  return new Failure('EPOCH_CHANGED', message);
}
