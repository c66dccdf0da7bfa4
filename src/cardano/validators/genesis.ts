/**
 * The launchpad of a devnet: the outputs that its chain starts with (reference scripts, collateral,
 * the executor's funds, wallets) and the deployment that they hold. Both follow from the terms, so
 * a server computes the deployment that a devnet with the same genesis has.
 */

import { assert } from '../../engine/runtime/assert.ts';
import { encodeOutput, type NewOutput } from '../codec/encode.ts';
import { blake2b256 } from '../codec/hash.ts';
import { decodeOutput, type OutputRef, type Utxo } from '../codec/output.ts';
import { asValue, coins } from '../codec/value.ts';
import { callersCollateralAddress, type Deployment } from '../datums/deployment.ts';
import type { Signers } from '../datums/signers.ts';
import {
  ADDRESS_NETWORK,
  DEPLOYED,
  type Deployed,
  type DeploymentTerms,
  deployedCode,
  deploymentOf,
  keyAddress,
  lockedAddress,
  settingsOutput,
} from './deploy.ts';

/** Outputs of equal size at the enterprise address of a key. */
interface FundedWallet {
  readonly keyHash: string;
  readonly lovelace: bigint;
  readonly outputs: number;
}

export interface GenesisTerms extends Omit<DeploymentTerms, 'settings'> {
  /** May change executor and fee address. */
  readonly signers: Signers;
  /** In addition to collateral and funding UTxOs. */
  readonly wallets: readonly FundedWallet[];
}

interface Genesis {
  readonly deployment: Deployment;
  /** For the genesis of a devnet, in this order. */
  readonly outputs: readonly NewOutput[];
  /** Under a hash of their own: a chain that began without them holds this market as well. */
  readonly aside: readonly NewOutput[];
}

const ADA = 1_000_000n;
/** Keeps the largest of our scripts on the chain. */
const SCRIPT_LOVELACE = 60n * ADA;
/** Collateral outputs of the executor. */
export const COLLATERAL = { lovelace: 5n * ADA, outputs: 10 };
export const CALLERS_COLLATERAL = { lovelace: 5n * ADA, outputs: 3 };
export const FUNDING = { lovelace: 100n * ADA, outputs: 20 };

/** No output of a chain: the NFT of a genesis is not minted, and never can be. */
const NO_SEED: OutputRef = { txHash: '00'.repeat(32), index: 0 };
const SETTINGS_LOVELACE = 5n * ADA;

export function makeGenesis({ signers, ...given }: GenesisTerms): Genesis {
  const terms = { ...given, settings: { ...signers, seed: NO_SEED } };
  const { nft, ...settings } = settingsOutput(terms);
  const code = deployedCode(terms);
  const place = lockedAddress('reference scripts');
  const outputs: NewOutput[] = [
    ...DEPLOYED.map((name) => ({
      address: place,
      value: coins(SCRIPT_LOVELACE),
      script: code[name],
    })),
    { ...settings, value: asValue(SETTINGS_LOVELACE, [[nft, 1n]]) },
    ...funded({ keyHash: terms.collateralKeyHash, ...COLLATERAL }),
    ...funded({ keyHash: terms.feeKeyHash, ...FUNDING }),
    ...terms.wallets.flatMap(funded),
  ];
  const utxos = genesisUtxosOf(outputs);
  const refAt = (index: number): OutputRef => {
    const utxo = utxos[index];
    assert(utxo !== undefined, 'scripts come first, and the settings behind them');
    return utxo.ref;
  };
  const ref = (name: Deployed) => refAt(DEPLOYED.indexOf(name));
  const refs = {
    launchPolicy: ref('launchPolicy'),
    curvePool: ref('curvePool'),
    order: ref('order'),
    ammPool: ref('ammPool'),
    vesting: ref('vesting'),
  };
  const deployment = deploymentOf(terms, code, refs, refAt(DEPLOYED.length));
  return { deployment, outputs, aside: callersCollateral(terms.collateralKeyHash) };
}

function callersCollateral(keyHash: string): NewOutput[] {
  const { lovelace, outputs } = CALLERS_COLLATERAL;
  const address = callersCollateralAddress(keyHash, ADDRESS_NETWORK);
  return Array.from({ length: outputs }, () => ({ address, value: coins(lovelace) }));
}

function funded({ keyHash, lovelace, outputs }: FundedWallet): NewOutput[] {
  const output = { address: keyAddress(keyHash), value: coins(lovelace) };
  return Array.from({ length: outputs }, () => output);
}

/** Outputs of a genesis, with a hash over the whole set, as if one transaction had made them. */
export function genesisUtxosOf(outputs: readonly NewOutput[]): Utxo[] {
  const encoded = outputs.map(encodeOutput);
  const txHash = blake2b256(Buffer.concat(encoded));
  return encoded.map((bytes, index) => ({ ref: { txHash, index }, output: decodeOutput(bytes) }));
}
