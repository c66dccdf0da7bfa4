/**
 * Applies the part of an entry that is not trades: rows of a chain and of the mempool, and the
 * stream changes of a rollback. Updates the copies in memory, so they are right after every entry.
 */

import { PoolDirectory } from '../directory/directory.ts';
import type { BlockPayload, MempoolPayload } from '../log/entry.ts';
import { COIN } from '../market/asset.ts';
import type { Reserves } from '../market/events.ts';
import { MARKET_CAP, pairName } from '../market/pair.ts';
import { intervalStart, RESOLUTIONS, STORED_RESOLUTION_IDS } from '../market/resolution.ts';
import { givenId } from '../pools/pairIds.ts';
import type { PoolActors } from '../pools/poolActors.ts';
import { type BarSlot, barKey } from '../store/barRows.ts';
import { MAX_POOLS, type PointRecord, type PoolRecord } from '../store/records.ts';
import {
  KEYED_TABLES,
  type KeyedTable,
  type RowChange,
  type RowValue,
  recordOf,
} from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { type ChainTrades, foldChainBlock, noteOpenOrderChanges, TIP } from './chainRows.ts';
import {
  foldMempool,
  MempoolIndex,
  notePendingOrderChanges,
  settleMempool,
} from './mempoolRows.ts';
import { isVenueChange, noteOrderRollback } from './orderRows.ts';
import type { RowDraft } from './rowDraft.ts';
import { LAUNCHES_TAG, noteLaunch, notePoolChange, tradesTag } from './streamTags.ts';

const MAX_WAITING = 1_000_000;
/** Row of `market`: the last rollback, from the tip it took away to the one it left. */
const UNDONE = 'undone';

interface UndoneSlots {
  readonly fromSlot: number | null;
  readonly toSlot: number | null;
}

interface LastRollback extends UndoneSlots {
  readonly seq: number;
  /** How many blocks it took away; null without a chain. */
  readonly blocks: number | null;
}

/** The newest rollback that holds; null where there was none. */
export function lastRollback(store: StateStore): LastRollback | null {
  return store.record<LastRollback>('market', UNDONE);
}

/** Slots that the rollback of entry `seq` undid; null slots where a later one hides it. */
export function undoneSlots(store: StateStore, seq: number): UndoneSlots {
  const last = lastRollback(store);
  if (last?.seq !== seq) return { fromSlot: null, toSlot: null };
  return { fromSlot: last.fromSlot, toSlot: last.toSlot };
}

/** The parts of a chain's market that are kept in memory; always as at the applied position. */
export class ChainFold {
  readonly directory: PoolDirectory;
  readonly mempool: MempoolIndex;

  constructor(store: StateStore, actors: PoolActors) {
    const pools = store.withPrefix('pools', '', MAX_POOLS);
    this.directory = new PoolDirectory(actors, pools, store.checkpoint?.seq ?? 0);
    this.mempool = new MempoolIndex(store.withPrefix('mempool', '', MAX_WAITING));
  }

  foldBlock(payload: BlockPayload, seq: number, marketMs: number, rows: RowDraft): ChainTrades {
    const trades = foldChainBlock(payload, seq, marketMs, rows);
    if (payload.chain !== undefined) settleMempool(payload.chain, seq, rows, this.mempool);
    this.#notePendingOrders(rows.changes('pools'), rows);
    for (const table of IN_MEMORY) this.update(rows.changes(table), seq);
    this.#markCrowned(payload.atMs, seq, rows);
    return trades;
  }

  foldMempool(payload: MempoolPayload, seq: number, rows: RowDraft): void {
    foldMempool(payload, seq, rows, this.mempool);
    this.update(rows.changes('mempool'), seq);
  }

  /** Applies rows that a rollback restored, and records the stream changes. */
  foldRollback(restored: readonly RowChange[], seq: number, rows: RowDraft): void {
    for (const change of restored) ROLLBACK_OF[change.table].notify(change, seq, rows);
    this.#notePendingOrders(restored, rows);
    const tip = restored.find(({ table, key }) => table === 'market' && key === TIP);
    // A replay has no tip and no slots.
    const fromSlot = tip === undefined ? null : slotOf(tip.before);
    const toSlot = tip === undefined ? null : slotOf(tip.after);
    const blocks = tip === undefined ? null : heightOf(tip.before) - heightOf(tip.after);
    rows.put('market', UNDONE, { seq, fromSlot, toSlot, blocks });
    this.update(restored, seq);
  }

  /** Rows as they are after entry `seq`. */
  update(changes: readonly RowChange[], seq: number): void {
    for (const change of changes) UPDATE_OF[change.table]?.(this, change, seq);
  }

  /**
   * Updates where pending orders would fill, as for orders in blocks. When a token starts or
   * ceases to exist, its feed gains or loses its pending orders.
   */
  #notePendingOrders(changes: readonly RowChange[], rows: RowDraft): void {
    for (const { table, key, before, after } of changes) {
      if (table !== 'pools' || venueOf(before) === venueOf(after)) continue;
      notePendingOrderChanges(rows, key, this.mempool);
    }
  }

  /** The pool on top after a block has been there from now on. */
  #markCrowned(atMs: number, seq: number, rows: RowDraft): void {
    const top = this.directory.top();
    if (top === null || top.pool.crownedMs !== null) return;
    // It may have been there before its history begins here.
    if (top.pool.sinceSlot !== null) return;
    const { token } = top.pool;
    rows.put('pools', token, { ...top.pool, crownedMs: atMs });
    notePoolChange(rows, token);
    this.update(rows.changes('pools'), seq);
  }
}

