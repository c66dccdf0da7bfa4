/**
 * A batch in parts for the writer's thread: to hand over a large one at once would hold the loop
 * for as long as it takes to copy it.
 */
import type { Batch } from './batch.ts';
import type { KeyedTable } from './rows.ts';

type Texts = 'restored' | 'bars' | 'keyed' | 'changeIndex' | 'records';

/** A batch without its texts, and how many pieces each of them has. */
export interface BatchHead extends Omit<Batch, Texts> {
  readonly restored: number;
  readonly bars: number;
  readonly keyed: readonly (readonly [table: KeyedTable, pieces: number])[];
  readonly changeIndex: number;
  readonly records: number;
}

export function takeApart(batch: Batch): { readonly head: BatchHead; readonly pieces: string[] } {
  const { restored, bars, keyed, changeIndex, records } = batch;
  const tables = keyed.map(([, text]) => text);
  const head: BatchHead = {
    ...batch,
    restored: restored.length,
    bars: bars.length,
    keyed: keyed.map(([table, text]) => [table, text.length]),
    changeIndex: changeIndex.length,
    records: records.length,
  };
  return { head, pieces: [restored, bars, ...tables, changeIndex, records].flat() };
}

/** `pieces` in the order of `takeApart`. */
export function putTogether(head: BatchHead, pieces: readonly string[]): Batch {
  let from = 0;
  const next = (count: number) => {
    from += count;
    return pieces.slice(from - count, from);
  };
  return {
    ...head,
    restored: next(head.restored),
    bars: next(head.bars),
    keyed: head.keyed.map(([table, count]) => [table, next(count)] as const),
    changeIndex: next(head.changeIndex),
    records: next(head.records),
  };
}
