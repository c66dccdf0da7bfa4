import { parseAddress } from '../../cardano/codec/address.ts';
import { doubledScriptHash } from '../../cardano/codec/hash.ts';
import type { Output } from '../../cardano/codec/output.ts';
import { Constr } from '../../cardano/codec/plutusData.ts';
import {
  type PartialDeployment,
  SCRIPT_NAMES,
  type ScriptName,
} from '../../cardano/datums/deployment.ts';
import { applyDataArgument } from '../../cardano/ledger/scalus.ts';

/** The rules of recognition: the deployment, and the policy that a pool's token must have. */
export interface Rules {
  readonly deployment: PartialDeployment;
  /**
   * Policy id of the token policy for a pool NFT's name. Takes a few milliseconds; called once per
   * launch. null where the policy's template is unknown: then the NFT alone vouches for its token.
   */
  tokenPolicyId(nftName: string): string | null;
}

export function rulesOf(deployment: PartialDeployment): Rules {
  const { launchPolicyId, tokenPolicyTemplate } = deployment;
  return {
    deployment,
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
