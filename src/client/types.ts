/** Names for the API's answers; each comes from the schemas that check the server (`wire/`). */
import type { ChartHistoryAnswer, McapHistoryAnswer } from './wire/charts.ts';
import type { LastBarData, LastBarRevised, MCapBarData, MCapBarRevised } from './wire/topics.ts';
import type { GetUtxosAnswer } from './wire/utxo.ts';
import type { LocksByOwnerAnswer } from './wire/vesting.ts';

export type * from './wire/builder.ts';
export type * from './wire/charts.ts';
export type * from './wire/devnet.ts';
export type * from './wire/holders.ts';
export type * from './wire/operations.ts';
export type * from './wire/orders.ts';
export type * from './wire/pools.ts';
export type * from './wire/shapes.ts';
export type * from './wire/tickers.ts';
export type * from './wire/topics.ts';
export type * from './wire/trades.ts';
export type * from './wire/transactions.ts';
export type * from './wire/utxo.ts';
export type * from './wire/vesting.ts';
export type * from './wire/webhooks.ts';

/** A candlestick of prices, as HTTP has it. */
export type Bar = ChartHistoryAnswer[number];
/** A candlestick of market caps in ADA. */
export type MCapBar = McapHistoryAnswer[number];
/** As the socket has them: the pair is the text `base_quote`. */
export type StreamedBar = NonNullable<LastBarData>;
export type StreamedMCapBar = NonNullable<MCapBarData>;
export type BarsRevision = LastBarRevised;
export type MCapBarsRevision = MCapBarRevised;
export type LockRow = LocksByOwnerAnswer['vestings'][number];
export type UtxoRow = GetUtxosAnswer[number];

export type { PoolListName } from '../engine/market/poolView.ts';
export type { ChartResolution as Resolution } from '../engine/market/resolution.ts';

/** How much of the log something includes: the same in a frame and in an answer's `X-Position`. */
export interface Position {
  /** `<n>-<random>`; n grows with every epoch. */
  readonly epoch: string;
  readonly seq: number;
}

export interface PairOf {
  /** Asset id. */
  readonly base: string;
  /** Asset id; `.` for ADA. */
  readonly quote: string;
}
