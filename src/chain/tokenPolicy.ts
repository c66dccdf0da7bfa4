import { bytesOf, readCbor } from '../cardano/cbor.ts';
import type { Deployment } from '../cardano/deployment.ts';
import { blake2b224 } from '../cardano/hash.ts';
import { fromHex } from '../cardano/hex.ts';
import { Constr } from '../cardano/plutusData.ts';
import { applyDataArgument } from '../ledger/scalus.ts';

const PLUTUS_V2 = 2;

/** Policy id of the deployment's token policy for a pool NFT's name: a few milliseconds. */
export function tokenPolicyId(deployment: Deployment): (nftName: string) => string {
  const { launchPolicyId, tokenPolicyTemplate } = deployment;
  return (nftName) => {
    const parameter = new Constr(0, [launchPolicyId, nftName]);
    const script = fromHex(applyDataArgument(tokenPolicyTemplate, parameter));
    const inner = bytesOf(script, readCbor(script));
    return blake2b224(Buffer.concat([Uint8Array.of(PLUTUS_V2), inner]));
  };
}
