/** Rows of the trade tape: checks and documents (api.md section 2). */
import Type from 'typebox';
import { Amount, AssetIdShape, TxHash } from '../schemas/identifiers.ts';
import { Limit } from '../schemas/paging.ts';

const TradeId = Type.String({
  pattern: '^[0-9]{12}\\.[0-9]{6}\\.[0-9]{4}$',
  description: 'Place in the chain: slot, transaction, fill. Sorts; unique for the token.',
});
const Price = Type.String({ description: 'ADA per token.' });

export const TradeRow = Type.Object(
  {
    id: TradeId,
    time: Type.Integer({ description: 'Unix seconds.' }),
    side: Type.Union([Type.Literal('buy'), Type.Literal('sell')]),
    price: Type.String({
      description: 'ADA per token: coin over tokens moved, percent fee left out.',
    }),
    baseAmount: Type.String({ ...Amount, description: 'Tokens moved.' }),
    quoteAmount: Type.String({ ...Amount, description: 'Lovelace moved.' }),
    txHash: TxHash,
    pkh: Type.String({ description: 'Payment key of the trader; empty where it cannot be told.' }),
    spotAfter: Price,
  },
  { $id: 'TradeRow' },
);

export const TradesQuery = Type.Object({
  asset: AssetIdShape,
  before: Type.Optional({ ...TradeId, description: 'Only trades older than this one.' }),
  limit: Limit(100, 500),
});
export const TradesInput = Type.Object({ asset: AssetIdShape });
const Removed = Type.Object({ id: TradeId, removed: Type.Literal(true) });
export const TradesOutput = Type.Union([Type.Array(Type.Union([TradeRow, Removed])), Type.Null()], {
  description: 'Newest first; after a rollback also `{id, removed: true}`.',
});
