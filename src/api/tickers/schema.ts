/** Ticker, and the inputs of its routes: checks and documents (protocol.md section 9.1). */
import Type from 'typebox';
import { WINDOWS } from '../../engine/market/windows.ts';
import {
  MAX_FOLLOWED_TOKENS,
  MAX_LISTED_TICKERS,
  MAX_NAMED_TOKENS,
} from '../../engine/runtime/limits.ts';
import { AdaBound, AssetIdShape, OneOf } from '../schemas/identifiers.ts';
import { Limit, Offset } from '../schemas/paging.ts';

const orNull = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const Decimal = Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?$' });
const ada = (description: string) => Type.String({ ...Decimal, description });
const adaOrNull = (description: string) => orNull(Decimal, `${description}; null without a pool.`);
const price = (description: string) => Type.String({ ...Decimal, description });
const count = Type.Integer({ minimum: 0 });
const Share = Type.String({ pattern: '^[0-9]+\\.[0-9]{2}$' });
const shareOrNull = (what: string) =>
  orNull(Share, `${what}, in percent of the supply outside the pool; null without a pool.`);
const countOrNull = (what: string) =>
  orNull(count, `${what}; null for a pair without a pool, where sides are unknown.`);
const change = (span: string) =>
  orNull(
    Type.String({ pattern: '^-?[0-9]+\\.[0-9]{2}$' }),
    `Percent that the price changed in the last ${span}, or since the launch if it was later ` +
      '(`changeBasis` says so); null: the price then is not known.',
  );

const Spark = Type.Object(
  {
    from: Type.Integer({ description: 'Start of the first step, Unix seconds.' }),
    step: Type.Integer({
      description:
        'Seconds: the smallest of 1, 2, 3, 5, 10, 15, 20 and 30 minutes that covers the age of ' +
        'the token, at most 24 hours, with at most 48 points. Steps are aligned to 00:00 UTC.',
    }),
    closes: Type.Array(orNull(Decimal, 'ADA per token; null: not known here.'), {
      minItems: 1,
      maxItems: 48,
      description: 'Price at the end of each step, the last one now.',
    }),
  },
  { $id: 'Spark' },
);

const Basis = Type.Object({ since: Type.Literal('launch') });

/** By window, only where it applies. */
const ChangeBasis = Type.Object(
  {
    '5m': Type.Optional(Basis),
    '1h': Type.Optional(Basis),
    '6h': Type.Optional(Basis),
    '24h': Type.Optional(Basis),
  },
  {
    $id: 'ChangeBasis',
    description:
      'Where a change counts from something else than the price at the start of its window: ' +
      '`{"24h": {"since": "launch"}}` of a token younger than 24 hours, whose change counts from ' +
      'the price of its launch.',
  },
);

const TICKER_FIELDS = {
  asset: AssetIdShape,
  name: Type.String(),
  ticker: Type.String(),
  logoCID: Type.String(),
  price: price('Spot price, ADA per token.'),
  marketCap: adaOrNull('ADA'),
  change5m: change('5 minutes'),
  change1h: change('hour'),
  change6h: change('6 hours'),
  change24h: change('24 hours'),
  changeBasis: ChangeBasis,
  high24h: price('Highest spot price before and after each trade of 24 hours.'),
  low24h: price('Lowest of them.'),
  volume5m: ada('ADA traded.'),
  volume1h: ada('ADA traded.'),
  volume6h: ada('ADA traded.'),
  volume24h: ada('ADA traded.'),
  buys5m: countOrNull('Buys'),
  sells5m: countOrNull('Sells'),
  buys1h: countOrNull('Buys'),
  sells1h: countOrNull('Sells'),
  buys6h: countOrNull('Buys'),
  sells6h: countOrNull('Sells'),
  buys24h: countOrNull('Buys'),
  sells24h: countOrNull('Sells'),
  traders24h: orNull(count, 'Payment keys that traded in 24 hours; null without a pool.'),
  liquidity: adaOrNull('Twice the ADA in the pool'),
  progress: orNull(Type.String(), 'Percent of the curve’s cap, cut to 2 decimals; null without.'),
  createdOn: orNull(
    Type.Integer(),
    'Launch, or the first trade without a pool: Unix seconds. null: not known.',
  ),
  lastTradeTime: orNull(Type.Integer(), 'Unix seconds; null without a trade.'),
  graduated: orNull(Type.Boolean(), 'Whether it trades on the AMM; null without a pool.'),
  top10Percent: shareOrNull('Tokens of the ten largest holders'),
  authorPercent: shareOrNull('Tokens of the author’s payment key'),
  snipersPercent: orNull(
    Share,
    'Tokens that snipers hold, in percent of the supply outside the pool; null without a pool, ' +
      'and where the launch came before the first block that this market follows.',
  ),
  holders: orNull(
    count,
    'Payment keys, and addresses without one, that hold tokens; null without a pool.',
  ),
};

