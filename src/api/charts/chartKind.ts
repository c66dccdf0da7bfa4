/** The two kinds of chart: prices of a pair, and the market cap of a token. */
import { COIN } from '../../engine/market/asset.ts';
import type { BarView } from '../../engine/market/barView.ts';
import { type Failure, invalid } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import { type ChartRequest, capPairs, type PairNames, pricePairs } from './findChart.ts';

export interface ChartKind<Topic extends string = string, Shown extends ShownFields = ShownFields> {
  /** The topic of its live bars. */
  readonly topic: Topic;
  pairs(request: ChartRequest): PairNames | null;
  /** Refuses a well-formed request that this kind cannot serve; `where`: `query` or `data.pair`. */
  refusal(request: ChartRequest, where: string): Failure | null;
  /** A bar as clients get it, its pair apart. */
  present(bar: BarView, relevant: boolean): Shown;
}

/** A bar as clients get it, its pair apart. */
export type ShownFields = { readonly [field: string]: Json };
type ShownBar = { readonly [Field in keyof BarView]: BarView[Field] };
type ShownCap = Omit<ShownBar, 'volume' | 'baseVolume'> & {
  readonly mCap: string;
  readonly isRelevant: boolean;
};

export const PRICES: ChartKind<'LastBar', ShownBar> = {
  topic: 'LastBar',
  pairs: pricePairs,
  refusal: () => null,
  present: (bar) => ({ ...bar }),
};

export const MARKET_CAPS: ChartKind<'MCapBar', ShownCap> = {
  topic: 'MCapBar',
  pairs: capPairs,
  refusal: ({ base }, where) =>
    base === COIN ? invalid(`${where}.base`, 'The coin has no market cap here.') : null,
  present: ({ time, open, high, low, close, trades, final }, isRelevant) => ({
    time,
    mCap: close,
    isRelevant,
    open,
    high,
    low,
    close,
    trades,
    final,
  }),
};
