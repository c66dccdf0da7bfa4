/**
 * Launches that a rollback takes away. A token without trades is shown with a bar that is never
 * stored (`api/charts/launch.ts`), so nothing of it would be left to tell clients that it is gone:
 * it leaves a tombstone in each series, as stored bars do.
 */

import { COIN } from '../market/asset.ts';
import { MARKET_CAP, pairName } from '../market/pair.ts';
import { intervalStart, RESOLUTIONS, STORED_RESOLUTION_IDS } from '../market/resolution.ts';
import { type BarSlot, barKey } from '../store/barRows.ts';
import type { PoolRecord } from '../store/records.ts';
import { type RowChange, recordOf } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { givenId } from './pairIds.ts';

/** Those that `bars`, which the rollback puts back, do not hold already. */
export function launchTombstones(
  restored: readonly RowChange[],
  bars: readonly BarSlot[],
  seq: number,
  store: StateStore,
): BarSlot[] {
  const gone = restored.filter(({ table, after }) => table === 'pools' && after === null);
  if (gone.length === 0) return [];
  const known = new Set(bars.map(keyOf));
  return gone.flatMap(({ key: token, before }) => {
    if (before === null) return [];
    const { createdMs } = recordOf<PoolRecord>(before);
    const pairs = [COIN, MARKET_CAP].map((quote) => givenId(pairName(token, quote), store));
    return pairs.flatMap((pair) => {
      if (pair === null) return [];
      const slots = RESOLUTIONS.map((resolution): BarSlot => {
        const start = intervalStart(resolution, createdMs);
        const place = { pair, resolution: STORED_RESOLUTION_IDS[resolution], start };
        return { ...place, value: null, seq, cause: 'rollback' };
      });
      return slots.filter((slot) => !known.has(keyOf(slot)));
    });
  });
}

function keyOf({ pair, resolution, start }: BarSlot): string {
  return barKey(pair, resolution, start);
}
