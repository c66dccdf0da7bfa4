/** Orders over HTTP and WebSocket: checks and documents (api.md sections 2 and 6.3). */
import Type from 'typebox';
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

const MOST_KEYS = 1000;
export const AnyKeys = Type.Optional(
  Type.Union([Type.Null(), Type.Array(KeyHash, { maxItems: MOST_KEYS })], {
    description: 'Payment key hashes; none, null or [] for everybody.',
  }),
);
export const SomeKeys = Type.Array(KeyHash, {
  minItems: 1,
  maxItems: MOST_KEYS,
  description: 'Payment key hashes.',
});

const KeyFilter = Type.Optional(
  Type.Union([Type.Null(), Type.Array(KeyHash, { maxItems: MOST_KEYS })]),
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

const Level = Type.Tuple([Price, Type.String({ description: 'Tokens.' })]);
export const OrderBookInput = Type.Object({ asset: AssetIdShape });
export const OrderBookOutput = Type.Union([
  Type.Object({
    bids: Type.Array(Level, { description: 'Highest price first.' }),
    asks: Type.Array(Level, { description: 'Lowest price first.' }),
    spot: Price,
  }),
  Type.Null(),
]);
