import type { Deployment } from '../cardano/deployment.ts';
import { Constr } from '../cardano/plutusData.ts';
import { doubledScriptHash } from '../cardano/script.ts';
import { applyDataArgument } from '../ledger/scalus.ts';

/** Policy id of the deployment's token policy for a pool NFT's name: a few milliseconds. */
export function tokenPolicyId(deployment: Deployment): (nftName: string) => string {
  const { launchPolicyId, tokenPolicyTemplate } = deployment;
  return (nftName) => {
    const parameter = new Constr(0, [launchPolicyId, nftName]);
    return doubledScriptHash(applyDataArgument(tokenPolicyTemplate, parameter));
  };
}
