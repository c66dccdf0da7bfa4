/**
 * A test world for the validators: fixed keys, one deployment, scripts of one build. The build is a
 * parameter because hashes differ: only the debug build says which check refused.
 */

import {
  type Assets,
  applyDoubleCborEncoding,
  CML,
  Constr,
  credentialToAddress,
  Data,
  getAddressDetails,
  mintingPolicyToId,
  type Script,
  SLOT_CONFIG_NETWORK,
  scriptFromNative,
  type UTxO,
  validatorToScriptHash,
} from '@lucid-evolution/lucid';
import { blake2b } from '@noble/hashes/blake2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import scalus from 'scalus';
import type { Build } from '../../../src/cardano/validators/compile.ts';
import { VALIDATORS, type ValidatorName } from '../../../src/cardano/validators/deploy.ts';
import { compile } from './compile.ts';

export const BUILDS: readonly Build[] = ['debug', 'release'];
export const START_MS = 1_760_000_000_000;
export const SLOT_MS = 1000;
SLOT_CONFIG_NETWORK.Custom = { zeroTime: START_MS, zeroSlot: 0, slotLength: SLOT_MS };

export const ADA = 1_000_000n;
export const SUPPLY = 1_000_000_000n;
export const KEEP = 3n * ADA;
export const CAP = 18_191_400_000n;
export const A_NUM = 122_525_779_519n;
export const B_NUM = 2_545_182n;
export const ORDER_FEE = 1_100_000n;
/** The most that a refund keeps. */
export const REFUND_FEE = 600_000n;
export const DEPOSIT = 1_500_000n;

export interface Key {
  readonly pkh: string;
  readonly skh: string;
  /** With the stake part. */
  readonly address: string;
  readonly enterprise: string;
  readonly secret: string;
}

function hashOf(seed: number): { secret: string; hash: string } {
  const key = CML.PrivateKey.from_normal_bytes(new Uint8Array(32).fill(seed));
  return { secret: key.to_bech32(), hash: key.to_public().hash().to_hex() };
}

export function key(seed: number): Key {
  const { secret, hash: pkh } = hashOf(seed);
  const { hash: skh } = hashOf(seed + 100);
  const payment = { type: 'Key', hash: pkh } as const;
  const address = credentialToAddress('Custom', payment, { type: 'Key', hash: skh });
  return { pkh, skh, address, enterprise: credentialToAddress('Custom', payment), secret };
}

/** One key's payment part with another's stake part. */
export const swapped = ({ pkh }: Key, { skh }: Key): string =>
  credentialToAddress('Custom', { type: 'Key', hash: pkh }, { type: 'Key', hash: skh });

export const EXECUTOR = key(1);
export const PLATFORM = key(2);
export const CREATOR = key(3);
export const ALICE = key(4);
export const BOB = key(5);
/** Pays the missing part of a transaction and takes the rest; owns the collateral. */
export const BANK = key(6);

export const asset = (unit: string): Constr<Data> =>
  new Constr(0, [unit.slice(0, 56), unit.slice(56)]);

export function addressData(address: string): Constr<Data> {
  const { paymentCredential, stakeCredential } = getAddressDetails(address);
  if (!paymentCredential) throw new Error('no payment part');
  const part = (of: { type: string; hash: string }) =>
    new Constr<Data>(of.type === 'Key' ? 0 : 1, [of.hash]);
  const stake = stakeCredential
    ? new Constr<Data>(0, [new Constr<Data>(0, [part(stakeCredential)])])
    : new Constr<Data>(1, []);
  return new Constr<Data>(0, [part(paymentCredential), stake]);
}

export const blake2b256 = (hex: string): string =>
  bytesToHex(blake2b(hexToBytes(hex), { dkLen: 32 }));

/** The text that Scalus reads data from. It reads integers as doubles: beyond 2^53 it rounds. */
function scalusJson(data: Data): string {
  if (typeof data === 'bigint') {
    if (BigInt(Number(data)) !== data) throw new Error(`Scalus would round ${data}`);
    return `{"int":${data}}`;
  }
  if (typeof data === 'string') return `{"bytes":"${data}"}`;
  if (!(data instanceof Constr)) throw new Error('neither lists nor maps are parameters');
  return `{"constructor":${data.index},"fields":[${data.fields.map(scalusJson).join(',')}]}`;
}

export function applied(template: Script, parameter: Data): Script {
  const script = scalus.Scalus.applyDataArgToScript(template.script, scalusJson(parameter));
  return { type: 'PlutusV2', script };
}

