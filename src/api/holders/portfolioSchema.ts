/** Portfolios of payment keys: checks and documents (protocol.md section 9.4). */
import Type from 'typebox';
import { OrderPage } from '../schemas/apiOrder.ts';
import { Format } from '../schemas/format.ts';
import { Amount, AssetIdShape, OneOf } from '../schemas/identifiers.ts';
import { LockRow } from '../schemas/locks.ts';
import { Limit, Offset } from '../schemas/paging.ts';
import { SPAN } from '../schemas/timeSpan.ts';
import { ADA, COUNT, PRICE, SIGNED_ADA } from './schema.ts';

export const MAX_POINTS = 1000;
const MAX_TOKENS = 500;
const TIME = Type.Union([Type.Integer(), Type.Null()], {
  description: 'Unix seconds; null without a trade.',
});
const PNL = {
  spentAda: ADA,
  receivedAda: ADA,
  realizedPnlAda: SIGNED_ADA,
  unrealizedPnlAda: SIGNED_ADA,
  pnlPercent: Type.Union([Type.String({ pattern: '^-?[0-9]+\\.[0-9]{2}$' }), Type.Null()], {
    description: 'Realized and unrealized / spent × 100; null where nothing was spent.',
  }),
};

export const PortfolioQuery = Type.Object({ offset: Offset, limit: Limit(100, MAX_TOKENS) });

const PortfolioToken = Type.Object({
  asset: AssetIdShape,
  name: Type.String(),
  ticker: Type.String(),
  logoCID: Type.String(),
  price: Type.String({ ...PRICE, description: 'Spot, ADA per token.' }),
  balance: Type.String({ ...Amount, description: 'Confirmed tokens, however they came.' }),
  valueAda: Type.String({ ...ADA, description: 'balance × price.' }),
  buyCount: COUNT,
  sellCount: COUNT,
  boughtTokens: Amount,
  soldTokens: Amount,
  averageBuyPrice: PRICE,
  averageSellPrice: PRICE,
  ...PNL,
  firstTradeTime: TIME,
  lastTradeTime: TIME,
});

export const Portfolio = Type.Object({
  valueAda: Type.String({ ...ADA, description: 'Value of all tokens, without the wallets’ ADA.' }),
  ...PNL,
  count: Type.Integer({ minimum: 0, description: 'Number of all tokens, the same on every page.' }),
  tokens: Type.Array(PortfolioToken, {
    description: 'Held, or traded once. The most valuable first; ties by asset id.',
  }),
  openOrders: Type.Object(OrderPage.properties, {
    description: 'The newest 100 orders that have not ended, and every order in the mempool.',
  }),
  locks: Type.Array(LockRow, { description: 'Unspent, by reference.' }),
});
export type Portfolio = Type.Static<typeof Portfolio>;
export type PortfolioToken = Type.Static<typeof PortfolioToken>;

export const PortfolioHistoryQuery = Type.Object({
  resolution: OneOf(['min1', 'min5', 'hour1', 'day1'], {
    description: 'Points a minute, 5 minutes, an hour or a day apart, UTC.',
  }),
  ...SPAN,
  limit: Limit(MAX_POINTS, MAX_POINTS),
  format: Format,
});

export const PortfolioPoint = Type.Object({
  time: Type.Integer({ description: 'Start of the interval, Unix seconds.' }),
  valueAda: Type.String({
    ...ADA,
    description: 'At its end: tokens bought and not sold again, at their spot price.',
  }),
  costAda: Type.String({ ...ADA, description: 'Cost of these tokens.' }),
  realizedPnlAda: Type.String({ ...SIGNED_ADA, description: 'Since the first trade.' }),
  unrealizedPnlAda: Type.String({ ...SIGNED_ADA, description: 'valueAda − costAda.' }),
  final: Type.Boolean({ description: 'The interval has ended.' }),
});
export type PortfolioPoint = Type.Static<typeof PortfolioPoint>;
