/**
 * A plain and slow model of the fold: the list of trades that count after each entry, and all bars
 * computed from it. Knows entries (types only) and nothing else of our code.
 */
import assert from 'node:assert/strict';
import type { Entry, TradeEvent } from '../../src/engine/log/entry.ts';
import { INTERVALS, type Interval, startOf } from './model.ts';

interface Counted {
  readonly pair: string;
  readonly atMs: number;
  readonly event: TradeEvent;
}

/** Everything after one entry. */
export interface Snapshot {
  readonly trades: readonly Counted[];
  readonly marketMs: number;
  /** Blocks that were not undone: a rollback may go back to each of these, oldest first. */
  readonly blocks: readonly { readonly seq: number; readonly atMs: number }[];
  /** Seqs of blocks within the horizon, with the one before it. */
  readonly horizon: readonly number[];
  /** Text by `seriesKey start`. */
  readonly bars: ReadonlyMap<string, string>;
  /** Seq of the last change of each bar that is or was, by the same key. */
  readonly changed: ReadonlyMap<string, number>;
}

const EMPTY: Snapshot = {
  trades: [],
  marketMs: 0,
  blocks: [],
  horizon: [],
  bars: new Map(),
  changed: new Map(),
};

export function seriesKey(pair: string, interval: Interval): string {
  return `${pair} ${interval}`;
}

export class FoldModel {
  /** By seq. */
  readonly snapshots = new Map<number, Snapshot>([[0, EMPTY]]);
  /** Kind of the entry, by seq. */
  readonly kinds = new Map<number, string>();
  /** Guarantees to clients that an entry broke. */
  readonly faults: string[] = [];
  readonly #horizonBlocks: number;
  now: Snapshot = EMPTY;
  seq = 0;

  constructor(horizonBlocks: number) {
    this.#horizonBlocks = horizonBlocks;
  }

  follow(entry: Entry): void {
    const { seq, payload, timeMs } = entry;
    assert.equal(seq, this.seq + 1);
    const before = this.#before(entry);
    const trades = payload.kind === 'block' ? withTrades(before.trades, entry) : before.trades;
    const bars = barsOf(trades, timeMs);
    const from = payload.kind === 'rollback' ? this.now : before;
    const changed = new Map(from.changed);
    const differing = [...from.bars.keys(), ...bars.keys()].filter(
      (key) => from.bars.get(key) !== bars.get(key),
    );
    for (const key of differing) changed.set(key, seq);
    const point = payload.kind === 'block' || (payload.kind === 'epoch' && !payload.base);
    const atMs = payload.kind === 'block' ? payload.atMs : -1;
    this.#judge(entry, [...new Set(differing)], from.bars, bars);
    this.now = {
      trades,
      marketMs: timeMs,
      blocks: point ? [...before.blocks, { seq, atMs }] : before.blocks,
      horizon: (point ? [...before.horizon, seq] : before.horizon).slice(-this.#horizonBlocks - 1),
      bars,
      changed,
    };
    this.seq = seq;
    this.snapshots.set(seq, this.now);
    this.kinds.set(seq, payload.kind);
  }

  /** Keys of bars that changed after `seq`. */
  changedSince(pair: string, interval: Interval, seq: number): string[] {
    const prefix = `${seriesKey(pair, interval)} `;
    return [...this.now.changed]
      .filter(([key, changed]) => key.startsWith(prefix) && changed > seq)
      .map(([key]) => key);
  }

  /** Pairs that have, or ever had, a bar. */
  pairs(): string[] {
    const known = [...this.snapshots.values()].flatMap(({ trades }) => trades);
    return [...new Set(known.map(({ pair }) => pair))];
  }

  /** The expected effect of a rollback to this moment. */
  rollBack(toMs: number): { kind: 'rollback' | 'epoch' | 'nothing'; toSeq: number } {
    const target = this.now.blocks.findLast(({ atMs }) => atMs <= toMs)?.seq ?? 1;
    if (target === this.now.blocks.at(-1)?.seq) return { kind: 'nothing', toSeq: target };
    return { kind: this.now.horizon.includes(target) ? 'rollback' : 'epoch', toSeq: target };
  }

  #before({ payload }: Entry): Snapshot {
    if (payload.kind === 'rollback') {
      const target = this.snapshots.get(payload.toSeq);
      assert.ok(target !== undefined, 'a rollback names an entry');
      const horizon = this.now.horizon.filter((seq) => seq <= payload.toSeq);
      return { ...target, horizon };
    }
    if (payload.kind !== 'epoch') return this.now;
    const base = this.snapshots.get(payload.base?.seq ?? 0);
    assert.ok(base !== undefined, 'an epoch names its base');
    return base;
  }

