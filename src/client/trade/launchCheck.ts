/**
 * Whether a transaction is the launch that was asked for: the token's name, both of its
 * descriptions, the pool under the creator's name, and the tokens of the first buy. The launch
 * policy, whose id is compared, asks the rest of the pool: address, curve, reserve and supply.
 */
import { parseAddress } from '../../cardano/codec/address.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import type { Output } from '../../cardano/codec/output.ts';
import { encodePlutusData } from '../../cardano/codec/plutusData.ts';
import { auxiliaryOf, type Transaction } from '../../cardano/codec/transaction.ts';
import { amountOf } from '../../cardano/codec/value.ts';
import { poolNftName } from '../../cardano/datums/datums.ts';
import { LAUNCH_TYPES, metadataData, type TokenMetadata } from '../../cardano/datums/metadata.ts';
import { type ShownToken, walletMetadata } from '../../cardano/datums/walletMetadata.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { buyTokens } from '../../engine/market/curve.ts';
import { webLink } from '../../engine/market/webLink.ts';
import type { ProtocolConfigAnswer } from '../types.ts';
import { contentIdOf } from './contentId.ts';
import type { Owner } from './owner.ts';
import type { LaunchRequest } from './tradingClient.ts';
import { integerOf } from './utxo.ts';

type Described = Pick<TokenMetadata, 'ticker' | 'logoCID' | 'description' | 'launchType'>;

export interface LaunchIntent extends Described, Pick<ShownToken, 'name' | 'mediaType'> {
  readonly kind: 'launch';
  readonly asset: AssetId;
  readonly socials: TokenMetadata['socials'];
  readonly initialLovelace: bigint;
  /** Tokens of the first buy, computed from the parameters of the curve. */
  readonly userTokens: bigint;
  /**
   * Terms of the deployment: the policy of pools' NFTs, the supply, and the address of
   * descriptions.
   */
  readonly launchPolicy: string;
  readonly supply: bigint;
  readonly metadataAddress: string;
}

/** Upper bound of the pool's own lovelace, the metadata output's and the least launch fee. */
const MAX_LAUNCH_LOVELACE = 20_000_000n;

export function objectionToLaunch(
  tx: Transaction,
  paidAway: readonly Output[],
  owner: Owner,
  intent: LaunchIntent,
): string | null {
  return (
    objectionToMint(tx, owner, intent) ??
    objectionToDescription(tx, owner, intent) ??
    objectionToPayments(tx, paidAway, owner, intent)
  );
}

function objectionToMint(
  { mint, inputs }: Transaction,
  owner: Owner,
  { asset, name, supply, launchPolicy }: LaunchIntent,
): string | null {
  const minted = mint.get(asset);
  if (minted !== supply) return `it mints ${minted ?? 0n} tokens, not ${supply}`;
  const [nft, ...more] = [...mint].filter(([id]) => id !== asset);
  if (nft === undefined || nft[1] !== 1n || more.length > 0) {
    return 'it mints more than token and pool NFT';
  }
  if (asset.split('.')[1] !== toHex(new TextEncoder().encode(name))) return 'another name';
  const { keyHash: creatorPkh } = owner;
  const stake = parseAddress(owner.address)?.stake;
  const creatorSkh = stake?.kind === 'key' ? stake.hash : '';
  const isOwnPool = inputs.some((seed) => {
    const nftName = poolNftName({ seed, creatorPkh, creatorSkh });
    return nft[0] === `${launchPolicy}.${nftName}`;
  });
  return isOwnPool ? null : 'its pool is another’s, or of another launchpad';
}

function objectionToDescription(
  tx: Transaction,
  owner: Owner,
  intent: LaunchIntent,
): string | null {
  const { asset, metadataAddress } = intent;
  const { data } = auxiliaryOf(tx);
  const shown = walletMetadata({ ...intent, token: asset });
  if (data === null || toHex(data) !== toHex(shown)) return 'wallets would show something else';
  const stake = parseAddress(owner.address)?.stake;
  const author = { pkh: owner.keyHash, skh: stake?.kind === 'key' ? stake.hash : '' };
  const datum = toHex(encodePlutusData(metadataData({ ...intent, author })));
  const described = tx.outputs.filter(({ address }) => address === metadataAddress);
  const isOurs = described.length === 1 && described[0]?.datum === datum;
  return isOurs ? null : 'it describes the token otherwise';
}

function objectionToPayments(
  { outputs, mint }: Transaction,
  paidAway: readonly Output[],
  owner: Owner,
  { asset, initialLovelace, userTokens }: LaunchIntent,
): string | null {
  const own = outputs.filter(({ address }) => address === owner.address);
  const kept = own.reduce((sum, { value }) => sum + amountOf(value, asset), 0n);
  if (kept !== userTokens) return `it keeps ${kept} tokens for us, not ${userTokens}`;
  if (initialLovelace > 0n && userTokens === 0n) return 'the initial buy brings nothing';
  let lovelace = 0n;
  for (const { value } of paidAway) {
    lovelace += value.lovelace;
    if ([...value.assets.keys()].some((id) => !mint.has(id))) return 'it gives away other tokens';
  }
  const most = initialLovelace + initialLovelace / 100n + MAX_LAUNCH_LOVELACE;
  return lovelace > most ? `it pays ${lovelace} lovelace away, more than ${most}` : null;
}

/**
 * Values that the transaction must have, computed from the request and the deployment. The curve is
 * new, so the first buy brings exactly what its parameters give.
 */
export async function launchTerms(
  request: LaunchRequest,
  { addresses, parameters }: ProtocolConfigAnswer,
): Promise<Omit<LaunchIntent, 'kind' | 'asset'>> {
  const { image, ticker, description, initialLovelace } = request;
  const supply = integerOf(parameters.tokenEmission.raw);
  const [aNum, bNum] = [integerOf(parameters.aNum), integerOf(parameters.bNum)];
  const launchType = request.launchType || 'DEFAULT';
  return {
    ...{ ticker, description, initialLovelace, supply },
    name: request.name.trim(),
    logoCID: contentIdOf(new Uint8Array(await image.arrayBuffer())),
    mediaType: image.type,
    launchType: LAUNCH_TYPES.indexOf(launchType),
    socials: {
      twitter: linkOf(request.twitter),
      discord: linkOf(request.discord),
      telegram: linkOf(request.telegram),
      website: linkOf(request.website),
    },
    userTokens: buyTokens({ supply, aNum, bNum }, 0n, initialLovelace),
    launchPolicy: addresses.launchPolicy,
    metadataAddress: addresses.metadata,
  };
}

/** As a launch stores it; the server refuses a text that is not a link. */
function linkOf(text: string | null | undefined): string {
  return text ? (webLink(text) ?? text) : '';
}
