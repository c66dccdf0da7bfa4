/**
 * The newest trades of the whole market, kept in step with the rows: made from them once, in
 * slices, and then changed by what has changed. A function of the rows, so that it is the same on
 * each node at one position.
 */
import type { Fold } from '../../engine/fold/fold.ts';
import { tradesTag } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type PoolRecord, readRecord, type TradeRecord } from '../../engine/store/records.ts';
import { tradeRow } from './routes.ts';

/** Trades that are looked at for one answer. */
export const MAX_WINDOW = 2_000;
/** Pools that are looked at: those that were traded or launched last. */
const MAX_POOLS = 1_000;
/** More than change in a token between two looks. */
const MANY = 1_000_000;

export type MarketTradeRow = { asset: AssetId; ticker: string } & ReturnType<typeof tradeRow>;

export interface WindowTrade {
  readonly row: MarketTradeRow;
  readonly trade: TradeRecord;
  readonly pool: PoolRecord;
}

interface Reading {
  readonly seq: number;
  readonly pools: Iterator<PoolRecord>;
}

export class NewestWindow {
  #fold: Fold | null = null;
  /** The trades are those at this position. */
  #seq = 0;
  /** Newest first; of one place in the chain, by asset id. */
  #trades: readonly WindowTrade[] = [];
  #reading: Reading | null = null;
  readonly #max: number;

  constructor(max = MAX_WINDOW) {
    this.#max = max;
  }

  /** Until `isOver`. True: the trades are those at the applied position. */
  refresh(fold: Fold, isOver: () => boolean): boolean {
    const { store, directory } = fold;
    if (fold !== this.#fold || this.#seq < store.horizonSeq) this.#begin(fold);
    for (;;) {
      if (!this.#read(fold, isOver)) return false;
      const applied = store.checkpoint?.seq ?? 0;
      if (!directory.changedBetween(this.#seq, applied) || this.#follow(fold)) {
        this.#seq = applied;
        return true;
      }
      this.#begin(fold);
    }
  }

  /** As of the last `refresh`. */
  newest(limit: number, matches: (trade: WindowTrade) => boolean): MarketTradeRow[] {
    const rows: MarketTradeRow[] = [];
    for (const trade of this.#trades) {
      if (rows.length === limit) break;
      if (matches(trade)) rows.push(trade.row);
    }
    return rows;
  }

  #begin(fold: Fold): void {
    this.#fold = fold;
    this.#seq = fold.store.checkpoint?.seq ?? 0;
    this.#trades = [];
    const pools: PoolRecord[] = [];
    let left = MAX_POOLS;
    fold.directory.walk('Latest', ({ pool }) => {
      left -= 1;
      if (pool.lastTradeMs !== null) pools.push(pool);
      return left > 0;
    });
    this.#reading = { seq: this.#seq, pools: pools.values() };
  }

  /** A pool at a time. True: all are read. */
  #read(fold: Fold, isOver: () => boolean): boolean {
    while (this.#reading !== null) {
      const { value: pool } = this.#reading.pools.next();
      if (pool === undefined || this.#isBefore(pool)) this.#reading = null;
      else this.#trades = this.#newestOf([...this.#trades, ...this.#rowsOf(fold, pool)]);
      if (this.#reading !== null && isOver()) return false;
    }
    return true;
  }

  /** Its trades, and those of all pools behind it in `Latest`, are older than a full window. */
  #isBefore({ lastTradeMs }: PoolRecord): boolean {
    const oldest = this.#oldest();
    if (oldest === null || lastTradeMs === null) return false;
    // The list is in the order of seconds.
    return Math.floor(lastTradeMs / 1000) < Math.floor(oldest.trade.atMs / 1000);
  }

  /** The last one of a window that is full. */
  #oldest(): WindowTrade | null {
    return this.#trades.length < this.#max ? null : (this.#trades.at(-1) ?? null);
  }

  #rowsOf({ store }: Fold, pool: PoolRecord): WindowTrade[] {
    const { token } = pool;
    const oldest = this.#oldest();
    const from = oldest === null ? {} : { from: `${token}/${oldest.row.id}` };
    const query = { order: 'descending', offset: 0, limit: this.#max, ...from } as const;
    return store.page('trades', `${token}/`, query).map((row) => ({
      row: { asset: token, ticker: pool.ticker, ...tradeRow(token, row) },
      trade: readRecord<TradeRecord>(row.value),
      pool,
    }));
  }

  /** False: trades were undone, so that older ones take their places. */
  #follow(fold: Fold): boolean {
    const { store, directory } = fold;
    const changed = this.#changedPools(fold);
    const gone = new Set<string>();
    const added: WindowTrade[] = [];
    for (const [token, pool] of changed) {
      for (const { ref: id } of store.changedSince(tradesTag(token), this.#seq, MANY)) {
        const key = `${token}/${id}`;
        gone.add(key);
        const value = pool === null ? null : store.get('trades', key);
        if (pool === null || value === null) continue;
        const row = { asset: token, ticker: pool.ticker, ...tradeRow(token, { key, value }) };
        added.push({ row, trade: readRecord<TradeRecord>(value), pool });
      }
    }
    const kept = this.#trades
      .filter(({ row }) => !gone.has(`${row.asset}/${row.id}`) && changed.get(row.asset) !== null)
      .map((trade) => {
        const pool = changed.get(trade.row.asset);
        return pool === undefined || pool === null ? trade : { ...trade, pool };
      });
    const [oldest, before] = [this.#oldest(), this.#trades.length];
    this.#trades = this.#newestOf([...kept, ...added]);
    const last = this.#oldest();
    // What is older than the window may be newer than what came in its place.
    if (oldest !== null) return last !== null && newestFirst(last, oldest) <= 0;
    return kept.length === before || directory.size <= MAX_POOLS;
  }

  #newestOf(trades: WindowTrade[]): readonly WindowTrade[] {
    return trades.sort(newestFirst).slice(0, this.#max);
  }

  /** Pools of the window, and those that may enter it; null: it has disappeared. */
  #changedPools({ directory }: Fold): Map<AssetId, PoolRecord | null> {
    const changed = new Map<AssetId, PoolRecord | null>();
    for (const { row } of this.#trades) {
      const listed = directory.find(row.asset);
      if (listed === null) changed.set(row.asset, null);
      else if (listed.changedSeq > this.#seq) changed.set(row.asset, listed.pool);
    }
    let left = MAX_POOLS;
    directory.walk('Latest', ({ pool, changedSeq }) => {
      left -= 1;
      if (changedSeq > this.#seq) changed.set(pool.token, pool);
      return left > 0 && !this.#isBefore(pool);
    });
    return changed;
  }
}

function newestFirst({ row: a }: WindowTrade, { row: b }: WindowTrade): number {
  if (a.id !== b.id) return a.id > b.id ? -1 : 1;
  if (a.asset === b.asset) return 0;
  return a.asset < b.asset ? -1 : 1;
}