export interface World {
  readonly build: Build;
  readonly scripts: Readonly<Record<ValidatorName, Script>>;
  /** Hashes of the four validators as they stand. */
  readonly hash: (name: ValidatorName) => string;
  readonly address: (name: ValidatorName, stake?: Key) => string;
  readonly deployment: Constr<Data>;
  readonly launchPolicy: Script;
  readonly policyId: string;
  readonly tokenPolicy: (nftName: string) => Script;
  readonly settingsPolicy: Script;
  readonly settingsId: string;
  /** The settings in force. */
  readonly settings: UTxO;
  /** Utxos that hold scripts for reference, by script hash. */
  readonly references: ReadonlyMap<string, UTxO>;
}

export function utxo(
  hash: string,
  index: number,
  address: string,
  assets: Assets,
  datum?: Data,
): UTxO {
  const base = { txHash: hash.repeat(32), outputIndex: index, address, assets };
  return datum === undefined ? base : { ...base, datum: Data.to(datum) };
}

/** Transaction id of the output that was spent to mint the settings NFT. */
export const SEED = '5e';
/** Two of three may change the settings. */
export const SIGNERS: readonly Key[] = [key(11), key(12), key(13)];
const SIGNERS_SCRIPT = scriptFromNative({
  type: 'atLeast',
  required: 2,
  scripts: SIGNERS.map(({ pkh: keyHash }) => ({ type: 'sig', keyHash })),
});
export const SIGNERS_HASH = validatorToScriptHash(SIGNERS_SCRIPT);
export const SETTINGS_ADDRESS = credentialToAddress('Custom', {
  type: 'Script',
  hash: SIGNERS_HASH,
});

export const settingsDatum = (executor = EXECUTOR, fee = PLATFORM.address): Constr<Data> =>
  new Constr<Data>(0, [executor.pkh, addressData(fee)]);

/** As it is, unless something is named. */
export function settingsUtxo(
  policyId: string,
  one: { hash?: string; address?: string; datum?: Constr<Data>; name?: string } = {},
): UTxO {
  const { hash = 'ed', address = SETTINGS_ADDRESS, name = SIGNERS_HASH } = one;
  const assets = { lovelace: 3n * ADA, [policyId + name]: 1n };
  return utxo(hash, 0, address, assets, one.datum ?? settingsDatum());
}

const worlds = new Map<Build, World>();

export function world(build: Build): World {
  const known = worlds.get(build);
  if (known) return known;
  const made = make(build);
  worlds.set(build, made);
  return made;
}

function make(build: Build): World {
  const script = (name: ValidatorName): Script => {
    const { cborHex } = build === 'release' ? VALIDATORS[name] : compile(name, build);
    return { type: 'PlutusV2', script: applyDoubleCborEncoding(cborHex) };
  };
  const scripts = {
    launchPolicy: script('launchPolicy'),
    tokenPolicy: script('tokenPolicy'),
    curvePool: script('curvePool'),
    order: script('order'),
    ammPool: script('ammPool'),
    vesting: script('vesting'),
    settingsPolicy: script('settingsPolicy'),
  };
  const hash = (name: ValidatorName): string => validatorToScriptHash(scripts[name]);
  const address = (name: ValidatorName, stake?: Key): string =>
    credentialToAddress(
      'Custom',
      { type: 'Script', hash: hash(name) },
      stake && { type: 'Key', hash: stake.skh },
    );
  const seed = new Constr<Data>(0, [new Constr<Data>(0, [SEED.repeat(32)]), 0n]);
  const settingsPolicy = applied(scripts.settingsPolicy, new Constr<Data>(0, [seed]));
  const settingsId = mintingPolicyToId(settingsPolicy);
  const deployment = new Constr<Data>(0, [
    addressData(address('curvePool', PLATFORM)),
    A_NUM,
    B_NUM,
    CAP,
    hash('ammPool'),
    settingsId,
  ]);
  const launchPolicy = applied(scripts.launchPolicy, deployment);
  const policyId = mintingPolicyToId(launchPolicy);
  const held = [launchPolicy, scripts.curvePool, scripts.order, scripts.ammPool, scripts.vesting];
  const references = new Map(
    held.map((scriptRef, index) => [
      validatorToScriptHash(scriptRef),
      { ...utxo('ee', index, BANK.enterprise, { lovelace: 50n * ADA }), scriptRef },
    ]),
  );
  const tokenPolicy = (nftName: string): Script =>
    applied(scripts.tokenPolicy, new Constr(0, [policyId, nftName]));
  return {
    ...{ build, scripts, hash, address, deployment, launchPolicy, policyId, tokenPolicy },
    ...{ references, settingsPolicy, settingsId, settings: settingsUtxo(settingsId) },
  };
}
