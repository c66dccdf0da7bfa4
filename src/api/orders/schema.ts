/** Orders over HTTP and WebSocket: checks and documents (protocol.md sections 2 and 6.3). */
import Type from 'typebox';
import type { DepthDigits } from '../../engine/market/depth.ts';
import type { InputOf } from '../gateway/route.ts';
import { ApiOrder, ORDER_FIELDS } from '../schemas/apiOrder.ts';
import { Format } from '../schemas/format.ts';
import {
  AddressText,
  Amount,
  AssetIdShape,
  KeyHash,
  OneOf,
  OutputId,
  TxHash,
} from '../schemas/identifiers.ts';
import { Before, Limit, Offset } from '../schemas/paging.ts';
import { SPAN } from '../schemas/timeSpan.ts';

export const MAX_LEVELS = 100;
const SECONDS = Type.Integer({ description: 'Unix seconds.' });
const Price = Type.String({ description: 'ADA per token.' });

const Fill = Type.Object({
  txHash: TxHash,
  time: SECONDS,
  fromAmount: Amount,
  toAmount: Amount,
  price: Price,
});

export const OrderTrades = Type.Object(
  {
    ...ORDER_FIELDS,
    orderStatus: OneOf(['open', 'closed', 'cancelled', 'mempool'], {
      description: 'closed: executed. cancelled: given back, or dropped. mempool: may change.',
    }),
    inputAmount: Amount,
    outputAmount: Amount,
    price: Type.String({
      description: 'ADA per token: of the trade (percent fee left out), else the worst one.',
    }),
    filled: Type.String({
      pattern: '^[0-9]+(?:\\.[0-9]{1,2})?$',
      description: 'Filled percent of the offered amount, cut to 2 decimals.',
    }),
    fills: Type.Array(Fill),
  },
  { $id: 'OrderTrades' },
);

const PAGE = {
  offset: Offset,
  limit: Limit(100, 100),
  before: Before('order'),
  ...SPAN,
  format: Format,
};

export const OrderFeedQuery = Type.Object({ asset: AssetIdShape, ...PAGE });
export type OrderFeedQuery = InputOf<typeof OrderFeedQuery>;
export const HistoryQuery = Type.Object(PAGE);
export type HistoryQuery = InputOf<typeof HistoryQuery>;
export const HistoryByAssetQuery = OrderFeedQuery;
export const BeaconQuery = Type.Object({
  beacon: Type.String({
    pattern: '^[0-9a-fA-F]{56}$',
    description: 'Beacon of the order, 56 hex digits.',
  }),
});

const MAX_KEYS = 1000;
export const AnyKeys = Type.Optional(
  Type.Union([Type.Null(), Type.Array(KeyHash, { maxItems: MAX_KEYS })], {
    description: 'Payment key hashes; none, null or [] for everybody.',
  }),
);
export const SomeKeys = Type.Array(KeyHash, {
  minItems: 1,
  maxItems: MAX_KEYS,
  description: 'Payment key hashes.',
});

const KeyFilter = Type.Optional(
  Type.Union([Type.Null(), Type.Array(KeyHash, { maxItems: MAX_KEYS })]),
);
export const OrderFeedInput = Type.Object({
  asset: AssetIdShape,
  pkhFilter: Type.Optional({ ...KeyFilter, description: 'null or []: everybody.' }),
  pkhs: Type.Optional({ ...KeyFilter, description: 'The same, by its other name.' }),
});
export const HistoryInput = Type.Object({ address: AddressText });
export const HistoryByAssetInput = Type.Object({ address: AddressText, asset: AssetIdShape });

