/**
 * Changes of a bar series as frames. Ordinary updates never go back in time: they carry the newest
 * bar as it trades, ends, and gives way to the next. All else (a trade for an older bar, the end of
 * an older bar, a rollback) is a revision.
 *
 * One position, one frame with news: a client ignores a second frame at a position it has. So bars
 * that changed at one position travel in one `BarsRevised`; where the newest bar is among them, an
 * ordinary update with it follows for clients that know no other event. One answer, one
 * `BarsRevised`: from the first revision to the last, the updates between included. If bars at the
 * end of the series were removed, the frame also has the newest remaining bar, because the client
 * may know only removed bars.
 */

import type { ChartResolution } from '../../engine/market/resolution.ts';
import type { Json } from '../../engine/runtime/json.ts';
import type { ChangeCause } from '../../engine/store/rows.ts';
import type { Part } from '../topics/port.ts';

/** One changed bar, rendered; `bar` is null when it was removed. */
export interface BarNews<Shown extends Json = Json> {
  readonly startMs: number;
  readonly seq: number;
  readonly cause: ChangeCause;
  readonly bar: Shown | null;
}

export interface NewestBar<Shown extends Json = Json> {
  readonly startMs: number;
  /** As an update would say it. */
  readonly bar: Shown;
}

export interface Rollback {
  readonly fromSlot: number | null;
  readonly toSlot: number | null;
}

interface SeriesName<Update extends string = string> {
  /** Event of ordinary updates. */
  readonly update: Update;
  readonly pair: string;
  readonly interval: ChartResolution;
}

/** Data of `BarsRevised`. */
interface RevisionFields<Shown extends Json> {
  readonly pair: string;
  readonly interval: ChartResolution;
  readonly reason: 'rollback' | 'late' | 'final';
  readonly fromSlot: number | null;
  readonly toSlot: number | null;
  readonly bars: readonly (Shown | { readonly time: number; readonly removed: true })[];
}

type Revision<Shown extends Json> = {
  readonly [Field in keyof RevisionFields<Shown>]: RevisionFields<Shown>[Field];
};

export type BarPart<Update extends string, Shown extends Json> =
  | Part<Update, Shown | null>
  | Part<'BarsRevised', Revision<Shown>>;

/** Bars that are said in one frame. */
interface Step<Shown extends Json> {
  /** The frame completes the subscription up to here. */
  readonly seq: number;
  readonly news: readonly BarNews<Shown>[];
  readonly isRevision: boolean;
}

/**
 * `news` in ascending seq. `rollback`: the newest one among the positions that are reported; the
 * client may know bars newer than the remaining ones, so every change is one revision. `newest` is
 * asked only where it has to be said.
 */
export function partsOf<Update extends string, Shown extends Json>(
  name: SeriesName<Update>,
  news: readonly BarNews<Shown>[],
  rollback: Rollback | null,
  newest: () => NewestBar<Shown> | null,
): BarPart<Update, Shown>[] {
  if (news.length === 0) return [];
  const steps = stepsOf(news);
  const told = rollback === null ? mergeRevisions(steps) : [merged(steps)];
  return told.flatMap(({ seq, news: bars, isRevision }): BarPart<Update, Shown>[] => {
    if (!isRevision) return bars.map(({ bar }) => ({ event: name.update, seq, data: bar }));
    const last = newest();
    const isNewestSaid = concerns(bars, last);
    const all = isNewestSaid ? withNewest(bars, last) : bars;
    const data = revision(name, all, rollback);
    const revised = { event: 'BarsRevised', seq, data } as const;
    if (!isNewestSaid) return [revised];
    // Nothing is left: the empty state, which counts though it has the position of the revision.
    if (last === null) return [revised, { event: name.update, seq, data: null, isSnapshot: true }];
    return [revised, { event: name.update, seq, data: last.bar }];
  });
}

function stepsOf<Shown extends Json>(news: readonly BarNews<Shown>[]): Step<Shown>[] {
  const steps: { seq: number; news: BarNews<Shown>[]; isRevision: boolean }[] = [];
  for (const item of news) {
    const last = steps[steps.length - 1];
    const isOrdinary = (item.cause === 'trade' || item.cause === 'final') && item.bar !== null;
    if (last === undefined || last.seq !== item.seq) {
      steps.push({ seq: item.seq, news: [item], isRevision: !isOrdinary });
    } else {
      last.news.push(item);
      last.isRevision = true;
    }
  }
  return steps;
}

/**
 * From the first revision to the last as one, at the position of the last: a client that has part
 * of it already ignores entries at or below its own position.
 */
function mergeRevisions<Shown extends Json>(steps: readonly Step<Shown>[]): Step<Shown>[] {
  const first = steps.findIndex(({ isRevision }) => isRevision);
  const last = steps.findLastIndex(({ isRevision }) => isRevision);
  if (first === last) return [...steps];
  const between = merged(steps.slice(first, last + 1));
  return [...steps.slice(0, first), between, ...steps.slice(last + 1)];
}

function merged<Shown extends Json>(steps: readonly Step<Shown>[]): Step<Shown> {
  const news = steps.flatMap((step) => step.news);
  return { seq: steps.at(-1)?.seq ?? 0, news, isRevision: true };
}

/** The newest bar is among those revised, or it is the newest because they were removed. */
function concerns(bars: readonly BarNews[], newest: NewestBar | null): boolean {
  const newestMs = newest?.startMs ?? Number.NEGATIVE_INFINITY;
  return bars.some(({ startMs, bar }) => {
    return startMs === newestMs || (bar === null && startMs > newestMs);
  });
}

function withNewest<Shown extends Json>(
  bars: readonly BarNews<Shown>[],
  newest: NewestBar<Shown> | null,
): readonly BarNews<Shown>[] {
  if (newest === null) return bars;
  // If the bar of a launch returns at the start of a removed traded bar, it replaces that bar.
  const isThere = ({ startMs, bar }: BarNews<Shown>) => startMs === newest.startMs && bar !== null;
  if (bars.some(isThere)) return bars;
  const others = bars.filter(({ startMs }) => startMs !== newest.startMs);
  return [...others, { ...newest, seq: 0, cause: 'rollback' }];
}

function revision<Shown extends Json>(
  { pair, interval }: SeriesName,
  news: readonly BarNews<Shown>[],
  rollback: Rollback | null,
): Revision<Shown> {
  const bars = [...news]
    .sort((a, b) => a.startMs - b.startMs)
    .map(({ startMs, bar }) => bar ?? ({ time: startMs / 1000, removed: true } as const));
  const { fromSlot = null, toSlot = null } = rollback ?? {};
  return { pair, interval, reason: reasonOf(news, rollback), fromSlot, toSlot, bars };
}

function reasonOf(news: readonly BarNews[], rollback: Rollback | null): Revision<Json>['reason'] {
  const has = (cause: ChangeCause) => news.some((item) => item.cause === cause);
  if (rollback !== null || has('rollback')) return 'rollback';
  return has('final') || has('lateFinal') ? 'final' : 'late';
}
