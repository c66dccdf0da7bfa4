/**
 * What the chain begins with: outputs that no transaction made, and the deployment they hold. Made
 * once and kept in the ledger's file; a later program with other validators goes on with these.
 */

import { encodeOutput, type OutputPlan } from '../cardano/codec/encode.ts';
import { blake2b256 } from '../cardano/codec/hash.ts';
import { decodeOutput, type OutputRef, type Utxo } from '../cardano/codec/output.ts';
import { coins } from '../cardano/codec/value.ts';
import type { Deployment } from '../cardano/datums/deployment.ts';
import {
  DEPLOYED,
  type Deployed,
  deployedCode,
  deploymentOf,
  keyAddress,
  lockedAddress,
  type MarketPlan,
} from '../cardano/validators/deploy.ts';
import { assert } from '../engine/runtime/assert.ts';

/** Outputs of equal size at the enterprise address of a key. */
export interface FundedWallet {
  readonly keyHash: string;
  readonly lovelace: bigint;
  readonly outputs: number;
}

export interface GenesisPlan extends MarketPlan {
  readonly faucetKeyHash: string;
  /** Beside the faucet, collateral and floats. */
  readonly wallets: readonly FundedWallet[];
}

export interface Genesis {
  readonly deployment: Deployment;
  readonly outputs: readonly Utxo[];
}

const ADA = 1_000_000n;
/** Keeps the largest of our scripts on the chain. */
const SCRIPT_LOVELACE = 60n * ADA;
/** 10 billion ADA: more than all who ask can empty. Each output alone is below 2^53 lovelace. */
const FAUCET = { lovelace: 500_000_000n * ADA, outputs: 20 };
export const COLLATERAL = { lovelace: 5n * ADA, outputs: 10 };
export const FLOATS = { lovelace: 100n * ADA, outputs: 20 };

export function makeGenesis(plan: GenesisPlan): Genesis {
  const code = deployedCode(plan);
  const place = lockedAddress('reference scripts');
  const plans: OutputPlan[] = [
    ...DEPLOYED.map((name) => ({
      address: place,
      value: coins(SCRIPT_LOVELACE),
      script: code[name],
    })),
    ...funded({ keyHash: plan.collateralKeyHash, ...COLLATERAL }),
    ...funded({ keyHash: plan.feeKeyHash, ...FLOATS }),
    ...funded({ keyHash: plan.faucetKeyHash, ...FAUCET }),
    ...plan.wallets.flatMap(funded),
  ];
  const outputs = placed(plans);
  const ref = (name: Deployed): OutputRef => {
    const utxo = outputs[DEPLOYED.indexOf(name)];
    assert(utxo !== undefined, 'scripts come first');
    return utxo.ref;
  };
  const refs = {
    launchPolicy: ref('launchPolicy'),
    curvePool: ref('curvePool'),
    order: ref('order'),
    ammPool: ref('ammPool'),
    vesting: ref('vesting'),
  };
  return { deployment: deploymentOf(plan, code, refs), outputs };
}

function funded({ keyHash, lovelace, outputs }: FundedWallet): OutputPlan[] {
  const plan = { address: keyAddress(keyHash), value: coins(lovelace) };
  return Array.from({ length: outputs }, () => plan);
}

/** Under a hash over all of them, as if one transaction had made them. */
export function placed(plans: readonly OutputPlan[]): Utxo[] {
  const encoded = plans.map(encodeOutput);
  const txHash = blake2b256(Buffer.concat(encoded));
  return encoded.map((bytes, index) => ({ ref: { txHash, index }, output: decodeOutput(bytes) }));
}
