/** Where the fold is in the chain, and the blocks behind that it can go back to. */
import { KEPT_POINTS, TIP } from '../actors/chainRows.ts';
import { type PointRecord, readRecord } from '../store/records.ts';
import type { StateStore } from '../store/state.ts';
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

/** No block was forgotten yet: the oldest of `points` is the first that was followed. */
export function reachStart(points: readonly PointRecord[]): boolean {
  const [newest, oldest] = [points[0], points.at(-1)];
  if (newest === undefined || oldest === undefined) return true;
  return newest.height - oldest.height < KEPT_POINTS;
}
