/**
 * The settings of a deployment that `deploy` makes: an NFT, minted once with an output of the payer
 * as its seed, at the script of the signers. The seed is recorded beside the reference scripts, so
 * that an interrupted deployment finds its settings again: only the seed's own policy mints an NFT
 * that follows from it, so a false record is not believed.
 */

import { datumOf, type OutputRef, type Utxo } from '../../cardano/codec/output.ts';
import { Constr } from '../../cardano/codec/plutusData.ts';
import { asValue, coins } from '../../cardano/codec/value.ts';
import { outputRefData, readOutputRefData } from '../../cardano/datums/datums.ts';
import { type Signers, signersHash } from '../../cardano/datums/signers.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import { walletCollateral } from '../../cardano/transactions/chainData.ts';
import { minLovelace } from '../../cardano/transactions/cost.ts';
import { dataHex, type PlannedMint, type PlannedOutput } from '../../cardano/transactions/plan.ts';
import {
  type DeploymentTerms,
  keyAddress,
  lockedAddress,
  settingsOutput,
  settingsPolicyCode,
  settingsPolicyId,
} from '../../cardano/validators/deploy.ts';

export const SCRIPTS_ADDRESS = lockedAddress('reference scripts');

/** A deployment before its settings have a seed. */
export type UnseededTerms = Omit<DeploymentTerms, 'settings'> & { readonly signers: Signers };

/** Pays for several rotations. */
const SETTINGS_LOVELACE = 5_000_000n;

export interface PlacedSettings {
  readonly terms: DeploymentTerms;
  readonly ref: OutputRef;
}

/** Settings that are on the chain with a record of their seed; null: there are none. */
export function existingSettings(
  request: UnseededTerms,
  scripts: readonly Utxo[],
  settings: readonly Utxo[],
): PlacedSettings | null {
  for (const { output } of scripts) {
    const seed = readOutputRefData(datumOf(output));
    if (seed === null || output.scriptHash !== null) continue;
    const terms = withSeed(request, seed);
    const nft = `${settingsPolicyId(terms)}.${signersHash(request.signers)}`;
    const held = settings.find((utxo) => utxo.output.value.assets.get(nft) === 1n);
    if (held !== undefined) return { terms, ref: held.ref };
  }
  return null;
}

interface SettingsStep {
  readonly terms: DeploymentTerms;
  readonly outputs: readonly { readonly name: string; readonly output: PlannedOutput }[];
  readonly mint: PlannedMint;
  readonly seed: Utxo;
  readonly collateral: NonNullable<ReturnType<typeof walletCollateral>>;
}

/** null: the wallet has nothing to make them with. */
export function newSettings(
  request: UnseededTerms,
  wallet: readonly Utxo[],
  payerKeyHash: string,
  parameters: ProtocolParameters,
): SettingsStep | null {
  const [seed] = wallet.filter(({ output }) => output.scriptHash === null);
  const collateral = walletCollateral(wallet, keyAddress(payerKeyHash));
  if (seed === undefined || collateral === null) return null;
  const terms = withSeed(request, seed.ref);
  const { nft, ...place } = settingsOutput(terms);
  const [policyId = '', name = ''] = nft.split('.');
  const datum = place.datum ?? null;
  const settings: PlannedOutput = {
    ...{ address: place.address, datum },
    value: asValue(SETTINGS_LOVELACE, [[nft, 1n]]),
  };
  const note = dataHex(outputRefData(seed.ref));
  const record: PlannedOutput = { address: SCRIPTS_ADDRESS, value: coins(0n), datum: note };
  const value = coins(minLovelace(parameters, record));
  const mint: PlannedMint = {
    policyId,
    amounts: new Map([[name, 1n]]),
    redeemer: dataHex(new Constr(0, [name])),
    script: settingsPolicyCode(terms),
  };
  const outputs = [
    { name: 'settings', output: settings },
    { name: 'seed', output: { ...record, value } },
  ];
  return { terms, outputs, mint, seed, collateral };
}

function withSeed({ signers, ...terms }: UnseededTerms, seed: OutputRef): DeploymentTerms {
  return { ...terms, settings: { ...signers, seed } };
}
