/**
 * Shapes of the charts service: checks, documents and types from one source (protocol.md 1 and
 * 6.3).
 */
import Type, { type TSchema } from 'typebox';
import { ASSET_PATTERN } from '../../engine/market/asset.ts';
import { PRICE_KINDS } from '../../engine/market/barView.ts';
import { CHART_RESOLUTIONS } from '../../engine/market/resolution.ts';
import { Format } from '../schemas/format.ts';
import { AssetIdShape as ASSET, OneOf } from '../schemas/identifiers.ts';
import { ItemError } from '../schemas/itemError.ts';

const ASSET_OR_ALIAS = Type.String({
  pattern: `^(ADA|0x)$|${ASSET_PATTERN}`,
  description: 'Asset id, or `.`, `ADA` or `0x` for the native coin.',
});
const ResolutionName = OneOf(CHART_RESOLUTIONS, {
  description: 'UTC; weeks start Monday 00:00, months on the 1st.',
});
const PRICE_TEXT =
  '`trade` (default): prices of the trades. `spot`: the spot price before and after each trade, ' +
  'so that the bars of a chart connect.';
const PriceName = OneOf(PRICE_KINDS, { description: PRICE_TEXT });
const DECIMAL = Type.String({
  pattern: '^[0-9]+(\\.[0-9]*[1-9])?$',
  description: 'Exact decimal, at most 18 fractional digits.',
});
const SECONDS = Type.Integer({ minimum: 0, maximum: 253_402_300_799 });

const RELEVANT = Type.Boolean({ description: 'The interval contains market time.' });

const candleFields = {
  time: Type.Integer({ description: 'Start of the interval, Unix seconds.' }),
  low: DECIMAL,
  high: DECIMAL,
  open: DECIMAL,
  close: DECIMAL,
  trades: Type.Integer({ minimum: 0 }),
  final: Type.Boolean({ description: 'Market time has passed the end of the interval.' }),
};
const barFields = {
  ...candleFields,
  volume: Type.String({ description: 'In the quote asset.' }),
  baseVolume: Type.String({ description: 'In the base asset.' }),
};
const capFields = {
  ...candleFields,
  mCap: Type.String({ description: 'In ADA: spot price after the last trade × supply; = close.' }),
  isRelevant: RELEVANT,
};

const PairIds = Type.Object({ base: ASSET, quote: ASSET });
export const BarSchema = Type.Object({ pair: PairIds, ...barFields });
export const InitialState = Type.Object({ bar: BarSchema, isRelevant: Type.Boolean() });
export const MCapBarSchema = Type.Object({ pair: PairIds, ...capFields });
export const MCapInitialState = Type.Object({ bar: MCapBarSchema, isRelevant: Type.Boolean() });

export const HISTORY_LIMIT = 5_000;

const series = { base: ASSET, quote: ASSET, resolution: ResolutionName };
const price = { price: Type.Optional(PriceName) };
export const MCapStateQuery = Type.Object(series);
export const StateQuery = Type.Object({ ...series, ...price });
export type StateQuery = Type.Static<typeof StateQuery>;

const span = {
  base: ASSET,
  quote: ASSET,
  from: SECONDS,
  to: SECONDS,
  resolution: ResolutionName,
  fill: Type.Optional(Type.Union([Type.Literal('none'), Type.Literal('previous')])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: HISTORY_LIMIT })),
  format: Format,
  epoch: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{1,40}$',
      description:
        'The epoch of `X-Position`. With it the answer may be kept for ever where nothing can ' +
        'change it any more; in another epoch it is 409.',
    }),
  ),
};
export const MCapHistoryQuery = Type.Object(span);
export const HistoryQuery = Type.Object({ ...span, ...price });
export type HistoryQuery = Type.Static<typeof HistoryQuery>;

const BULK_ITEMS = 50;
export const BULK_ITEM_LIMIT = 400;
export const BULK_BARS = 20_000;

export const BulkBody = Type.Array(
  Type.Object({
    base: ASSET,
    quote: ASSET,
    resolution: ResolutionName,
    from: SECONDS,
    to: SECONDS,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: HISTORY_LIMIT,
        description: `Most bars in the answer, the newest; default ${BULK_ITEM_LIMIT}.`,
      }),
    ),
    fill: Type.Optional(OneOf(['none', 'previous'])),
    kind: Type.Optional(
      OneOf(['price', 'mcap'], { description: 'Prices (default), or market caps in ADA.' }),
    ),
    price: Type.Optional(
      OneOf(PRICE_KINDS, { description: `${PRICE_TEXT} Market caps have no \`spot\`.` }),
    ),
  }),
  {
    minItems: 1,
    maxItems: BULK_ITEMS,
    description: `1 to ${BULK_ITEMS} spans; the sum of their limits is ${BULK_BARS} at most.`,
  },
);
export type BulkBody = Type.Static<typeof BulkBody>;

export const BulkAnswer = Type.Array(
  Type.Union([
    Type.Object({
      bars: Type.Array(Type.Union([BarSchema, MCapBarSchema]), { description: 'Oldest first.' }),
      nextTo: Type.Optional(
        Type.Integer({ description: 'Older ones were cut: ask again with it as `to`.' }),
      ),
    }),
    ItemError,
  ]),
);

const barInput = {
  pair: Type.Object({ base: ASSET_OR_ALIAS, quote: ASSET_OR_ALIAS }),
  interval: ResolutionName,
  fill: Type.Optional(
    Type.Union([Type.Literal('none'), Type.Literal('previous'), Type.Literal(''), Type.Null()]),
  ),
};
export const MCapBarInput = Type.Object(barInput);
export const LastBarInput = Type.Object({
  ...barInput,
  price: Type.Optional(
    Type.Union([...PRICE_KINDS.map((name) => Type.Literal(name)), Type.Literal(''), Type.Null()], {
      description: PRICE_TEXT,
    }),
  ),
});

const PAIR = Type.String({ description: '`base_quote`' });
const StreamedBar = Type.Object({ pair: PAIR, ...barFields, isRelevant: RELEVANT });
const StreamedMCapBar = Type.Object({ pair: PAIR, ...capFields });

const REVISION = [
  'Every change that is not of the newest bar: a trade for an older one (`late`), the end of an',
  'older one (`final`), a rollback. Put each bar in its place; `{time, removed: true}` takes it',
  'away. Ordinary updates never go back in time. Where the newest bar is among those revised,',
  'an ordinary update with the same `seq` repeats it, for clients that know no other event.',
].join(' ');

export const LastBarOutput = Type.Union([StreamedBar, Type.Null()]);
export const MCapBarOutput = Type.Union([StreamedMCapBar, Type.Null()]);
export const BarsRevisedOutput = revisionOf(StreamedBar);
export const MCapBarsRevisedOutput = revisionOf(StreamedMCapBar);

function revisionOf(bar: TSchema) {
  return Type.Object(
    {
      pair: Type.String(),
      interval: ResolutionName,
      reason: Type.Union([Type.Literal('rollback'), Type.Literal('late'), Type.Literal('final')]),
      fromSlot: Type.Union([Type.Integer(), Type.Null()]),
      toSlot: Type.Union([Type.Integer(), Type.Null()]),
      bars: Type.Array(
        Type.Union([bar, Type.Object({ time: Type.Integer(), removed: Type.Literal(true) })]),
      ),
    },
    { description: REVISION },
  );
}
