/**
 * A launch: the pool's NFT and all its tokens are minted, the pool and the metadata placed, the fee
 * paid, and perhaps the first tokens bought, in one transaction. The NFT is named after an output
 * of the launcher that this transaction spends, so there is no second launch like it. Wallets read
 * the metadata of the transaction, the server those in the datum.
 * Source: onchain.md, sections Outputs and What each validator must enforce.
 */

import type { AssetId } from '../../engine/market/asset.ts';
import { poolLovelace } from '../../engine/market/pool.ts';
import type { LaunchQuote } from '../../engine/market/quote.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { MAX_NAME_BYTES } from '../../engine/runtime/limits.ts';
import { type Address, formatAddress, scriptAddress } from '../codec/address.ts';
import { applyDataArgument } from '../codec/flatScript.ts';
import { doubledScriptHash } from '../codec/hash.ts';
import { toHex } from '../codec/hex.ts';
import type { Utxo } from '../codec/output.ts';
import { Constr } from '../codec/plutusData.ts';
import { asValue, coins, type Value } from '../codec/value.ts';
import { assetData, type LaunchId, launchIdData, poolData, poolNftName } from '../datums/datums.ts';
import { capLovelace, type Deployment } from '../datums/deployment.ts';
import { metadataData, type TokenMetadata } from '../datums/metadata.ts';
import { type ShownToken, walletMetadata } from '../datums/walletMetadata.ts';
import type { ProtocolParameters } from '../ledger/parameters.ts';
import { minLovelace } from './cost.ts';
import {
  dataHex,
  type PlannedCollateral,
  type PlannedMint,
  type PlannedOutput,
  planOf,
  type TransactionPlan,
} from './plan.ts';

export const POOL_OUTPUT = 0;
export const METADATA_OUTPUT = 2;

interface LaunchRequest {
  /** A key address: it creates the pool, gets the first tokens and the change. */
  readonly creator: Address;
  /** UTF-8, at most 32 bytes. */
  readonly name: string;
  readonly metadata: Pick<
    TokenMetadata,
    'ticker' | 'logoCID' | 'description' | 'launchType' | 'socials'
  > &
    Pick<ShownToken, 'mediaType'>;
  readonly quote: LaunchQuote;
}

interface LaunchData {
  readonly wallet: readonly Utxo[];
  /** Reference inputs with the launch policy and with the settings. */
  readonly references: readonly Utxo[];
  readonly collateral: PlannedCollateral;
  readonly parameters: ProtocolParameters;
}

interface PlannedLaunch {
  readonly plan: TransactionPlan;
  readonly launchId: LaunchId;
  readonly nft: AssetId;
  readonly token: AssetId;
  /** The ada that a launch needs; error messages show it to a wallet that has too little. */
  readonly note: string;
}

const EMPTY_WALLET = 'wallet: it holds nothing to launch with';

