import { formatAddress, parseAddress } from '../../cardano/codec/address.ts';
import { applyDataArgument } from '../../cardano/codec/flatScript.ts';
import { doubledScriptHash } from '../../cardano/codec/hash.ts';
import { datumOf, type Output, refText } from '../../cardano/codec/output.ts';
import { Constr } from '../../cardano/codec/plutusData.ts';
import { readSettingsData } from '../../cardano/datums/datums.ts';
import {
  type PartialDeployment,
  SCRIPT_NAMES,
  type ScriptName,
  settingsAddress,
  settingsNft,
} from '../../cardano/datums/deployment.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { MarketEvent } from '../../engine/market/events.ts';

/** Which term of the deployment an output misses that would be an order of ours otherwise. */
export type RefusedTerm = 'layout' | 'fee' | 'deposit';

/** The rules of recognition: the deployment, and the policy that a pool's token must have. */
export interface Rules {
  readonly deployment: PartialDeployment;
  /** The NFT and address of the settings; null: the deployment has none. */
  readonly settings: { readonly nft: AssetId; readonly address: string } | null;
  /**
   * Policy id of the token policy for a pool NFT's name, computed at each call. null where the
   * policy's template is unknown: then the NFT alone vouches for its token.
   */
  tokenPolicyId(nftName: string): string | null;
  /** Called for each such output: it is not filled, as after a change of the deployment's terms. */
  readonly refused?: (term: RefusedTerm) => void;
}

export function rulesOf(deployment: PartialDeployment): Rules {
  const { launchPolicyId, tokenPolicyTemplate, settings, addressNetwork } = deployment;
  return {
    deployment,
    settings:
      settings === undefined
        ? null
        : { nft: settingsNft(settings), address: settingsAddress(settings, addressNetwork) },
    tokenPolicyId(nftName) {
      if (tokenPolicyTemplate === null) return null;
      const parameter = new Constr(0, [launchPolicyId, nftName]);
      return doubledScriptHash(applyDataArgument(tokenPolicyTemplate, parameter));
    },
  };
}

/** The deployment's script that guards an output, by payment part; the stake part may be any. */
export function scriptOf(output: Output, { deployment }: Rules): ScriptName | null {
  const payment = parseAddress(output.address)?.payment;
  if (payment?.kind !== 'script') return null;
  const { scripts } = deployment;
  return SCRIPT_NAMES.find((name) => scripts[name]?.hash === payment.hash) ?? null;
}

/** Settings that an output leaves where they count, with their NFT; null: it does not. */
export function recogniseSettings(
  tx: string,
  index: number,
  output: Output,
  { settings, deployment }: Rules,
): MarketEvent | null {
  if (settings === null || output.value.assets.get(settings.nft) !== 1n) return null;
  if (output.address !== settings.address) return null;
  const datum = readSettingsData(datumOf(output), deployment.addressNetwork);
  if (datum === null) return null;
  const { executor, fee } = datum;
  const ref = refText({ txHash: tx, index });
  return { tx, kind: 'settings', ref, executor, feeAddress: formatAddress(fee) };
}
