import { Constr } from '../cardano/codec/plutusData.ts';
import { doubledScriptHash } from '../cardano/codec/script.ts';
import type { PartialDeployment } from '../cardano/datums/deployment.ts';
import { applyDataArgument } from '../cardano/ledger/scalus.ts';

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
