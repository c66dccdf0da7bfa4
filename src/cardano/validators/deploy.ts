/** The compiled validators, with parameters and addresses filled in: a deployment on a devnet. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetId } from '../../engine/market/asset.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { formatAddress, parseAddress, scriptAddress } from '../codec/address.ts';
import { bytesOf, readCbor } from '../codec/cbor.ts';
import { byteString, type NewOutput } from '../codec/encode.ts';
import { applyDataArgument } from '../codec/flatScript.ts';
import { blake2b224, doubledScriptHash, scriptHash } from '../codec/hash.ts';
import { fromHex, toHex } from '../codec/hex.ts';
import type { OutputRef } from '../codec/output.ts';
import { Constr, encodePlutusData } from '../codec/plutusData.ts';
import { addressData, NEWEST_LAYOUT, outputRefData, settingsData } from '../datums/datums.ts';
import { type Deployment, type SettingsPlace, settingsAddress } from '../datums/deployment.ts';
import { type Signers, signersHash } from '../datums/signers.ts';
import {
  DEFAULT_VALIDATOR_PARAMETERS,
  loadCompiler,
  sameParameters,
  type Validator,
  type ValidatorParameters,
  validatorParameters,
} from './compile.ts';

export const VALIDATOR_NAMES = [
  'launchPolicy',
  'tokenPolicy',
  'curvePool',
  'order',
  'ammPool',
  'vesting',
  'settingsPolicy',
] as const;
export type ValidatorName = (typeof VALIDATOR_NAMES)[number];

type Validators = Readonly<Record<ValidatorName, Validator>>;

interface Blueprint {
  readonly validators: readonly {
    readonly title: string;
    readonly compiledCode: string;
    readonly hash: string;
  }[];
}

function read(): Validators {
  const path = join(import.meta.dirname, 'plutus.json');
  // trust: our own committed file, compared with its sources by a test
  const { validators } = JSON.parse(readFileSync(path, 'utf8')) as Blueprint;
  const find = (name: ValidatorName): Validator => {
    const found = validators.find(({ title }) => title === name);
    assert(found, `plutus.json holds ${name}`);
    return { cborHex: found.compiledCode, hash: found.hash };
  };
  return {
    launchPolicy: find('launchPolicy'),
    tokenPolicy: find('tokenPolicy'),
    curvePool: find('curvePool'),
    order: find('order'),
    ammPool: find('ammPool'),
    vesting: find('vesting'),
    settingsPolicy: find('settingsPolicy'),
  };
}

/**
 * The validators compiled with the default parameters, as committed in `plutus.json` (CIP-57). No
 * compiler at run time: a test compiles the .hl files again and compares byte for byte.
 */
export const VALIDATORS: Validators = read();

export const DEPLOYED = ['launchPolicy', 'curvePool', 'order', 'ammPool', 'vesting'] as const;
export type Deployed = (typeof DEPLOYED)[number];

/** The chosen part of a deployment; the rest is computed from it. */
export interface DeploymentTerms
  extends Pick<
    Deployment,
    | 'curve'
    | 'fees'
    | 'thresholdLovelace'
    | 'refundAfterMs'
    | 'executorKeyHash'
    | 'feeKeyHash'
    | 'collateralKeyHash'
  > {
  /**
   * The settings' terms: the keys that may change executor and fee address, and the seed of the
   * NFT's policy.
   */
  readonly settings: Signers & Pick<SettingsPlace, 'seed'>;
  /** Compiled with the parameters that `curve` and `fees` name; absent: the default ones. */
  readonly validators?: Validators;
}

function validatorsOf({ validators, curve, fees }: DeploymentTerms): Validators {
  const isDefault = sameParameters(validatorParameters(curve, fees), DEFAULT_VALIDATOR_PARAMETERS);
  assert(validators !== undefined || isDefault, 'other parameters have other validators');
  return validators ?? VALIDATORS;
}

/** The validators of a deployment with these terms; compiles only what `plutus.json` has not. */
export async function validatorsFor({
  curve,
  fees,
}: Pick<DeploymentTerms, 'curve' | 'fees'>): Promise<Validators> {
  const parameters = validatorParameters(curve, fees);
  const isDefault = sameParameters(parameters, DEFAULT_VALIDATOR_PARAMETERS);
  return isDefault ? VALIDATORS : compileValidators(parameters);
}

/** The release build of every validator, for a deployment with these parameters. */
export async function compileValidators(parameters: ValidatorParameters): Promise<Validators> {
  const { compile } = await loadCompiler();
  const compiled = VALIDATOR_NAMES.map((name) => [name, compile(name, 'release', parameters)]);
  // trust: every name was compiled just now
  return Object.fromEntries(compiled) as Validators;
}

