/**
 * A span of time, [from, to), over rows that are stored by their place in the chain. Slots differ
 * in length from chain to chain and from era to era, so the first slot of a moment is searched for
 * in the rows themselves: time never falls from one slot to the next.
 */
import Type from 'typebox';
import { type Failure, invalid } from '../../engine/runtime/errors.ts';
import type { KeyedRow, KeySpan } from '../../engine/store/keyedRows.ts';
import type { KeyedTable } from '../../engine/store/rows.ts';
import type { HeldState, Steps } from './slicedReads.ts';

const SECONDS = { minimum: 0, maximum: 253_402_300_799 };

/** Query parameters. */
export const SPAN = {
  from: Type.Optional(
    Type.Integer({ ...SECONDS, description: 'Only from this moment on, Unix seconds.' }),
  ),
  to: Type.Optional(
    Type.Integer({ ...SECONDS, description: 'Only before this moment, Unix seconds.' }),
  ),
};

export interface TimeSpan {
  readonly from?: number;
  readonly to?: number;
}

export function refuseSpan({ from, to }: TimeSpan): Failure | null {
  if (from === undefined || to === undefined || from < to) return null;
  return invalid('query.from', '`from` must be before `to`: a span holds what is in [from, to)');
}

/** Lists of one table whose keys are `<list>/<place in the chain>`. */
interface PlacedLists {
  readonly rows: HeldState['rows'];
  readonly table: KeyedTable;
  readonly lists: readonly string[];
  timeMs(row: KeyedRow): number;
}

/** The first and the last key within the span, valid for all lists. */
export function* placesOf({ from, to }: TimeSpan, lists: PlacedLists): Steps<KeySpan> {
  return {
    ...(from === undefined ? {} : { from: yield* firstPlace(lists, from * 1000) }),
    ...(to === undefined ? {} : { to: yield* firstPlace(lists, to * 1000) }),
  };
}

/** The same as keys of one list. */
export function keysOf(list: string, { from, to }: KeySpan): KeySpan {
  return {
    ...(from === undefined ? {} : { from: `${list}/${from}` }),
    ...(to === undefined ? {} : { to: `${list}/${to}` }),
  };
}

const SLOT_DIGITS = 12;
const END_SLOT = 10 ** SLOT_DIGITS - 1;

/** Rows of all lists from `atMs` on have this place or a later one, and no others have. */
function* firstPlace({ rows, table, lists, timeMs }: PlacedLists, atMs: number): Steps<string> {
  // Rows before `start` are older than `atMs`, rows from `end` on are not.
  let [start, end] = [0, END_SLOT];
  for (const list of lists) {
    let [low, high] = [start, end];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const from = `${list}/${placeOf(middle)}`;
      const query = { order: 'ascending', offset: 0, limit: 1, from } as const;
      const [row] = rows.pages(table)(`${list}/`, query);
      const slot = row === undefined ? END_SLOT : slotOf(list, row);
      if (row === undefined || slot >= high) high = middle;
      else if (timeMs(row) < atMs) low = start = slot + 1;
      else {
        end = slot;
        high = middle;
      }
    }
    yield;
  }
  return placeOf(end);
}

function placeOf(slot: number): string {
  return String(slot).padStart(SLOT_DIGITS, '0');
}

function slotOf(list: string, { key }: KeyedRow): number {
  const at = list.length + 1;
  return Number(key.slice(at, at + SLOT_DIGITS));
}
