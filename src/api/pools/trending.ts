/**
 * The pools of the market by their trade volume in 24 hours, graduated ones included; ties by
 * market cap, then by asset id. Only pools with a trade in that day are kept in order here: the
 * others follow by market cap, in the order of the directory's list. Source: protocol.md section
 * 9.1.
 */

import { type TickerList, TickerLists } from '../../engine/directory/tickerLists.ts';
import type { Fold } from '../../engine/fold/fold.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { intervalStart } from '../../engine/market/resolution.ts';
import type { ListedPool } from '../../engine/pools/listedPool.ts';

/** Immutable: a pool that moves gets another one. */
interface Place {
  readonly asset: AssetId;
  readonly volume: bigint;
  readonly marketCap: bigint;
}

const ofFolds = new WeakMap<Fold, TrendingPools>();

export class TrendingPools {
  readonly #fold: Fold;
  readonly #traded: TickerList<Place, Place>;

  private constructor(fold: Fold) {
    this.#fold = fold;
    const { tickers } = fold;
    const lists = new TickerLists<Place>({
      changes: tickers.changes,
      assets: () => tickers.traded(),
      read: (asset, isOver) => tickers.readDay(asset, minuteOf(fold), isOver),
      day: (asset) => placeOf(fold, asset),
      crossed: (...steps) => tickers.crossed(...steps),
    });
    this.#traded = lists.make({ windows: ['24h'], compare, placeOf: (place) => place });
  }

  /** One for routes and topics of a fold. */
  static of(fold: Fold): TrendingPools {
    const trending = ofFolds.get(fold) ?? new TrendingPools(fold);
    ofFolds.set(fold, trending);
    return trending;
  }

  /** Takes in what changed, until `isOver`. True: all of it. */
  refresh(isOver: () => boolean): boolean {
    return this.#traded.refresh(isOver);
  }

  /** As of the applied entry. */
  page(limit: number): readonly ListedPool[] {
    this.#traded.refresh(() => false);
    const { directory } = this.#fold;
    const pools: ListedPool[] = [];
    const isFull = () => pools.length >= limit;
    this.#traded.visitInOrder(({ asset }) => {
      const listed = isFull() ? null : directory.find(asset);
      if (listed !== null) pools.push(listed);
      return !isFull();
    });
    if (isFull()) return pools;
    directory.walk('all', (listed) => {
      if (!this.#traded.has(listed.pool.token)) pools.push(listed);
      return !isFull();
    });
    return pools;
  }
}

/** null: nothing was traded, or it is not a pool. */
function placeOf(fold: Fold, asset: AssetId): Place | null {
  const { directory, tickers } = fold;
  const listed = directory.find(asset);
  if (listed === null) return null;
  const day = tickers.day(asset, minuteOf(fold));
  const volume = day?.windows?.sums('24h').volume ?? 0n;
  return volume === 0n ? null : { asset, volume, marketCap: listed.marketCapLovelace };
}

function minuteOf({ marketMs }: Fold): number {
  return intervalStart('min1', marketMs);
}

function compare(a: Place, b: Place): number {
  if (a.volume !== b.volume) return a.volume > b.volume ? -1 : 1;
  if (a.marketCap !== b.marketCap) return a.marketCap > b.marketCap ? -1 : 1;
  if (a.asset === b.asset) return 0;
  return a.asset < b.asset ? -1 : 1;
}
