/**
 * The pool of Splash that a launched token graduates into on mainnet: a constant product with a
 * royalty, fifteen fields, read strictly. What the treasury and the royalty have earned lies in the
 * pool's output and is no part of what it trades with. Source: splashprotocol/splash-core, "royalty
 * pool", and the graduation f5029566… of mainnet.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import type { PlutusData } from '../codec/plutusData.ts';
import { fieldsOf, readAssetData } from './datums.ts';

export interface SplashPoolDatum {
  readonly nft: AssetId;
  readonly token: AssetId;
  /** In the pool's output, but not the pool's. */
  readonly earnedLovelace: bigint;
  readonly earnedTokens: bigint;
}

const FIELDS = 15;
/** Treasury and royalty, of either side in turn. */
const EARNED = [7, 8, 9, 10] as const;

export function readSplashPool(data: PlutusData | null): SplashPoolDatum | null {
  const fields = fieldsOf(data, FIELDS);
  if (fields === null) return null;
  const [nft, coin, token] = fields.slice(0, 3).map(readAssetData);
  if (nft == null || nft === '.' || coin !== '.' || token == null || token === '.') return null;
  const [treasuryX, treasuryY, royaltyX, royaltyY] = EARNED.map((at) => fields[at]);
  if (typeof treasuryX !== 'bigint' || typeof royaltyX !== 'bigint') return null;
  if (typeof treasuryY !== 'bigint' || typeof royaltyY !== 'bigint') return null;
  if ([treasuryX, treasuryY, royaltyX, royaltyY].some((earned) => earned < 0n)) return null;
  return {
    ...{ nft, token },
    earnedLovelace: treasuryX + royaltyX,
    earnedTokens: treasuryY + royaltyY,
  };
}
