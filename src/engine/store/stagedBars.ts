/**
 * Bars that wait to be written, and how a read of the table looks through them. With this no read
 * has to commit first, so a full disk never stops a reader.
 */
import { type BarRow, parseBarKey } from './barRows.ts';
import type { Cause } from './rows.ts';

export interface StagedBar extends BarRow {
  readonly resolution: number;
  /** A rollback was among the changes since the last commit: a final bar may be open again. */
  readonly undone: boolean;
}

export class StagedBars {
  readonly #pairs = new Map<number, Map<string, StagedBar>>();

  set(
    key: string,
    row: { value: string | null; seq: number; cause: Cause; undone?: boolean },
  ): void {
    const { pair, resolution, start } = parseBarKey(key);
    let bars = this.#pairs.get(pair);
    if (bars === undefined) {
      bars = new Map();
      this.#pairs.set(pair, bars);
    }
    const undone =
      row.cause === 'rollback' || row.undone === true || bars.get(key)?.undone === true;
    bars.set(key, { ...row, resolution, start, undone });
  }

  get(pair: number, key: string): BarRow | undefined {
    return this.#pairs.get(pair)?.get(key);
  }

  *entries(): Generator<[string, StagedBar]> {
    for (const bars of this.#pairs.values()) yield* bars;
  }

  /** How many rows a read of the table may lose to what is staged. */
  count(pair: number): number {
    return this.#pairs.get(pair)?.size ?? 0;
  }

  /** `stored` as it will be once written: staged rows take the place of stored ones. */
  overlay(
    pair: number,
    resolution: number,
    stored: readonly BarRow[],
    wanted: (row: BarRow) => boolean,
  ) {
    const bars = this.#pairs.get(pair);
    if (bars === undefined) return [...stored];
    const staged = [...bars.values()].filter((row) => row.resolution === resolution);
    const replaced = new Set(staged.map((row) => row.start));
    return [...stored.filter((row) => !replaced.has(row.start)), ...staged.filter(wanted)];
  }
}
