/**
 * Bars as they are now: unwritten bars are overlaid on the stored ones. Before a bar of a pair is
 * read or changed, bars whose end market time has passed are made final (`BarEnds`).
 */
import {
  FOREVER_MS,
  intervalStart,
  type Resolution,
  STORED_RESOLUTION_IDS,
} from '../market/resolution.ts';
import { type Clock, nextTurn } from '../runtime/clock.ts';
import {
  type BarRow,
  type BarSlot,
  type BarValue,
  barReads,
  type OpenBar,
  type SettledBars,
  settledBars,
} from './barRows.ts';
import type { Database } from './database.ts';
import {
  type BarEnds,
  type BarOwner,
  type PairWrites,
  type PendingBars,
  rowOf,
} from './pendingBars.ts';
import type { PendingWrites } from './pendingWrites.ts';

/** Ends that wait beside each other: each is looked at when a pair is read. */
const MAX_WAITING_ENDS = 8;
/** Pairs whose bars are ended in one turn of the loop: less than a millisecond. */
const ENDS_A_TURN = 48;
/** Far more than lateness can leave open at once. */
const MAX_OPEN_BARS = 10_000;

interface Stages {
  /** Takes rows now. */
  readonly newest: () => PendingWrites;
  /** Rows handed over to be written, not acknowledged yet. */
  readonly inFlight: () => PendingWrites | null;
}

export class BarsView {
  readonly #reads;
  readonly #settled;
  readonly #newest: () => PendingWrites;
  readonly #inFlight: () => PendingWrites | null;
  /** No bar that ended before this moment has changed in order since `seq`; -1: cannot tell. */
  readonly #oldestMarketMsSince: (seq: number) => number;
  /** Pairs whose bars are being ended: reads for this purpose get their earlier bars. */
  readonly #ending = new Set<number>();

  constructor(
    database: Database,
    { newest, inFlight }: Stages,
    oldestMarketMsSince: (seq: number) => number,
  ) {
    this.#reads = barReads(database);
    this.#settled = settledBars(database);
    this.#newest = newest;
    this.#inFlight = inFlight;
    this.#oldestMarketMsSince = oldestMarketMsSince;
  }

  /** Where the bars that `owner` changes from now on are staged, until it is closed. */
  writesOfPair(pair: number, owner: BarOwner): PairWrites {
    const stage = this.#newest();
    // It is about to change bars that may still wait to be encoded.
    this.#inFlight()?.bars.find(pair)?.encode();
    const staged = stage.bars.of(pair);
    staged.owner = owner;
    stage.noteBars();
    return staged;
  }

  stageEnds(ends: BarEnds): void {
    const stage = this.#newest();
    stage.addEnds(ends);
    for (const pair of stage.bars.endedBeforeLast(MAX_WAITING_ENDS)) this.endBars(pair);
  }

  /** Some wait to be put into the bars of this pair. */
  hasEnds(pair: number): boolean {
    return this.#newest().bars.hasEnds(pair) || this.#inFlight()?.bars.hasEnds(pair) === true;
  }