/** Tables of which copies are in memory, pools first, and how a changed row changes its copy. */
const UPDATE_OF: Readonly<
  Partial<Record<KeyedTable, (market: ChainFold, change: RowChange, seq: number) => void>>
> = {
  pools: ({ directory }, { key, after }, seq) => directory.set(key, after, seq),
  mempool: ({ mempool }, { key, after }) => mempool.set(key, after),
  lock_index: ({ directory }, { key }, seq) => {
    const [kind, token = ''] = key.split('/');
    if (kind === 'token') directory.markChanged(token, seq);
  },
};
const IN_MEMORY = KEYED_TABLES.filter((table) => UPDATE_OF[table] !== undefined);

function venueOf(pool: RowValue | null): Reserves['venue'] | null {
  return pool === null ? null : recordOf<PoolRecord>(pool).reserves.venue;
}

/** 0 before the first block. */
function heightOf(point: RowValue | null): number {
  return point === null ? 0 : recordOf<PointRecord>(point).height;
}

function slotOf(point: RowValue | null): number | null {
  return point === null ? null : recordOf<PointRecord>(point).slot;
}

/** The effect of a row's rollback on streams. */
interface RollbackOfRow {
  /** The rollback also reads the value that it takes away: `notify` or the slots need it. */
  readonly readsBefore: boolean;
  notify(change: RowChange, seq: number, rows: RowDraft): void;
}

const SILENT: RollbackOfRow = { readsBefore: false, notify: () => undefined };

/** Every table has its line, so that a new one cannot be forgotten. */
export const ROLLBACK_OF: Readonly<Record<KeyedTable, RollbackOfRow>> = {
  pairs: SILENT,
  trade_ids: SILENT,
  feeds: SILENT,
  market: { ...SILENT, readsBefore: true },
  points: SILENT,
  outputs: SILENT,
  pools: { readsBefore: true, notify: notifyOfPool },
  orders: {
    readsBefore: true,
    notify: (change, seq, rows) => noteOrderRollback(rows, seq, change),
  },
  open_orders: SILENT,
  order_index: SILENT,
  order_outputs: SILENT,
  beacons: SILENT,
  trades: { readsBefore: false, notify: notifyOfTrade },
  holdings: SILENT,
  holders: SILENT,
  balances: SILENT,
  holder_tokens: SILENT,
  holder_ranks: SILENT,
  traders: SILENT,
  token_traders: SILENT,
  counts: SILENT,
  locks: SILENT,
  lock_index: { readsBefore: false, notify: notifyOfLock },
  mempool: SILENT,
  dropped: SILENT,
};

function notifyOfPool({ key, before, after }: RowChange, _seq: number, rows: RowDraft): void {
  notePoolChange(rows, key);
  const launch = before ?? after;
  if (before === null || after === null) {
    if (launch !== null) notifyOfLaunch(recordOf<PoolRecord>(launch), rows);
    return;
  }
  const [is, was] = [recordOf<PoolRecord>(before), recordOf<PoolRecord>(after)];
  if (is.graduatedMs !== was.graduatedMs) rows.tags.add(LAUNCHES_TAG);
  if (isVenueChange(is.reserves, was.reserves)) noteOpenOrderChanges(rows, key);
}

function notifyOfLaunch(pool: PoolRecord, rows: RowDraft): void {
  rows.tags.add(LAUNCHES_TAG);
  // The launch of the others came before the first block that was followed.
  if (pool.launchHeight !== null) noteLaunch(rows, pool);
}

function notifyOfTrade({ key }: RowChange, _seq: number, rows: RowDraft): void {
  const [token = '', trade = ''] = key.split('/');
  rows.noteChange(tradesTag(token), trade);
}

function notifyOfLock({ key }: RowChange, _seq: number, rows: RowDraft): void {
  const [kind, token = ''] = key.split('/');
  if (kind === 'token') notePoolChange(rows, token);
}

/**
 * Tombstones for launches that a rollback removes. A token without trades is shown with a bar that
 * is never stored (`api/charts/launch.ts`), so clients would not learn of its end: it leaves a
 * tombstone in each series, as stored bars do. Tombstones that `bars`, restored by the rollback,
 * already contain are left out.
 */
export function launchTombstones(
  restored: readonly RowChange[],
  bars: readonly BarSlot[],
  seq: number,
  store: StateStore,
): BarSlot[] {
  const gone = restored.filter(({ table, after }) => table === 'pools' && after === null);
  if (gone.length === 0) return [];
  const known = new Set(bars.map(barKeyOf));
  return gone.flatMap(({ key: token, before }) => {
    if (before === null) return [];
    const { firstMs } = recordOf<PoolRecord>(before);
    const pairs = [COIN, MARKET_CAP].map((quote) => givenId(pairName(token, quote), store));
    return pairs.flatMap((pair) => {
      if (pair === null) return [];
      const slots = RESOLUTIONS.map((resolution): BarSlot => {
        const start = intervalStart(resolution, firstMs);
        const place = { pair, resolution: STORED_RESOLUTION_IDS[resolution], start };
        return { ...place, value: null, seq, cause: 'rollback' };
      });
      return slots.filter((slot) => !known.has(barKeyOf(slot)));
    });
  });
}

function barKeyOf({ pair, resolution, start }: BarSlot): string {
  return barKey(pair, resolution, start);
}
