/**
 * Ids of pairs, for rows: given once, in order, and kept for ever. A pair that a rollback took away
 * and that trades again finds its tombstones, and nobody else's bars stand under its id.
 */
import type { RowChange, RowImage } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';

const COUNT = 'pairs';
const PREFIX = 'id:';

/** The id of a pair; a new one goes to `changes`, which hold what this entry gave already. */
export function pairId(name: string, store: StateStore, changes: RowChange[]): number {
  const key = `${PREFIX}${name}`;
  const given = store.get('market', key);
  if (given !== null) return Number(given);
  const drafted = changes.filter((change) => change.key.startsWith(PREFIX)).length;
  const count = Number(store.get('market', COUNT) ?? 0) + drafted;
  const after = String(count + 1);
  const row = { table: 'market', after, cause: 'trade' } as const;
  changes.push({ ...row, key: COUNT, before: count === 0 ? null : String(count) });
  changes.push({ ...row, key, before: null });
  return count + 1;
}

/** The pair has been there once, whatever was rolled back since. */
export function wasKnown(name: string, store: StateStore): boolean {
  return store.get('market', `${PREFIX}${name}`) !== null;
}

/** What no rollback takes back. */
export function isPermanent({ table, key }: RowImage): boolean {
  return table === 'market' && (key === COUNT || key.startsWith(PREFIX));
}