/** `deployment`: with the executor and the fee address that the settings name. */
export function planLaunch(
  deployment: Deployment,
  request: LaunchRequest,
  data: LaunchData,
): PlannedLaunch | Failure {
  const { creator, name, metadata } = request;
  const seed = seedOf(data.wallet);
  if (seed === null) return new Failure('SERVER_ERROR', EMPTY_WALLET, { retry: false });
  const creatorSkh = creator.stake?.kind === 'key' ? creator.stake.hash : '';
  const launchId = { seed: seed.ref, creatorPkh: creator.payment.hash, creatorSkh };
  const { launchPolicyId, tokenPolicyTemplate } = deployment;
  const nftName = poolNftName(launchId);
  const parameter = new Constr(0, [launchPolicyId, nftName]);
  const script = applyDataArgument(tokenPolicyTemplate, parameter);
  const nameHex = toHex(Buffer.from(name, 'utf8'));
  assert(nameHex.length > 0 && nameHex.length <= 2 * MAX_NAME_BYTES, 'the route checked the name');
  const nft = `${launchPolicyId}.${nftName}`;
  const token = `${doubledScriptHash(script)}.${nameHex}`;
  const tokenMint: PlannedMint = {
    policyId: doubledScriptHash(script),
    amounts: new Map([[nameHex, deployment.curve.supply]]),
    redeemer: dataHex(new Constr(0, [nameHex])),
    script,
  };
  const launched = [launchIdData(launchId), BigInt(POOL_OUTPUT), assetData(token)];
  const nftMint: PlannedMint = {
    policyId: launchPolicyId,
    amounts: new Map([[nftName, 1n]]),
    redeemer: dataHex(new Constr(0, launched)),
    script: null,
  };
  const outputs = launchOutputs(deployment, request, data.parameters, { nft, token }, launchId);
  const plan = planOf({
    inputs: [{ utxo: seed, redeemer: null }],
    wallet: data.wallet,
    outputs,
    mints: [nftMint, tokenMint],
    references: data.references,
    auxiliaryData: toHex(walletMetadata({ ...metadata, token, name })),
    signers: [creator.payment.hash],
    collateral: data.collateral,
    changeAddress: formatAddress(creator),
  });
  return { plan, launchId, nft, token, note: noteOf(outputs) };
}

/**
 * The output that names the launch. The launch spends it in any case, so the output with most
 * lovelace is chosen.
 */
function seedOf(wallet: readonly Utxo[]): Utxo | null {
  const free = wallet.filter(({ output }) => output.scriptHash === null);
  const pure = free.filter(({ output }) => output.value.assets.size === 0);
  const [first, ...more] = pure.length > 0 ? pure : free;
  if (first === undefined) return null;
  return more.reduce((best, utxo) => {
    return utxo.output.value.lovelace > best.output.value.lovelace ? utxo : best;
  }, first);
}

function launchOutputs(
  deployment: Deployment,
  { creator, metadata, quote }: LaunchRequest,
  parameters: ProtocolParameters,
  { nft, token }: { readonly nft: AssetId; readonly token: AssetId },
  { creatorPkh, creatorSkh }: LaunchId,
): PlannedOutput[] {
  const { addressNetwork, scripts, curve, fees } = deployment;
  const datum = {
    nft,
    token,
    aNum: curve.aNum,
    bNum: curve.bNum,
    executor: deployment.executorKeyHash,
    capLovelace: capLovelace(deployment),
    witness1: scripts.ammPool.hash,
    witness2: deployment.settings.policyId,
  };
  const pool: PlannedOutput = {
    address: scriptAddress(addressNetwork, scripts.curvePool.hash, null),
    value: asValue(poolLovelace(quote.pool, fees), [
      [nft, 1n],
      [token, quote.pool.y],
    ]),
    datum: dataHex(poolData(datum)),
  };
  const fee = { address: deployment.feeAddress, value: coins(quote.feeLovelace), datum: null };
  const author = { pkh: creatorPkh, skh: creatorSkh };
  const described = dataHex(metadataData({ ...metadata, asset: token, author }));
  const least = (address: string, value: Value, data: string | null): PlannedOutput => {
    const bare = { address, value, datum: data };
    return { ...bare, value: { ...value, lovelace: minLovelace(parameters, bare) } };
  };
  const outputs = [pool, fee, least(deployment.metadataAddress, coins(0n), described)];
  if (quote.userTokens === 0n) return outputs;
  const bought = asValue(0n, [[token, quote.userTokens]]);
  return [...outputs, least(formatAddress(creator), bought, null)];
}

function noteOf(outputs: readonly PlannedOutput[]): string {
  const all = outputs.reduce((sum, { value }) => sum + value.lovelace, 0n);
  const metadata = outputs[METADATA_OUTPUT]?.value.lovelace ?? 0n;
  return `the launch takes ${all} lovelace and the network fee, ${metadata} of it for the metadata`;
}