  #judge(
    { seq, payload }: Entry,
    differing: readonly string[],
    before: ReadonlyMap<string, string>,
    after: ReadonlyMap<string, string>,
  ): void {
    if (payload.kind === 'rollback' || payload.kind === 'epoch') return;
    const series = differing.map((key) => key.slice(0, key.lastIndexOf(' ')));
    for (const name of new Set(series)) {
      const count = series.filter((other) => other === name).length;
      if (count > 1) this.faults.push(`${count} bars of ${name} changed at ${seq}`);
    }
    if (payload.kind === 'time' && payload.phase === 'end') return;
    for (const key of differing) {
      const ended = before.get(key)?.endsWith('open') && after.get(key)?.endsWith('final');
      if (ended) this.faults.push(`${key} became final at ${seq}, a ${payload.kind}`);
    }
  }
}

function withTrades(trades: readonly Counted[], { payload }: Entry): Counted[] {
  assert.ok(payload.kind === 'block');
  const known = new Set(trades.map(({ pair, event }) => `${pair} ${event.id}`));
  const added = payload.trades.map((event) => {
    return { pair: `${event.base}_${event.quote}`, atMs: payload.atMs, event };
  });
  return [
    ...trades,
    ...added.filter(({ pair, event }) => {
      const name = `${pair} ${event.id}`;
      return !known.has(name) && known.add(name);
    }),
  ];
}

/** All bars of all pairs at all intervals. */
function barsOf(trades: readonly Counted[], marketMs: number): Map<string, string> {
  const groups = new Map<string, { endMs: number; trades: Counted[] }>();
  for (const trade of trades) {
    for (const interval of INTERVALS) {
      const start = startOf(interval, trade.atMs) * 1000;
      const key = `${seriesKey(trade.pair, interval)} ${start}`;
      const group = groups.get(key);
      if (group !== undefined) group.trades.push(trade);
      else groups.set(key, { endMs: endOf(interval, start), trades: [trade] });
    }
  }
  return new Map(
    [...groups].map(([key, group]) => [key, barText(group.trades, group.endMs <= marketMs)]),
  );
}

const LENGTH_MS = { min1: 60e3, min5: 300e3, hour1: 3600e3, day1: 86_400e3, week1: 604_800e3 };

export function endOf(interval: Interval, startMs: number): number {
  if (interval !== 'month1') return startMs + LENGTH_MS[interval];
  const date = new Date(startMs);
  date.setUTCMonth(date.getUTCMonth() + 1);
  return date.getTime();
}

function barText(trades: readonly Counted[], final: boolean): string {
  const ordered = trades.toSorted(
    (a, b) =>
      a.atMs - b.atMs ||
      a.event.id.length - b.event.id.length ||
      (a.event.id < b.event.id ? -1 : 1),
  );
  const byPrice = ordered.toSorted((a, b) => {
    const difference = big(a).quote * big(b).base - big(b).quote * big(a).base;
    return difference === 0n ? 0 : difference < 0n ? -1 : 1;
  });
  const low = byPrice[0];
  // Among trades with the same price, the earliest counts. Sorting is stable, so take the first
  // with the last price.
  const high = byPrice.find((trade) => samePrice(trade, byPrice.at(-1)));
  const ends = [ordered[0], high, low, ordered.at(-1)].map((trade) => trade?.event.id);
  const base = trades.reduce((sum, trade) => sum + big(trade).base, 0n);
  const quote = trades.reduce((sum, trade) => sum + big(trade).quote, 0n);
  return `${ends.join(' ')} ${quote} ${base} ${trades.length} ${final ? 'final' : 'open'}`;
}

function big({ event }: Counted): { base: bigint; quote: bigint } {
  return { base: BigInt(event.baseAmount), quote: BigInt(event.quoteAmount) };
}

function samePrice(a: Counted, b: Counted | undefined): boolean {
  return b !== undefined && big(a).quote * big(b).base === big(b).quote * big(a).base;
}
