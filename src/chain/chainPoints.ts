/** Where the fold is in the chain, and the blocks behind that it can go back to. */
import { KEPT_POINTS, TIP } from '../engine/actors/chainRows.ts';
import { type PointRecord, readRecord } from '../engine/store/records.ts';
import type { StateStore } from '../engine/store/state.ts';
import type { Point } from './port.ts';

/** Of the newest block; null before the first. */
export function chainTip(store: StateStore): PointRecord | null {
  const text = store.get('market', TIP);
  return text === null ? null : readRecord<PointRecord>(text);
}

/** Newest first. */
export function chainPoints(store: StateStore): PointRecord[] {
  const rows = store.withPrefix('points', '', KEPT_POINTS + 1);
  return rows.map(({ value }) => readRecord<PointRecord>(value)).reverse();
}

export function findPoint(store: StateStore, { hash }: Point): PointRecord | null {
  return chainPoints(store).find((point) => point.hash === hash) ?? null;
}

/** Of a day and a half: what is younger is soon followed anew. */
const YOUNG_SLOTS = 129_600;

/**
 * What was followed since `start` is little, and all of it may be undone: `points`, newest first,
 * reach back further than a fork can, or to the beginning.
 */
export function isYoung(points: readonly PointRecord[], start: Point | null): boolean {
  const [newest, oldest] = [points[0], points.at(-1)];
  if (newest === undefined || oldest === undefined) return true;
  const isShort = newest.height - oldest.height < KEPT_POINTS;
  return isShort && newest.slot - (start?.slot ?? 0) <= YOUNG_SLOTS;
}
