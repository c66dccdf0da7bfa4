/**
 * Changes of a bar series as frames.
 *
 * One position, one frame with news: a client ignores a second frame at a position it has. Bars
 * that changed at the same position (a rollback) travel together in one `BarsRevised`; the newest
 * bar that follows it repeats what it said. Where bars were removed, the newest one that is left is
 * among those revised even if it did not change: a client may know none but the removed.
 */
import type { Json } from '../../engine/runtime/json.ts';
import type { Cause } from '../../engine/store/rows.ts';
import type { Part } from '../topics/port.ts';

export const REVISED = 'BarsRevised';

/** One changed bar, rendered; `bar` is null when it was removed. */
export interface BarNews {
  readonly startMs: number;
  readonly seq: number;
  readonly cause: Cause;
  readonly bar: Json;
}

export interface NewestBar {
  readonly startMs: number;
  /** As an update would say it. */
  readonly bar: Json;
}

export interface SeriesName {
  /** Event of ordinary updates. */
  readonly update: string;
  readonly pair: string;
  readonly interval: string;
  /** Between which slots the rollback lies that entry `seq` was; null slots where unknown. */
  undoneSlots(seq: number): { readonly fromSlot: number | null; readonly toSlot: number | null };
}

/** `news` in ascending seq; `newest` is asked only where it has to be said. */
export function partsOf(
  name: SeriesName,
  news: readonly BarNews[],
  newest: () => NewestBar | null,
): Part[] {
  const parts: Part[] = [];
  let newestSaid = true;
  for (const group of groupBySeq(news)) {
    const [only] = group;
    if (only === undefined) continue;
    const ordinary = only.cause === 'trade' || only.cause === 'final';
    if (group.length === 1 && ordinary && only.bar !== null) {
      parts.push({ event: name.update, seq: only.seq, data: only.bar });
      newestSaid = newestSaid || only.cause === 'trade';
    } else {
      parts.push({ event: REVISED, seq: only.seq, data: revision(name, group, newest) });
      newestSaid = false;
    }
  }
  const last = parts[parts.length - 1];
  if (last !== undefined && !newestSaid) {
    parts.push({ event: name.update, seq: last.seq, data: newest()?.bar ?? null });
  }
  return parts;
}

function revision(
  { pair, interval, undoneSlots }: SeriesName,
  group: readonly BarNews[],
  newest: () => NewestBar | null,
): Json {
  const reason = group.some(({ cause }) => cause === 'rollback') ? 'rollback' : 'late';
  const revised = new Map(group.map(({ startMs, bar }) => [startMs, bar]));
  const left = group.some(({ bar }) => bar === null) ? newest() : null;
  if (left !== null) revised.set(left.startMs, left.bar);
  const bars = [...revised]
    .sort(([a], [b]) => a - b)
    .map(([startMs, bar]) => bar ?? { time: startMs / 1000, removed: true });
  const { fromSlot, toSlot } = undoneSlots(group[0]?.seq ?? 0);
  return { pair, interval, reason, fromSlot, toSlot, bars };
}

function groupBySeq(news: readonly BarNews[]): BarNews[][] {
  const groups: BarNews[][] = [];
  for (const item of news) {
    const group = groups[groups.length - 1];
    if (group !== undefined && group[0]?.seq === item.seq) group.push(item);
    else groups.push([item]);
  }
  return groups;
}