export const ADDRESS_NETWORK = 'testnet';

/** Enterprise address of a key. */
export function keyAddress(keyHash: string): string {
  const payment = { kind: 'key', hash: keyHash } as const;
  return formatAddress({ network: ADDRESS_NETWORK, payment, stake: null, pointer: false });
}

/** An address without a known key: outputs there are never spent. */
export function lockedAddress(purpose: string): string {
  return keyAddress(blake2b224(Buffer.from(`upcurve ${purpose}`)));
}

/** Code for reference scripts, one layer of CBOR, hex; the launch policy with its parameter. */
export function deployedCode(terms: DeploymentTerms): Readonly<Record<Deployed, string>> {
  const { launchPolicy, curvePool, order, ammPool, vesting } = validatorsOf(terms);
  return {
    launchPolicy: applied(launchPolicy.cborHex, launchParameter(terms)),
    curvePool: curvePool.cborHex,
    order: order.cborHex,
    ammPool: ammPool.cborHex,
    vesting: vesting.cborHex,
  };
}

function applied(cborHex: string, data: Constr): string {
  const double = fromHex(applyDataArgument(doubled(cborHex), data));
  return toHex(bytesOf(double, readCbor(double)));
}

function doubled(cborHex: string): string {
  return toHex(byteString(fromHex(cborHex)));
}

/** The policy that mints the settings' NFT, in two layers of CBOR, hex. */
export function settingsPolicyCode(terms: DeploymentTerms): string {
  const seed = new Constr(0, [outputRefData(terms.settings.seed)]);
  return applyDataArgument(doubled(validatorsOf(terms).settingsPolicy.cborHex), seed);
}

export function settingsPolicyId(terms: DeploymentTerms): string {
  return doubledScriptHash(settingsPolicyCode(terms));
}

/** The settings that a deployment begins with. Their lovelace is for the caller to say. */
export function settingsOutput(
  terms: DeploymentTerms,
): Omit<NewOutput, 'value'> & { nft: AssetId } {
  const { settings, executorKeyHash, feeKeyHash } = terms;
  const fee = parseAddress(keyAddress(feeKeyHash));
  assert(fee !== null, 'addresses that we write can be read');
  return {
    address: settingsAddress(settings, ADDRESS_NETWORK),
    nft: `${settingsPolicyId(terms)}.${signersHash(settings)}`,
    datum: toHex(encodePlutusData(settingsData({ executor: executorKeyHash, fee }))),
  };
}

function launchParameter(terms: DeploymentTerms): Constr {
  const { curve } = terms;
  const { curvePool, ammPool } = validatorsOf(terms);
  return new Constr(0, [
    addressFields(scriptAddress(ADDRESS_NETWORK, curvePool.hash, null)),
    curve.aNum,
    curve.bNum,
    terms.thresholdLovelace + terms.fees.poolKeepLovelace,
    ammPool.hash,
    settingsPolicyId(terms),
  ]);
}

function addressFields(text: string): Constr {
  const address = parseAddress(text);
  assert(address !== null, 'addresses that we write can be read');
  return addressData(address);
}

/** `refs`: where the code lies on the chain; `settings`: the first output of the settings. */
export function deploymentOf(
  terms: DeploymentTerms,
  code: Readonly<Record<Deployed, string>>,
  refs: Readonly<Record<Deployed, OutputRef>>,
  settings: OutputRef,
): Deployment {
  const script = (name: Deployed) => ({ hash: scriptHash(code[name]), ref: refs[name] });
  const { curve, fees, thresholdLovelace, refundAfterMs } = terms;
  const { executorKeyHash, feeKeyHash, collateralKeyHash } = terms;
  const launchPolicy = script('launchPolicy');
  return {
    network: 'devnet',
    addressNetwork: ADDRESS_NETWORK,
    ...{ curve, fees, thresholdLovelace, refundAfterMs, orderLayout: NEWEST_LAYOUT },
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash },
    feeAddress: keyAddress(feeKeyHash),
    settings: { ...terms.settings, policyId: settingsPolicyId(terms), ref: settings },
    metadataAddress: lockedAddress('token metadata'),
    launchPolicyId: launchPolicy.hash,
    tokenPolicyTemplate: doubled(validatorsOf(terms).tokenPolicy.cborHex),
    scripts: {
      launchPolicy,
      curvePool: script('curvePool'),
      order: script('order'),
      ammPool: script('ammPool'),
      vesting: script('vesting'),
    },
  };
}
