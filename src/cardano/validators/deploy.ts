/** The compiled validators, with parameters and addresses filled in: a deployment on a devnet. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../engine/runtime/assert.ts';
import { formatAddress, parseAddress, scriptAddress } from '../codec/address.ts';
import { bytesOf, readCbor } from '../codec/cbor.ts';
import { byteString } from '../codec/encode.ts';
import { blake2b224, scriptHash } from '../codec/hash.ts';
import { fromHex, toHex } from '../codec/hex.ts';
import type { OutputRef } from '../codec/output.ts';
import { Constr } from '../codec/plutusData.ts';
import { addressData } from '../datums/datums.ts';
import type { Deployment } from '../datums/deployment.ts';
import { applyDataArgument } from '../ledger/scalus.ts';

export const VALIDATOR_NAMES = [
  'launchPolicy',
  'tokenPolicy',
  'curvePool',
  'order',
  'ammPool',
  'vesting',
] as const;
export type ValidatorName = (typeof VALIDATOR_NAMES)[number];

interface Validator {
  /** PlutusV2, one layer of CBOR around the flat bytes; Lucid wants a second layer. */
  readonly cborHex: string;
  /** Of the code as it stands: the policies still need their parameter, which changes the hash. */
  readonly hash: string;
}

interface Blueprint {
  readonly validators: readonly {
    readonly title: string;
    readonly compiledCode: string;
    readonly hash: string;
  }[];
}

function read(): Record<ValidatorName, Validator> {
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
  };
}

/**
 * The compiled validators, as committed in `plutus.json` (CIP-57). No compiler at run time: a test
 * compiles the .hl files again and compares byte for byte.
 */
export const VALIDATORS: Readonly<Record<ValidatorName, Validator>> = read();

export const DEPLOYED = ['launchPolicy', 'curvePool', 'order', 'ammPool', 'vesting'] as const;
export type Deployed = (typeof DEPLOYED)[number];

/** The chosen part of a deployment; the rest is computed from it. */
export type MarketPlan = Pick<
  Deployment,
  | 'curve'
  | 'fees'
  | 'thresholdLovelace'
  | 'refundAfterMs'
  | 'executorKeyHash'
  | 'feeKeyHash'
  | 'collateralKeyHash'
>;

const NETWORK = 'testnet';

/** Enterprise address of a key. */
export function keyAddress(keyHash: string): string {
  const payment = { kind: 'key', hash: keyHash } as const;
  return formatAddress({ network: NETWORK, payment, stake: null, pointer: false });
}

/** An address without a known key: outputs there are never spent. */
export function lockedAddress(purpose: string): string {
  return keyAddress(blake2b224(Buffer.from(`upcurve ${purpose}`)));
}

/** Code for reference scripts, one layer of CBOR, hex; the launch policy with its parameter. */
export function deployedCode(plan: MarketPlan): Readonly<Record<Deployed, string>> {
  return {
    launchPolicy: applied(VALIDATORS.launchPolicy.cborHex, launchParameter(plan)),
    curvePool: VALIDATORS.curvePool.cborHex,
    order: VALIDATORS.order.cborHex,
    ammPool: VALIDATORS.ammPool.cborHex,
    vesting: VALIDATORS.vesting.cborHex,
  };
}

function applied(cborHex: string, data: Constr): string {
  const double = fromHex(applyDataArgument(doubled(cborHex), data));
  return toHex(bytesOf(double, readCbor(double)));
}

function doubled(cborHex: string): string {
  return toHex(byteString(fromHex(cborHex)));
}

function launchParameter(plan: MarketPlan): Constr {
  const { curve, executorKeyHash, feeKeyHash } = plan;
  return new Constr(0, [
    addressFields(scriptAddress(NETWORK, VALIDATORS.curvePool.hash, null)),
    curve.aNum,
    curve.bNum,
    executorKeyHash,
    plan.thresholdLovelace + plan.fees.poolKeepLovelace,
    VALIDATORS.ammPool.hash,
    feeKeyHash,
    addressFields(keyAddress(feeKeyHash)),
  ]);
}

function addressFields(text: string): Constr {
  const address = parseAddress(text);
  assert(address !== null, 'addresses that we write can be read');
  return addressData(address);
}

/** `refs`: where the code lies on the chain. */
export function deploymentOf(
  plan: MarketPlan,
  code: Readonly<Record<Deployed, string>>,
  refs: Readonly<Record<Deployed, OutputRef>>,
): Deployment {
  const script = (name: Deployed) => ({ hash: scriptHash(code[name]), ref: refs[name] });
  const { curve, fees, thresholdLovelace, refundAfterMs } = plan;
  const { executorKeyHash, feeKeyHash, collateralKeyHash } = plan;
  const launchPolicy = script('launchPolicy');
  return {
    network: 'devnet',
    addressNetwork: NETWORK,
    ...{ curve, fees, thresholdLovelace, refundAfterMs },
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash },
    feeAddress: keyAddress(feeKeyHash),
    metadataAddress: lockedAddress('token metadata'),
    launchPolicyId: launchPolicy.hash,
    tokenPolicyTemplate: doubled(VALIDATORS.tokenPolicy.cborHex),
    scripts: {
      launchPolicy,
      curvePool: script('curvePool'),
      order: script('order'),
      ammPool: script('ammPool'),
      vesting: script('vesting'),
    },
  };
}
