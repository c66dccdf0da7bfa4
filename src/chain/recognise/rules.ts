import { type Credential, parseAddress } from '../../cardano/codec/address.ts';
import { doubledScriptHash } from '../../cardano/codec/hash.ts';
import type { Output } from '../../cardano/codec/output.ts';
import { Constr } from '../../cardano/codec/plutusData.ts';
import type { PartialDeployment } from '../../cardano/datums/deployment.ts';
import { applyDataArgument } from '../../cardano/ledger/scalus.ts';

/** By what recognition decides: the deployment, and the policy that a pool's token must have. */
export interface Rules {
  readonly deployment: PartialDeployment;
  /**
   * Policy id of the token policy applied to (launch policy, NFT name); slow, asked per launch.
   * null where nobody knows the template: then the NFT alone vouches for its token.
   */
  tokenPolicyId(nftName: string): string | null;
}

export type ScriptName = keyof PartialDeployment['scripts'];

/** The deployment's script that guards an output; by payment part, whatever the stake part is. */
export function scriptOf(output: Output, { deployment }: Rules): ScriptName | null {
  const payment = parseAddress(output.address)?.payment;
  return payment === undefined ? null : scriptNamed(payment, deployment);
}

function scriptNamed(
  { kind, hash }: Credential,
  { scripts }: PartialDeployment,
): ScriptName | null {
  if (kind !== 'script') return null;
  if (hash === scripts.curvePool.hash) return 'curvePool';
  if (hash === scripts.ammPool?.hash) return 'ammPool';
  if (hash === scripts.order.hash) return 'order';
  return hash === scripts.vesting?.hash ? 'vesting' : null;
}

/**
 * Policy id of the deployment's token policy for a pool NFT's name: a few milliseconds. null where
 * its template is not known.
 */
export function tokenPolicyId(deployment: PartialDeployment): (nftName: string) => string | null {
  const { launchPolicyId, tokenPolicyTemplate } = deployment;
  return (nftName) => {
    if (tokenPolicyTemplate === null) return null;
    const parameter = new Constr(0, [launchPolicyId, nftName]);
    return doubledScriptHash(applyDataArgument(tokenPolicyTemplate, parameter));
  };
}
