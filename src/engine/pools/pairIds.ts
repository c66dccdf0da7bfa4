/**
 * Ids of pairs, for rows: assigned once, in order, and permanent. A pair that a rollback removed
 * and that trades again finds its tombstones, and its id never holds the bars of another pair. So
 * the rows that a rollback restores (`imagesBefore`) leave out the rows of ids.
 */

import { assert } from '../runtime/assert.ts';
import type { RowChange, RowImage } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';

const COUNT = 'pairs';
const PREFIX = 'id:';

/** The id of a pair; a new id goes to `changes`, which hold the ids that this entry gave before. */
export function pairId(name: string, store: StateStore, changes: RowChange[]): number {
  const given = givenId(name, store);
  if (given !== null) return given;
  const drafted = changes.filter((change) => change.key.startsWith(PREFIX)).length;
  const count = pairCount(store) + drafted;
  const after = String(count + 1);
  const row = { table: 'market', after, cause: 'trade' } as const;
  changes.push({ ...row, key: COUNT, before: count === 0 ? null : String(count) });
  changes.push({ ...row, key: `${PREFIX}${name}`, before: null });
  return count + 1;
}

/** How many ids were given before this entry; the largest of them. */
function pairCount(store: StateStore): number {
  return Number(store.get('market', COUNT) ?? 0);
}

/** The id of a pair that once existed, even if it was rolled back since; null: it never was. */
export function givenId(name: string, store: StateStore): number | null {
  const given = store.get('market', `${PREFIX}${name}`);
  return given === null ? null : Number(given);
}

/** Rows that no rollback undoes. */
function isPermanent({ table, key }: RowImage): boolean {
  return table === 'market' && (key === COUNT || key.startsWith(PREFIX));
}

/** Rows as they were after entry `toSeq`, which a rollback restores. Everything is committed. */
export function imagesBefore(toSeq: number, store: StateStore): RowImage[] {
  assert(
    toSeq >= store.horizonSeq,
    `a rollback to ${toSeq} is within HORIZON_BLOCKS: set it as high as when it was written`,
  );
  return store.imagesAfter(toSeq).filter((image) => !isPermanent(image));
}
