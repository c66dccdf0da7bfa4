/**
 * What the API answers, as far as this client reads it. Fields that are ours and may be missing on
 * another implementation are optional. Source: api.md sections 2 to 5.
 */
import Type, { type Static } from 'typebox';

const Digits = Type.String({ pattern: '^[0-9]{1,40}$' });
const Hex = Type.String({ pattern: '^[0-9a-fA-F]*$' });
const Asset = Type.String({ pattern: '^(\\.|[0-9a-f]{56}\\.([0-9a-f]{2}){0,32})$' });

const QUOTE = {
  price: Type.Object({ numerator: Digits, denominator: Digits }),
  outputAmount: Digits,
  inputAmount: Digits,
  outputAsset: Asset,
  inputAsset: Asset,
  venue: Type.Optional(Type.Enum(['CURVE', 'AMM'])),
  expiresAt: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
};

export const Quote = Type.Object(QUOTE);
export type Quote = Static<typeof Quote>;

export const BuiltOrder = Type.Object({ ...QUOTE, cbor: Hex, beacon: Hex });
export type BuiltOrder = Static<typeof BuiltOrder>;

export const BuiltLaunch = Type.Object({
  cbor: Hex,
  assetId: Asset,
  policyId: Hex,
  logoCID: Type.String(),
  userOutputTokens: Type.Optional(Type.Union([Digits, Type.Integer(), Type.Null()])),
});
export type BuiltLaunch = Static<typeof BuiltLaunch>;

export const Built = Type.Object({ cbor: Hex });
export const Submitted = Type.Object({ txHash: Type.String({ pattern: '^[0-9a-f]{64}$' }) });
export const ServerTime = Type.Object({ timestamp: Type.Integer() });
export const Height = Type.Object({ height: Type.Integer() });

export const UtxoRow = Type.Object({
  txHash: Type.String(),
  index: Type.Integer(),
  address: Type.String(),
  value: Type.Array(Type.Object({ unit: Type.String(), amount: Digits })),
});
export type UtxoRow = Static<typeof UtxoRow>;
export const UtxoRows = Type.Array(UtxoRow);

export const LockRow = Type.Object({
  id: Type.String(),
  lockUntil: Type.String({ pattern: '^[0-9]{1,40}$' }),
  tokenPolicyId: Type.String(),
  tokenAssetName: Type.String(),
  totalLocked: Digits,
});
export type LockRow = Static<typeof LockRow>;
export const LockRows = Type.Object({ vestings: Type.Array(LockRow) });

export const PoolRow = Type.Object({
  pool: Type.Object({
    createdOn: Type.Integer(),
    cpmmPoolId: Type.Union([Type.String(), Type.Null()]),
  }),
  metrics: Type.Object({ marketCap: Type.Number() }),
  info: Type.Object({ asset: Asset, name: Type.String() }),
});
export type PoolRow = Static<typeof PoolRow>;
export const PoolRows = Type.Array(PoolRow);