const CHANGES = {
  ledger: Type.Array(ApiOrder, { description: 'Changed orders on the chain, newest first.' }),
  mempool: Type.Array(ApiOrder, { description: 'Changed orders that are in no block.' }),
  removed: Type.Array(OutputId, { description: 'Neither the chain nor the mempool has them.' }),
  count: Type.Integer({ description: 'Number of all orders on the chain.' }),
};
export const OrderChanges = Type.Union([Type.Object(CHANGES), Type.Null()]);
const Slot = Type.Union([Type.Integer(), Type.Null()]);
export const OrdersRevised = Type.Object({
  ...CHANGES,
  reason: Type.Literal('rollback'),
  fromSlot: Slot,
  toSlot: Slot,
});

const Digits = Type.Unsafe<DepthDigits>(
  Type.Integer({
    minimum: 3,
    maximum: 4,
    description: 'Significant decimal digits of the prices of bids and asks.',
  }),
);
const PriceLevel = { price: Price, amount: { ...Amount, description: 'Tokens.' } };
const BookLevel = Type.Object(
  {
    ...PriceLevel,
    total: {
      ...Amount,
      description:
        'Lovelace that all tokens up to this price cost or bring, percent fees included.',
    },
  },
  { $id: 'BookLevel' },
);
const ChangedLevel = Type.Object(
  {
    ...PriceLevel,
    amount: { ...Amount, description: 'Tokens; 0: the level is gone.' },
  },
  { $id: 'ChangedLevel' },
);
const LimitLevel = Type.Object({ ...PriceLevel, orders: Type.Integer() }, { $id: 'LimitLevel' });
const Limits = Type.Array(LimitLevel, {
  description: 'By worst price, best first. Tokens that are left, or that a buy takes at least.',
});
const WAITING = {
  limits: Type.Object(
    { buys: Limits, sells: Limits },
    { description: 'Open orders in blocks that the pool would not fill now; they may cross.' },
  ),
  pending: Type.Object(
    { buys: Type.Integer(), sells: Type.Integer(), buyLovelace: Amount, sellTokens: Amount },
    {
      description:
        'Open orders in blocks that the pool, at this position and alone, would fill: numbers, ' +
        'and their offers without fee and deposit.',
    },
  ),
};
const OF_POOL = {
  asset: AssetIdShape,
  pool: { ...OutputId, description: "The pool's output that this is the depth of." },
  spot: Price,
};
const Checksum = Type.String({
  pattern: '^[0-9a-f]{8}$',
  description:
    'CRC-32 (IEEE) of `price:amount`, as sent, of the first 10 asks, then the first 10 bids, ' +
    'joined by `|`: 8 hex digits; of an empty book `00000000`. The frame is applied first.',
});
const BOOK = {
  ...OF_POOL,
  bids: Type.Array(BookLevel, { description: 'Highest price first.' }),
  asks: Type.Array(BookLevel, { description: 'Lowest price first.' }),
  ...WAITING,
  checksum: Checksum,
};
const Book = Type.Object(BOOK, { $id: 'OrderBook' });
export type Book = Type.Static<typeof Book>;
export const OrderBookAnswer = Type.Object({ epoch: Type.String(), seq: Type.Integer(), ...BOOK });
export const OrderBookQuery = Type.Object({
  asset: AssetIdShape,
  digits: Type.Optional({ ...Digits, default: 3 }),
  levels: Limit(25, MAX_LEVELS),
});
export const OrderBookInput = Type.Object({
  asset: AssetIdShape,
  digits: Type.Optional({ ...Digits, default: 3 }),
  mode: Type.Optional({ ...OneOf(['snapshot', 'changes']), default: 'snapshot' }),
});
const BookChanges = Type.Object(
  {
    ...OF_POOL,
    bids: Type.Array(ChangedLevel),
    asks: Type.Array(ChangedLevel),
    limits: Type.Optional(WAITING.limits),
    pending: Type.Optional(WAITING.pending),
    checksum: Checksum,
  },
  { $id: 'OrderBookChanges' },
);
export type BookChanges = Type.Static<typeof BookChanges>;
export const OrderBookOutput = Type.Union([Book, BookChanges, Type.Null()]);
