/** Holders, positions and balances: checks and documents (protocol.md section 2). */
import Type from 'typebox';
import { Amount, AssetIdShape, KeyHash } from '../schemas/identifiers.ts';
import { Limit, Offset } from '../schemas/paging.ts';

const DEFAULT_HOLDERS = 100;
const MAX_HOLDERS = 101;
const MAX_KEYS = 1000;

export const ADA = Type.String({ pattern: '^[0-9]+\\.[0-9]{6}$', description: 'ADA.' });
export const SIGNED_ADA = Type.String({ pattern: '^-?[0-9]+\\.[0-9]{6}$', description: 'ADA.' });
export const PRICE = Type.String({
  pattern: '^[0-9]+(\\.[0-9]*[1-9])?$',
  description: 'ADA per token; "0" where there was none.',
});
export const COUNT = Type.Integer({ minimum: 0 });
const SECONDS = Type.Integer({ description: 'Unix seconds, of the block.' });

export const HoldersQuery = Type.Object({
  assetId: AssetIdShape,
  limit: Limit(DEFAULT_HOLDERS, MAX_HOLDERS),
  offset: Offset,
});
export const TokenQuery = Type.Object({ assetId: AssetIdShape });
export const InsightsQuery = Type.Object({ asset: AssetIdShape });
export const TraderQuery = Type.Object({ asset: AssetIdShape, pkh: KeyHash });
export const Keys = Type.Array(KeyHash, {
  minItems: 1,
  maxItems: MAX_KEYS,
  description: 'Payment key hashes; a repeated hash counts once.',
});

const Holder = Type.Object({ address: Type.String({ description: 'bech32' }), quantity: Amount });
export const Holders = Type.Object({
  holders: Type.Array(Holder),
  dev: Type.Object(
    {
      address: Type.String({
        description: 'The author’s, as of the launch; empty where the launch does not tell.',
      }),
      quantity: Amount,
    },
    { description: 'Tokens of all addresses with the author’s payment key.' },
  ),
  count: Type.Integer({
    minimum: 0,
    description: 'Number of all holders, the same on every page.',
  }),
});

export const BALANCE = Type.String({
  pattern: '^[0-9]+$',
  description: 'Confirmed tokens at all addresses with this key, however they came.',
});
const TradingMetrics = Type.Object(
  {
    asset: AssetIdShape,
    pkh: KeyHash,
    buyCount: COUNT,
    sellCount: COUNT,
    boughtTokens: Amount,
    soldTokens: Amount,
    spentAda: ADA,
    receivedAda: ADA,
    balance: BALANCE,
    averageBuyPrice: PRICE,
    averageSellPrice: PRICE,
    realizedPnlAda: SIGNED_ADA,
    unrealizedPnlAda: SIGNED_ADA,
    firstTradeTime: SECONDS,
    lastTradeTime: SECONDS,
  },
  { $id: 'TradingMetrics' },
);
const PnlCard = Type.Object({
  asset: AssetIdShape,
  pnlPercent: Type.String({
    pattern: '^-?[0-9]+\\.[0-9]{2}$',
    description: 'Gain / invested × 100, a half rounded to the even one.',
  }),
  investedAda: ADA,
  currentAdaGain: Type.String({
    pattern: '^-?[0-9]+\\.[0-9]{6}$',
    description: 'ADA: realized and unrealized.',
  }),
});
const AssetBalance = Type.Object({
  balance: Type.Number({ minimum: 0, description: 'ADA: confirmed tokens × spot price.' }),
});

export const TradingMetricsOrNull = Type.Union([TradingMetrics, Type.Null()]);
export const PnlCardOrNull = Type.Union([PnlCard, Type.Null()]);
export const AssetBalanceOrNull = Type.Union([AssetBalance, Type.Null()]);

export type HolderPage = Type.Static<typeof Holders>;
export type TradingMetrics = Type.Static<typeof TradingMetrics>;
export type PnlCard = Type.Static<typeof PnlCard>;
export type AssetBalance = Type.Static<typeof AssetBalance>;