  endBars(pair: number): void {
    if (!this.hasEnds(pair) || this.#ending.has(pair)) return;
    const waiting = this.#inFlight()?.bars;
    const { bars } = this.#newest();
    this.#ending.add(pair);
    try {
      waiting?.endBars(pair);
      if (!bars.hasEnds(pair)) return;
      waiting?.find(pair)?.encode();
      bars.endBars(pair);
    } finally {
      this.#ending.delete(pair);
    }
  }

  /** The bar that starts at `start`, or its tombstone, or null. */
  one(pair: number, resolution: number, start: number): BarRow | null {
    const staged = this.#staged(pair, resolution, start);
    return staged === undefined ? this.#reads.one(pair, resolution, start) : rowOf(staged);
  }

  /** The same, of a bar that is not written yet as its pair changes it, without making a text. */
  value(pair: number, resolution: number, start: number): BarValue {
    const staged = this.#staged(pair, resolution, start);
    return (staged ?? this.#reads.one(pair, resolution, start))?.value ?? null;
  }

  /** Bars that start in [from, to), newest first. */
  range(pair: number, resolution: number, from: number, to: number, limit: number): BarRow[] {
    const more = limit + this.#stagedOf(pair);
    const stored = this.#reads.range(pair, resolution, from, to, more);
    const inside = ({ start, isThere }: { start: number; isThere: boolean }) =>
      isThere && start >= from && start < to;
    const rows = this.#overlay(pair, resolution, stored, inside);
    return rows.sort((a, b) => b.start - a.start).slice(0, limit);
  }

  /** See `StateStore.settledBars`. */
  settled(
    pair: number,
    resolution: number,
    { from, to }: { readonly from: number; readonly to: number },
    most: number,
  ): SettledBars | null {
    const inside = ({ start }: { start: number }) => start >= from && start < to;
    const waiting = this.#overlay(pair, resolution, [], inside);
    if (waiting.length > 0) return null;
    return this.#settled(pair, resolution, from, to, most);
  }

  /** Makes all bars of a stage final whose end has passed. No `clock`: in one turn of the loop. */
  async endAll({ bars }: PendingWrites, clock?: Clock): Promise<void> {
    let ended = 0;
    for (let pair = bars.nextEnded(); pair !== null; pair = bars.nextEnded()) {
      this.endBars(pair);
      ended += 1;
      if (ended % ENDS_A_TURN === 0 && clock !== undefined) await nextTurn(clock);
    }
  }

  /** Bars and tombstones last changed after `seq`, oldest change first. */
  changedSince(pair: number, resolution: Resolution, seq: number, limit: number): BarRow[] {
    const index = STORED_RESOLUTION_IDS[resolution];
    const from = intervalStart(resolution, Math.max(0, this.#oldestMarketMsSince(seq)));
    const more = limit + this.#stagedOf(pair);
    const stored = this.#reads.changedSince(pair, index, seq, from, more);
    const rows = this.#overlay(pair, index, stored, (row) => row.seq > seq);
    return rows.sort((a, b) => a.seq - b.seq || a.start - b.start).slice(0, limit);
  }

  /** Bars of all pairs that are not final, as committed. */
  allOpen(): OpenBar[] {
    return this.#reads.allOpen();
  }

  /** Bars whose interval has not ended at `marketMs`, the same as the bars that are not final. */
  open(pair: number, resolution: Resolution, marketMs: number): BarRow[] {
    const from = intervalStart(resolution, marketMs);
    return this.range(pair, STORED_RESOLUTION_IDS[resolution], from, FOREVER_MS, MAX_OPEN_BARS);
  }

  #staged(pair: number, resolution: number, start: number): BarSlot | undefined {
    for (const { bars } of this.#stagesOf(pair)) {
      const staged = bars.get(pair, resolution, start);
      if (staged !== undefined) return staged;
    }
    return undefined;
  }

  /** The stages that hold the pair's newest bars, newest first. */
  #stagesOf(pair: number): readonly PendingWrites[] {
    this.endBars(pair);
    const inFlight = this.#inFlight();
    return inFlight === null ? [this.#newest()] : [this.#newest(), inFlight];
  }

  #stagedOf(pair: number): number {
    return this.#stagesOf(pair).reduce((count, stage) => count + stage.bars.count(pair), 0);
  }

  #overlay(
    pair: number,
    resolution: number,
    stored: readonly BarRow[],
    wanted: Parameters<PendingBars['overlay']>[3],
  ): BarRow[] {
    return this.#stagesOf(pair)
      .toReversed()
      .reduce<BarRow[]>(
        (rows, stage) => stage.bars.overlay(pair, resolution, rows, wanted),
        [...stored],
      );
  }
}
