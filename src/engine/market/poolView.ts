/**
 * A pool as clients see it. Source: protocol.md section 2, LiquidityPoolInfo: the contract fixes
 * which numbers are text, and the sort keys of the lists.
 */
import { type AssetId, COIN } from './asset.ts';
import { formatUnits } from './decimal.ts';
import type { LaunchedToken, RefText, Reserves } from './events.ts';
import type { TrustFacts } from './trust.ts';

/** State of a pool, apart from its launch. */
export interface PoolFacts extends LaunchedToken {
  readonly reserves: Reserves;
  /** The unspent output that holds the pool. */
  readonly ref: RefText;
  /** Time of its launch; null: that was before its history begins here, and is not known. */
  readonly createdMs: number | null;
  /** Its launch, or when its history begins here. */
  readonly firstMs: number;
  /** Where it was not launched here: its reserves when its history began. */
  readonly firstReserves?: Reserves;
  /** When its output last changed. */
  readonly movedMs: number;
  readonly lastTradeMs: number | null;
  readonly graduatedMs: number | null;
  /** NFT of the pool after graduation; absent: the same. */
  readonly ammNft?: AssetId;
  /** When its market cap was the highest of all for the first time. */
  readonly crownedMs: number | null;
  readonly volumeLovelace: string;
  readonly fills: number;
  /** Height of its launch block; null: that was before its history begins here. */
  readonly launchHeight: number | null;
  readonly trust: TrustFacts;
  /** Slot of the block with which its history begins here; null: with its launch. */
  readonly sinceSlot: number | null;
}

/** `Lock`: a row of the token's unspent locks, as the vesting service shows it. */
export function viewPool<Lock>(pool: PoolFacts, marketCapLovelace: bigint, locks: readonly Lock[]) {
  return {
    pool: viewReserves(pool),
    metrics: {
      marketCap: Number(marketCapLovelace),
      totalVolumeAda: Number(pool.volumeLovelace),
      totalTxCount: pool.fills,
      crowned: pool.crownedMs === null ? null : seconds(pool.crownedMs),
      sequentialOrderingEnabled: false,
      since: pool.sinceSlot,
      locks,
    },
    info: viewInfo(pool),
  };
}

function viewReserves(pool: PoolFacts) {
  const [transactionId = '', index = '0'] = pool.ref.split(':');
  const { x, y } = pool.reserves;
  const { pkh, skh } = pool.author;
  return {
    id: pool.nft,
    x: { asset: COIN, amount: x },
    y: { asset: pool.token, amount: y },
    outputId: { transactionId, transactionIndex: Number(index) },
    aNum: Number(pool.aNum),
    bNum: Number(pool.bNum),
    adaCapThreshold: Number(pool.thresholdLovelace),
    poolAuthor: skh === '' ? pkh : skh,
    launchType: '' as const,
    createdOn: pool.createdMs === null ? null : seconds(pool.createdMs),
    permittedExecutor: pool.executor,
    cpmmPoolId: pool.graduatedMs === null ? null : (pool.ammNft ?? pool.nft),
    version: 'v1' as const,
    timestamp: seconds(pool.movedMs),
  };
}

export function viewInfo(pool: LaunchedToken) {
  const { token, name, ticker, logoCID, description, launchType, metadataRef } = pool;
  const { twitter, telegram, discord, website } = pool.socials;
  return {
    asset: token,
    name,
    ticker,
    logoCID,
    description,
    launchType,
    poolAuthor: { pkh: pool.author.pkh, skh: pool.author.skh },
    socials: {
      twitter: orNull(twitter),
      telegram: orNull(telegram),
      discord: orNull(discord),
      website: orNull(website),
    },
    outputId: metadataRef,
    // The chain does not say which it is.
    assetType: 'Meme',
  };
}

/** Percent of the cap, cut to 2 decimals; 100 from the cap on, and for good after graduation. */
export function curveProgress(pool: PoolFacts): string {
  const x = BigInt(pool.reserves.x);
  const cap = BigInt(pool.thresholdLovelace);
  if (pool.graduatedMs !== null || x >= cap) return '100';
  return formatUnits((x * 10_000n) / cap, 2);
}

export const POOL_LISTS = [
  'New',
  'Latest',
  'CompletedCreateOn',
  'CompletedMCap',
  'MCapDesc',
] as const;
export type PoolList = (typeof POOL_LISTS)[number];

/** The lists that clients may ask for. Trending is not sorted by a field of the pool. */
export const POOL_LIST_NAMES = [...POOL_LISTS, 'Trending'] as const;
export type PoolListName = (typeof POOL_LIST_NAMES)[number];

/** Sort key of a list: the larger comes first, null is not on the list; ties go by asset id. */
export type ListRank = number | bigint | null;

/**
 * Times count in whole seconds, as clients see them, so that they can keep a list in order
 * themselves.
 */
export function rankOn(list: PoolList, pool: PoolFacts, marketCapLovelace: bigint): ListRank {
  const isCompleted = pool.graduatedMs !== null;
  if (list === 'New') return rankOfTime(pool.createdMs);
  if (list === 'Latest') return rankOfTime(pool.lastTradeMs ?? pool.createdMs);
  if (list === 'CompletedCreateOn') return isCompleted ? rankOfTime(pool.createdMs) : null;
  return isCompleted === (list === 'CompletedMCap') ? marketCapLovelace : null;
}

/** Unknown times come last. */
function rankOfTime(timeMs: number | null): number {
  return timeMs === null ? -1 : seconds(timeMs);
}

function seconds(timeMs: number): number {
  return Math.floor(timeMs / 1000);
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}
