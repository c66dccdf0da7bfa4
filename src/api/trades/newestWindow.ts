/**
 * The newest trades of the whole market, kept in step with the rows: they are read once, in slices,
 * and then updated with each change. A function of the rows, so that it is the same on each node at
 * one position.
 */
import type { Fold } from '../../engine/fold/fold.ts';
import { tradesTag } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type PoolRecord, readRecord, type TradeRecord } from '../../engine/store/records.ts';
import { idOf, viewTrade } from './routes.ts';

/** Trades that are looked at for one answer. */
export const MAX_WINDOW = 2_000;
/** Pools that are looked at: only the pools that were traded or launched last. */
const MAX_POOLS = 1_000;
/** More than change in a token between two looks. */
const MANY = 1_000_000;

type MarketTradeRow = { asset: AssetId; ticker: string } & ReturnType<typeof viewTrade>;

export interface WindowTrade {
  readonly id: string;
  readonly trade: TradeRecord;
  readonly pool: PoolRecord;
}

export class NewestWindow {
  #fold: Fold | null = null;
  /** The trades are those at this position. */
  #seq = 0;
  /** Newest first; of one place in the chain, by asset id. */
  #trades: readonly WindowTrade[] = [];
  /** Pools whose trades are still to be read; null: all are. */
  #unread: Iterator<PoolRecord> | null = null;
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
    for (const each of this.#trades) {
      if (rows.length === limit) break;
      const { id, trade, pool } = each;
      if (matches(each)) {
        rows.push({ asset: pool.token, ticker: pool.ticker, ...viewTrade(id, trade) });
      }
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
    this.#unread = pools.values();
  }

  /** A pool at a time. True: all are read. */
  #read(fold: Fold, isOver: () => boolean): boolean {
    while (this.#unread !== null) {
      const { value: pool } = this.#unread.next();
      if (pool === undefined || this.#isBefore(pool)) this.#unread = null;
      else this.#trades = this.#newestOf([...this.#trades, ...this.#rowsOf(fold, pool)]);
      if (this.#unread !== null && isOver()) return false;
    }
    return true;
  }

  /** Its trades, and the trades of all pools after it in `Latest`, are older than a full window. */
  #isBefore({ lastTradeMs }: PoolRecord): boolean {
    const oldest = this.#oldest();
    if (oldest === null || lastTradeMs === null) return false;
    // The list is in the order of seconds.
    return Math.floor(lastTradeMs / 1000) < Math.floor(oldest.trade.atMs / 1000);
  }

  /** The last trade of a full window. */
  #oldest(): WindowTrade | null {
    return this.#trades.length < this.#max ? null : (this.#trades.at(-1) ?? null);
  }

  #rowsOf({ store }: Fold, pool: PoolRecord): WindowTrade[] {
    const { token } = pool;
    const oldest = this.#oldest();
    const from = oldest === null ? {} : { from: `${token}/${oldest.id}` };
    const query = { order: 'descending', offset: 0, limit: this.#max, ...from } as const;
    return store.page('trades', `${token}/`, query).map(({ key, value }) => {
      return { id: idOf(token, key), trade: readRecord<TradeRecord>(value), pool };
    });
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
        added.push({ id, trade: readRecord<TradeRecord>(value), pool });
      }
    }
    const kept = this.#trades
      .filter(({ id, pool: { token } }) => {
        return !gone.has(`${token}/${id}`) && changed.get(token) !== null;
      })
      .map((trade) => ({ ...trade, pool: changed.get(trade.pool.token) ?? trade.pool }));
    const [oldest, before] = [this.#oldest(), this.#trades.length];
    this.#trades = this.#newestOf([...kept, ...added]);
    const last = this.#oldest();
    // Trades outside a full window may be newer than the trades at its end now.
    if (oldest !== null) return last !== null && newestFirst(last, oldest) <= 0;
    return kept.length === before || directory.size <= MAX_POOLS;
  }

  #newestOf(trades: WindowTrade[]): readonly WindowTrade[] {
    return trades.sort(newestFirst).slice(0, this.#max);
  }

  /** Pools of the window, and pools that may enter it; null: it has disappeared. */
  #changedPools({ directory }: Fold): Map<AssetId, PoolRecord | null> {
    const changed = new Map<AssetId, PoolRecord | null>();
    for (const token of new Set(this.#trades.map(({ pool }) => pool.token))) {
      const listed = directory.find(token);
      if (listed === null) changed.set(token, null);
      else if (listed.changedSeq > this.#seq) changed.set(token, listed.pool);
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

function newestFirst(a: WindowTrade, b: WindowTrade): number {
  if (a.id !== b.id) return a.id > b.id ? -1 : 1;
  if (a.pool.token === b.pool.token) return 0;
  return a.pool.token < b.pool.token ? -1 : 1;
}
