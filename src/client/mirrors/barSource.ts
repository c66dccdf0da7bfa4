/** Where the bars of a mirror come from: prices or market caps, over HTTP and over the socket. */

import { ApiError } from '../apiError.ts';
import type { Answer, HistoryAnswer } from '../rest/answer.ts';
import { longHistory } from '../rest/longHistory.ts';
import type { chartsRoutes } from '../rest/market.ts';
import type { SubscribeParams } from '../socket/subscription.ts';
import type {
  Bar,
  BarsRevision,
  MCapBar,
  MCapBarsRevision,
  PairOf,
  Position,
  Resolution,
  StreamedBar,
  StreamedMCapBar,
} from '../types.ts';
import type { BarPatch, Candle } from './barList.ts';

/** Volumes are exact decimals: in the quote asset, and in the base asset. */
export type PriceBar = Omit<Bar, 'pair'>;
/** In ADA; `mCap` is the close. */
export type CapBar = Omit<MCapBar, 'pair' | 'isRelevant'>;

export interface HistoryPage<B extends Candle> {
  readonly isKnown: boolean;
  readonly bars: readonly B[];
  readonly standing: B | null;
  readonly hasOlder: boolean;
  readonly position: Position;
}

export interface BarSource<B extends Candle> {
  readonly params: SubscribeParams;
  /** Intervals without trades have flat bars. */
  readonly isFilled: boolean;
  /** Throws `ApiError`. */
  newest(limit: number): Promise<HistoryPage<B>>;
  before(time: number, limit: number): Promise<HistoryPage<B>>;
  streamed(data: unknown): B;
  revised(data: unknown): readonly BarPatch<B>[];
}

interface BarParams {
  readonly pair: PairOf;
  readonly interval: Resolution;
  readonly fill?: 'previous' | undefined;
  /** For prices only. */
  readonly price?: 'trade' | 'spot' | undefined;
  readonly maxHz?: number | undefined;
}

type Charts = ReturnType<typeof chartsRoutes>;
/** The last second of year 9999. */
const END_OF_TIME = 253_402_300_799;
const NOWHERE: Position = { epoch: '0-none', seq: 0 };

interface BarCalls<Row> {
  history(...call: Parameters<Charts['history']>): Promise<HistoryAnswer<readonly Row[]>>;
  newest(query: Parameters<Charts['last']>[0]): Promise<Answer<{ readonly bar: Row }>>;
}

export function priceSource(charts: Charts, params: BarParams): BarSource<PriceBar> {
  const calls: BarCalls<Bar> = { history: charts.history, newest: charts.initialState };
  return {
    ...pagesOf(calls, params, priceBar),
    params: subscribeParams('LastBar', params),
    isFilled: params.fill === 'previous',
    // trust: both types come from the schemas by which the server documents this topic
    streamed: (data) => priceBar(data as StreamedBar),
    revised: (data) =>
      // trust: as above
      (data as BarsRevision).bars.map((bar) => ('removed' in bar ? bar : priceBar(bar))),
  };
}

export function capSource(charts: Charts, params: BarParams): BarSource<CapBar> {
  const calls: BarCalls<MCapBar> = {
    history: charts.mcapHistory,
    newest: charts.mcapInitialState,
  };
  return {
    ...pagesOf(calls, params, capBar),
    params: subscribeParams('MCapBar', params),
    isFilled: params.fill === 'previous',
    // trust: both types come from the schemas by which the server documents this topic
    streamed: (data) => capBar(data as StreamedMCapBar),
    revised: (data) =>
      // trust: as above
      (data as MCapBarsRevision).bars.map((bar) => ('removed' in bar ? bar : capBar(bar))),
  };
}

function subscribeParams(
  topic: string,
  { pair, interval, maxHz, ...params }: BarParams,
): SubscribeParams {
  return { topic, data: { pair, interval, ...variantOf(params) }, maxHz };
}

/** Parameters of the same bars: the server accepts no undefined values. */
function variantOf({ fill, price }: Pick<BarParams, 'fill' | 'price'>) {
  return { ...(fill === undefined ? {} : { fill }), ...(price === undefined ? {} : { price }) };
}

function pagesOf<Row, B extends Candle>(
  { history, newest }: BarCalls<Row>,
  { pair, interval, fill, price }: BarParams,
  barOf: (row: Row) => B,
): Pick<BarSource<B>, 'newest' | 'before'> {
  const of = { ...pair, resolution: interval, ...variantOf({ price }) };
  const page = async (to: number, limit: number): Promise<HistoryPage<B>> => {
    const query = { ...of, from: 0, to, ...variantOf({ fill }) };
    const { data, position, nextTo } = await longHistory(history, query, limit);
    if (position === null) throw new ApiError('BAD_ANSWER', 'a history without X-Position');
    const hasOlder = nextTo !== null;
    return { isKnown: true, bars: data.map(barOf), standing: null, hasOlder, position };
  };
  return {
    before: page,
    async newest(limit) {
      try {
        const found = await page(END_OF_TIME, limit);
        if (found.bars.length > 0) return found;
        const bar = barOf((await newest(of)).data.bar);
        return { ...found, standing: bar.trades === 0 ? bar : null };
      } catch (error) {
        if (!(error instanceof ApiError) || error.cause !== 'ASSET_NOT_FOUND') throw error;
        const nothing = { bars: [], standing: null, hasOlder: false };
        return { isKnown: false, ...nothing, position: NOWHERE };
      }
    },
  };
}

function priceBar(bar: Bar | StreamedBar): PriceBar {
  const { time, open, high, low, close, volume, baseVolume, trades, final } = bar;
  return { time, open, high, low, close, volume, baseVolume, trades, final };
}

function capBar(bar: MCapBar | StreamedMCapBar): CapBar {
  const { time, open, high, low, close, mCap, trades, final } = bar;
  return { time, open, high, low, close, mCap, trades, final };
}
