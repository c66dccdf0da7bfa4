import type { Credential } from '../../cardano/codec/address.ts';
import { parseAddress } from '../../cardano/codec/address.ts';
import type { Output } from '../../cardano/codec/output.ts';
import type { PartialDeployment } from '../../cardano/datums/deployment.ts';

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
