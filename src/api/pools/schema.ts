/**
 * LiquidityPoolInfo, and the inputs of its routes: checks and documents (protocol.md section 2).
 */
import Type from 'typebox';
import { POOL_LIST_NAMES } from '../../engine/market/poolView.ts';
import { MAX_NAMED_TOKENS, MAX_SEARCH_CHARACTERS } from '../../engine/runtime/limits.ts';
import { Amount, AssetIdShape, KeyHash, OneOf, TxHash } from '../schemas/identifiers.ts';
import { LockRow } from '../schemas/locks.ts';
import { MAX_ON_PAGE } from './route.ts';

const SECONDS = Type.Integer({ description: 'Unix seconds.' });
const LOVELACE = Type.Integer({ description: 'Lovelace.' });
const EMPTY_OR_KEY_HASH = Type.String({ pattern: '^([0-9a-f]{56})?$' });
const LINK = Type.Union([Type.String(), Type.Null()]);

export const AssetInfo = Type.Object(
  {
    asset: AssetIdShape,
    name: Type.String(),
    ticker: Type.String(),
    logoCID: Type.String(),
    description: Type.String(),
    launchType: Type.Integer({ description: '0: DEFAULT, 1: HYPED.' }),
    poolAuthor: Type.Object({ pkh: EMPTY_OR_KEY_HASH, skh: EMPTY_OR_KEY_HASH }),
    socials: Type.Object({ twitter: LINK, telegram: LINK, discord: LINK, website: LINK }),
    outputId: Type.Union([Type.String(), Type.Null()], {
      description: '`<tx>:<index>` of the metadata; null where the launch carried none.',
    }),
    assetType: Type.String(),
  },
  { $id: 'AssetInfo' },
);

const Pool = Type.Object({
  id: AssetIdShape,
  x: Type.Object({ asset: Type.Literal('.'), amount: Amount }),
  y: Type.Object({ asset: AssetIdShape, amount: Amount }),
  outputId: Type.Object({ transactionId: TxHash, transactionIndex: Type.Integer() }),
  aNum: Type.Number(),
  bNum: Type.Number(),
  adaCapThreshold: LOVELACE,
  poolAuthor: EMPTY_OR_KEY_HASH,
  launchType: Type.Literal(''),
  createdOn: Type.Union([SECONDS, Type.Null()], {
    description:
      'Time of the launch. null: following began later, and Kupo does not have it. Last in lists.',
  }),
  permittedExecutor: KeyHash,
  cpmmPoolId: Type.Union([AssetIdShape, Type.Null()], { description: 'Set by graduation.' }),
  version: Type.Literal('v1'),
  timestamp: SECONDS,
});

const Metrics = Type.Object({
  marketCap: LOVELACE,
  totalVolumeAda: LOVELACE,
  totalTxCount: Type.Integer(),
  crowned: Type.Union([SECONDS, Type.Null()], {
    description: 'null: it was never on top, or its history is not whole (`since`).',
  }),
  sequentialOrderingEnabled: Type.Boolean(),
  since: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'null: its history is whole. Else the slot with which this node’s history of it begins, ' +
      'because following began after its launch: earlier trades, volume and holders are missing.',
  }),
  locks: Type.Array(LockRow),
});

/** Reserves without the 3 ADA that keep the pool's output alive. */
export const LiquidityPoolInfo = Type.Object(
  { pool: Pool, metrics: Metrics, info: AssetInfo },
  { $id: 'LiquidityPoolInfo' },
);

export const PoolListQuery = Type.Object({
  filter: OneOf(POOL_LIST_NAMES, {
    description:
      'New: by launch. Latest: by last trade. MCapDesc: not graduated, by market cap. ' +
      'CompletedCreateOn, CompletedMCap: graduated, by launch and by market cap. ' +
      'Trending: by volume in 24 hours, graduated included, ties by market cap.',
  }),
});
export const AssetQuery = Type.Object({ asset: AssetIdShape });
export const Progress = Type.Object({
  percent: Type.String({ description: 'Percent of the cap, cut to 2 decimals.' }),
});

export const Pools = Type.Object({
  count: Type.Integer({ minimum: 0, description: 'How many there are, on this page or not.' }),
  items: Type.Array(LiquidityPoolInfo),
});

const MAX_OFFSET = 1_000_000_000;
const OFFSET = { ...Type.Integer({ minimum: 0, maximum: MAX_OFFSET }), default: 0 };
function limitOf(most: number) {
  return { ...Type.Integer({ minimum: 1, maximum: most }), default: most };
}

export const SearchQuery = Type.Object({
  pattern: Type.String({
    // At least one character that is no space, and no backslash anywhere.
    pattern: '^\\s*[^\\s\\\\][^\\\\]*$',
    maxLength: MAX_SEARCH_CHARACTERS,
    description:
      `Search text: more than space, at most ${MAX_SEARCH_CHARACTERS} code points, ` +
      'no backslash.',
  }),
  offset: Type.Optional(OFFSET),
  limit: Type.Optional(limitOf(MAX_ON_PAGE)),
});

export const FollowedAssets = Type.Array(AssetIdShape, {
  minItems: 1,
  maxItems: MAX_NAMED_TOKENS,
  description: 'Asset ids of tokens.',
});
const MAX_FOLLOWING = 60;
export const FollowingQuery = Type.Object({
  offset: Type.Optional(OFFSET),
  limit: Type.Optional(limitOf(MAX_FOLLOWING)),
});

export const PoolFeedInput = Type.Object({ asset: AssetIdShape });
export const PoolOrNull = Type.Union([LiquidityPoolInfo, Type.Null()]);

export const PoolListUpdate = Type.Object(
  {
    items: Type.Array(LiquidityPoolInfo, {
      description: 'Pools that changed or are new on the page; a snapshot has every pool.',
    }),
    order: Type.Array(AssetIdShape, {
      description:
        'Asset ids of the page in their order. The pool of each is in `items`, or was in ' +
        'an earlier update’s; a pool that is not named has left the page.',
    }),
    crc32: Type.Integer({
      minimum: 0,
      maximum: 0xff_ff_ff_ff,
      description: 'Unsigned IEEE CRC-32 of the asset ids of `order` joined by commas.',
    }),
  },
  { $id: 'PoolListUpdate' },
);
