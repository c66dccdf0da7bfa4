/**
 * A token's metadata: a datum at the deployment's metadata address, read from the launch
 * transaction only. Source: onchain.md, section Outputs.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import { fromHex, toHex } from '../codec/hex.ts';
import { Constr, type PlutusData } from '../codec/plutusData.ts';
import { assetData, fieldsOf, readAssetData } from './datums.ts';

export const LAUNCH_TYPES = ['DEFAULT', 'HYPED'] as const;

export interface TokenMetadata {
  readonly asset: AssetId;
  readonly ticker: string;
  readonly logoCID: string;
  readonly description: string;
  /** Index into LAUNCH_TYPES. */
  readonly launchType: number;
  readonly author: { readonly pkh: string; readonly skh: string };
  /** Empty text where there is none. */
  readonly socials: {
    readonly twitter: string;
    readonly discord: string;
    readonly telegram: string;
    readonly website: string;
  };
}

const UTF8 = new TextEncoder();
const VERSION = 1n;
const MAX_URL_BYTES = 200;
const MAX_CHARACTERS = 1_000;

export function metadataData(metadata: TokenMetadata): Constr {
  const { asset, ticker, logoCID, description, launchType, author, socials } = metadata;
  const { twitter, discord, telegram, website } = socials;
  return new Constr(0, [
    assetData(asset),
    textData(ticker),
    textData(logoCID),
    textData(description),
    BigInt(launchType),
    new Constr(0, [author.pkh, author.skh]),
    new Constr(0, [twitter, discord, telegram, website].map(textData)),
    VERSION,
  ]);
}

export function readMetadata(data: PlutusData | null): TokenMetadata | null {
  const fields = fieldsOf(data, 8);
  if (fields === null || fields[7] !== VERSION) return null;
  const asset = readAssetData(fields[0]);
  const [ticker, logoCID, description] = fields.slice(1, 4).map(readText);
  const launchType = fields[4];
  const [pkh, skh] = fieldsOf(fields[5], 2) ?? [];
  const [twitter, discord, telegram, website] = (fieldsOf(fields[6], 4) ?? []).map(readText);
  if (asset === null || ticker == null || logoCID == null || description == null) return null;
  if (typeof launchType !== 'bigint' || typeof pkh !== 'string' || typeof skh !== 'string') {
    return null;
  }
  if (twitter == null || discord == null || telegram == null || website == null) return null;
  return {
    asset,
    ticker,
    logoCID,
    description,
    launchType: launchType === 1n ? 1 : 0,
    author: { pkh: keyHash(pkh), skh: keyHash(skh) },
    socials: {
      twitter: webUrl(twitter),
      discord: webUrl(discord),
      telegram: webUrl(telegram),
      website: webUrl(website),
    },
  };
}

function textData(text: string): string {
  return toHex(UTF8.encode(text));
}

/** Empty where it is none: bytes of any length may stand there. */
function keyHash(bytes: string): string {
  return bytes.length === 56 ? bytes : '';
}

/** A launch by hand may contain other schemes or endless texts; these are not served. */
function webUrl(text: string): string {
  const isWeb = /^https?:\/\/[^\s\p{Cc}]+$/u.test(text);
  return isWeb && UTF8.encode(text).length <= MAX_URL_BYTES ? text : '';
}

/** Text in UTF-8; broken sequences become replacement characters, they are no reason to refuse. */
function readText(data: PlutusData | undefined): string | null {
  if (typeof data !== 'string') return null;
  const text = new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(fromHex(data))
    .replaceAll(/\p{Cc}/gu, ' ');
  return [...text].slice(0, MAX_CHARACTERS).join('');
}