export const Ticker = Type.Object({ ...TICKER_FIELDS, spark: Spark }, { $id: 'Ticker' });
export type Ticker = Type.Static<typeof Ticker>;

/** In an update of the topic. */
export const TickerUpdate = Type.Object(
  { ...TICKER_FIELDS, spark: Type.Optional(Spark) },
  { $id: 'TickerUpdate' },
);
export type TickerUpdate = Type.Static<typeof TickerUpdate>;

export const TickersUpdate = Type.Object(
  {
    items: Type.Array(TickerUpdate, {
      description: 'Tickers that changed or are new in the list; a snapshot has every ticker.',
    }),
    order: Type.Array(AssetIdShape, {
      description:
        'Asset ids of the list in their order. The ticker of each is in `items`, or was in ' +
        'an earlier update’s; a token that is not named has left the list.',
    }),
    crc32: Type.Integer({
      minimum: 0,
      maximum: 0xff_ff_ff_ff,
      description: 'Unsigned IEEE CRC-32 of the asset ids of `order` joined by commas.',
    }),
  },
  { $id: 'TickersUpdate' },
);

export const Tickers = Type.Object({
  count: Type.Integer({ minimum: 0, description: 'How many match, on this page or not.' }),
  items: Type.Array(Ticker),
});

const perWindow = <const Name extends string>(name: Name) =>
  WINDOWS.map((window) => `${name}${window}` as const);

const SORT_FIELDS = [
  'price',
  'marketCap',
  ...perWindow('change'),
  'high24h',
  'low24h',
  ...perWindow('volume'),
  ...perWindow('buys'),
  ...perWindow('sells'),
  'traders24h',
  'liquidity',
  'progress',
  'createdOn',
  'lastTradeTime',
  'top10Percent',
  'authorPercent',
  'snipersPercent',
  'holders',
] as const;
export type SortField = (typeof SORT_FIELDS)[number];

export const Sort = Type.Optional({
  ...OneOf([...SORT_FIELDS, 'lastTrade'] as const, {
    description: 'A number of the ticker; `lastTrade` is `lastTradeTime`.',
  }),
  default: 'volume24h' as const,
});
export const Order = Type.Optional({
  ...OneOf(['desc', 'asc'] as const, {
    description: 'null comes last both ways; ties by asset id.',
  }),
  default: 'desc' as const,
});

const MAX_ASSETS = 20;
const age = (what: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${what} bound of the age, in seconds.` }));

const ONE_SIDE = { description: 'Only those on the AMM, or on the curve.' };

const maxPercent = (what: string) =>
  Type.Optional(
    Type.Number({ minimum: 0, maximum: 100, description: `${what}, in percent of 2 decimals.` }),
  );

const BOUNDS = {
  minAge: age('Lower'),
  maxAge: age('Upper'),
  minMarketCap: AdaBound('Lower bound, in ADA.'),
  maxMarketCap: AdaBound('Upper bound, in ADA.'),
  minVolume24h: AdaBound('Lower bound, in ADA of 24 hours.'),
  minProgress: Type.Optional(
    Type.Number({ minimum: 0, maximum: 100, description: 'Lower bound, in percent.' }),
  ),
  maxTop10Percent: maxPercent('Upper bound'),
  maxAuthorPercent: maxPercent('Upper bound'),
  maxSnipersPercent: maxPercent('Upper bound; a token without the value does not match'),
  minHolders: Type.Optional(Type.Integer({ minimum: 0, description: 'Lower bound.' })),
};

export const TickersQuery = Type.Object({
  assets: Type.Optional(
    Type.Array(AssetIdShape, {
      maxItems: MAX_ASSETS,
      description: `Only these tokens: the parameter repeated, at most ${MAX_ASSETS} times.`,
    }),
  ),
  sort: Sort,
  order: Order,
  ...BOUNDS,
  graduated: Type.Optional(OneOf(['true', 'false'] as const, ONE_SIDE)),
  offset: Offset,
  limit: Limit(100, 500),
});

export const TickersBody = Type.Array(AssetIdShape, {
  minItems: 1,
  maxItems: MAX_NAMED_TOKENS,
  description: 'Asset ids of tokens.',
});

/** Input of a subscription. */
export const TickersInput = Type.Object({
  assets: Type.Optional(
    Type.Array(AssetIdShape, {
      minItems: 1,
      maxItems: MAX_FOLLOWED_TOKENS,
      description: 'These tokens, in this order; the other fields say nothing then.',
    }),
  ),
  sort: Sort,
  order: Order,
  ...BOUNDS,
  graduated: Type.Optional(Type.Boolean(ONE_SIDE)),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_LISTED_TICKERS, default: MAX_LISTED_TICKERS }),
  ),
});
