/**
 * Bars as they were after an entry. A commit leaves what its bars were before it; the trades that
 * its first entries counted lead from there to any entry within it. Adding trades commutes, and a
 * bar is final once market time has passed its end, so nothing else needs to be known.
 */
import { addTrade, type Bar, firstBar } from '../market/bar.ts';
import { decodeBar, encodeBar } from '../market/barText.ts';
import {
  intervalEnd,
  intervalStart,
  RESOLUTIONS,
  STORED_RESOLUTION_IDS,
  storedResolution,
} from '../market/resolution.ts';
import type { Trade } from '../market/trade.ts';
import { Fault } from '../runtime/assert.ts';
import { barKey, parseBarKey } from './barRows.ts';
import type { RowImage } from './rows.ts';
import type { PairTrade, UndoRecord } from './undoRows.ts';

export interface UndoneCommit {
  /** Records of its entries, in order. */
  readonly records: readonly UndoRecord[];
  /** Values of its bars before it, by key; null: not there. */
  readonly bars: ReadonlyMap<string, string | null>;
}

/**
 * All bars that changed after entry `toSeq`, as they were after it. `commits` are the commits from
 * that entry on, in order.
 */
export function imagesOfBars(toSeq: number, commits: readonly UndoneCommit[]): RowImage[] {
  const images = new Map<string, string | null>();
  let marketMs = 0;
  for (const commit of commits) {
    const { records } = commit;
    marketMs = records.findLast(({ seq }) => seq <= toSeq)?.marketMs ?? marketMs;
    for (const [key, value] of barsBefore(toSeq, commit, marketMs)) {
      if (!images.has(key)) images.set(key, value);
    }
    marketMs = records.at(-1)?.marketMs ?? marketMs;
  }
  // Sorted: when commits were made is not the same on all nodes.
  const keys = [...images.keys()].sort();
  return keys.map((key) => ({ table: 'bars', key, value: images.get(key) ?? null }));
}

/**
 * Values of the bars that the commit changed after `toSeq`, at market time `marketMs`. The commit
 * may name more bars, whose changes were undone before.
 */
function barsBefore(
  toSeq: number,
  { records, bars }: UndoneCommit,
  marketMs: number,
): Map<string, string | null> {
  const kept = tradesByBar(records.filter(({ seq }) => seq <= toSeq));
  const undone = tradesByBar(records.filter(({ seq }) => seq > toSeq));
  const lastMs = records.at(-1)?.marketMs ?? 0;
  const images = new Map<string, string | null>();
  for (const [key, before] of bars) {
    const { resolution, start } = parseBarKey(key);
    const name = storedResolution(resolution);
    if (name === null) continue;
    const endMs = intervalEnd(name, start);
    const bar = withTrades(start, before, kept.get(key) ?? []);
    const ended = bar !== null && !bar.final && endMs > marketMs && endMs <= lastMs;
    if (!ended && !undone.has(key)) continue;
    if (bar !== null && endMs <= marketMs) bar.final = true;
    images.set(key, bar === null ? null : encodeBar(bar));
  }
  for (const key of undone.keys()) {
    if (!bars.has(key)) throw new Fault('damagedFile', `the image of the bar ${key} is missing`);
  }
  return images;
}

function tradesByBar(records: readonly UndoRecord[]): Map<string, Trade[]> {
  const groups = new Map<string, Trade[]>();
  const add = ({ pair, trade }: PairTrade) => {
    for (const resolution of RESOLUTIONS) {
      const start = intervalStart(resolution, trade.timeMs);
      const key = barKey(pair, STORED_RESOLUTION_IDS[resolution], start);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [trade]);
      else group.push(trade);
    }
  };
  for (const { trades } of records) for (const one of trades) add(one);
  return groups;
}

function withTrades(start: number, before: string | null, trades: readonly Trade[]): Bar | null {
  let bar = before === null ? null : decodeBar(start, before);
  for (const trade of trades) {
    if (bar === null) bar = firstBar(start, trade);
    else addTrade(bar, trade);
  }
  return bar;
}
