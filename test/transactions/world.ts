/**
 * A deployment and some people to test the builder with. Scripts run and transactions are judged by
 * Scalus; Lucid's evaluator and CML's reader judge them again, independently.
 */
import assert from 'node:assert/strict';

import scalus from 'scalus';
import { type Address, formatAddress } from '../../src/cardano/address.ts';
import { bytesOf, readCbor } from '../../src/cardano/cbor.ts';
import { addressData } from '../../src/cardano/datums.ts';
import { capLovelace, type Deployment } from '../../src/cardano/deployment.ts';
import { blake2b256 } from '../../src/cardano/hash.ts';
import { fromHex, toHex } from '../../src/cardano/hex.ts';
import { type Key, keyOf } from '../../src/cardano/keys.ts';
import { decodeOutput, refText, type Utxo } from '../../src/cardano/output.ts';
import { Constr } from '../../src/cardano/plutusData.ts';
import type { SlotConfig } from '../../src/cardano/slots.ts';
import { decodeTransaction } from '../../src/cardano/transaction.ts';
import { asValue, coins, type Value } from '../../src/cardano/value.ts';
import { encodeUtxoMap } from '../../src/ledger/encode.ts';
import { applyDataArgument, evaluate as run } from '../../src/ledger/scalus.ts';
import { DEFAULT_CURVE } from '../../src/market/curve.ts';
import type { Kind } from '../../src/market/exchange.ts';
import { DEFAULT_FEES } from '../../src/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../src/market/pool.ts';
import { assemble, type Evaluate } from '../../src/transactions/assemble.ts';
import {
  type References,
  type ScriptName,
  serverKeyHashes,
} from '../../src/transactions/chainData.ts';
import {
  array,
  byteString,
  hexString,
  integer,
  outputCbor,
  tagged,
} from '../../src/transactions/encode.ts';
import { scriptHash } from '../../src/transactions/launch.ts';
import type { OrderRequest } from '../../src/transactions/order.ts';
import { DEFAULT_PARAMETERS } from '../../src/transactions/parameters.ts';
import type { PlannedCollateral, TransactionPlan } from '../../src/transactions/plan.ts';
import type { BuildOutcome, BuiltTransaction } from '../../src/transactions/port.ts';
import type { CollateralRules } from '../../src/transactions/signing.ts';
import { addWitnesses } from '../../src/transactions/witness.ts';
import { VALIDATORS, type ValidatorName } from '../../src/validators/blueprint.ts';

export const ADA = 1_000_000n;
export const START_MS = 1_760_000_000_000;
export const SLOTS: SlotConfig = { zeroTimeMs: START_MS, zeroSlot: 0, slotLengthMs: 1000 };
export const NOW_MS = START_MS + 100_500;
export const NOW_SLOT = 100;
const scalusSlots = new scalus.SlotConfig(START_MS, 0, 1000);

export interface Person {
  readonly key: Key;
  /** With a stake part. */
  readonly address: Address;
  readonly enterprise: Address;
  readonly text: string;
}

export function person(seed: number): Person {
  const key = keyOf(seed.toString(16).padStart(64, '7'));
  const stake = keyOf(seed.toString(16).padStart(64, '8'));
  const payment = { kind: 'key', hash: key.hash } as const;
  const network = 'testnet';
  const enterprise: Address = { network, payment, stake: null, pointer: false };
  const address: Address = { ...enterprise, stake: { kind: 'key', hash: stake.hash } };
  return { key, address, enterprise, text: formatAddress(address) };
}

export const EXECUTOR = person(1);
export const PLATFORM = person(2);
export const COLLATERAL_OWNER = person(3);
export const ALICE = person(4);
export const BOB = person(5);
export const METADATA = person(6);

let made = 0;
/** A reference that was never used. */
export function anyHash(): string {
  made += 1;
  return blake2b256(Buffer.from(`made ${made}`));
}

export interface Held {
  readonly address: string;
  readonly value: Value;
  readonly datum?: string | null;
  /** In one layer of CBOR, hex. */
  readonly script?: string;
}

export function utxo(held: Held, txHash = anyHash(), index = 0): Utxo {
  const { address, value, datum = null, script } = held;
  let cbor = outputCbor({ address, value, datum });
  if (script !== undefined) {
    const field = tagged(24, byteString(array([integer(2), hexString(script)])));
    const plain = Buffer.from(cbor);
    const head = Uint8Array.of(0xa0 + (datum === null ? 3 : 4));
    cbor = Buffer.concat([head, plain.subarray(1), integer(3), field]);
  }
  return { ref: { txHash, index }, output: decodeOutput(cbor) };
}

export function ada(owner: Person, lovelace: bigint): Utxo {
  return utxo({ address: owner.text, value: coins(lovelace) });
}

export function holding(owner: Person, lovelace: bigint, asset: string, amount: bigint): Utxo {
  return utxo({ address: owner.text, value: asValue(lovelace, [[asset, amount]]) });
}

/** One layer of CBOR, as a script lies in an output, whatever the blueprint wraps around it. */
export function single(name: ValidatorName): string {
  const { cborHex, hash } = VALIDATORS[name];
  if (scriptHash(toHex(hexString(cborHex))) === hash) return cborHex;
  const bytes = fromHex(cborHex);
  return toHex(bytesOf(bytes, readCbor(bytes)));
}
const double = (name: ValidatorName): string => toHex(hexString(single(name)));

function deploymentOf(): { deployment: Deployment; launchPolicy: string } {
  const hash = '00'.repeat(32);
  const place = (script: ValidatorName, index: number) => ({
    hash: VALIDATORS[script].hash,
    ref: { txHash: hash, index },
  });
  const draft: Deployment = {
    network: 'devnet',
    addressNetwork: 'testnet',
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
    refundAfterMs: 1_200_000,
    executorKeyHash: EXECUTOR.key.hash,
    feeKeyHash: PLATFORM.key.hash,
    feeAddress: PLATFORM.text,
    metadataAddress: METADATA.text,
    collateralKeyHash: COLLATERAL_OWNER.key.hash,
    launchPolicyId: '',
    tokenPolicyTemplate: double('tokenPolicy'),
    scripts: {
      launchPolicy: { hash: '', ref: { txHash: hash, index: 0 } },
      curvePool: place('curvePool', 1),
      order: place('order', 2),
      ammPool: place('ammPool', 3),
      vesting: place('vesting', 4),
    },
  };
  const pool: Address = {
    network: 'testnet',
    payment: { kind: 'script', hash: draft.scripts.curvePool.hash },
    stake: null,
    pointer: false,
  };
  const record = new Constr(0, [
    addressData(pool),
    draft.curve.aNum,
    draft.curve.bNum,
    draft.executorKeyHash,
    capLovelace(draft),
    draft.scripts.ammPool.hash,
    draft.feeKeyHash,
    addressData(PLATFORM.address),
  ]);
  const launchPolicy = applyDataArgument(double('launchPolicy'), record);
  const launchPolicyId = scriptHash(launchPolicy);
  const place0 = { hash: launchPolicyId, ref: { txHash: hash, index: 0 } };
  const scripts = { ...draft.scripts, launchPolicy: place0 };
  return { deployment: { ...draft, launchPolicyId, scripts }, launchPolicy };
}

export const { deployment: DEPLOYMENT, launchPolicy: LAUNCH_POLICY } = deploymentOf();

function referencesOf(): References {
  const holds = (name: ScriptName, script: string): Utxo => {
    const { ref } = DEPLOYMENT.scripts[name];
    const held = { address: METADATA.text, value: coins(60n * ADA), script };
    return utxo(held, ref.txHash, ref.index);
  };
  const plain = (name: Exclude<ScriptName, 'launchPolicy'>) => holds(name, single(name));
  return {
    // The outer layer is a head of three bytes.
    launchPolicy: holds('launchPolicy', LAUNCH_POLICY.slice(6)),
    curvePool: plain('curvePool'),
    order: plain('order'),
    ammPool: plain('ammPool'),
    vesting: plain('vesting'),
  };
}

export const REFERENCES = referencesOf();
export const COLLATERAL_UTXO = ada(COLLATERAL_OWNER, 5n * ADA);
export const COLLATERAL: PlannedCollateral = {
  utxos: [COLLATERAL_UTXO],
  returnAddress: COLLATERAL_OWNER.text,
};

export const evaluate: Evaluate = (transaction, utxos) => run(transaction, utxos, SLOTS);

const around = { parameters: DEFAULT_PARAMETERS, evaluate };

export function outcomeOf(plan: TransactionPlan): BuildOutcome {
  return assemble(structuredClone(plan), around);
}

export function built(plan: TransactionPlan): BuiltTransaction {
  const outcome = outcomeOf(plan);
  assert.equal(outcome.outcome, 'built', 'message' in outcome ? outcome.message : '');
  assert.ok(outcome.outcome === 'built');
  return outcome;
}

export function signedBy(bytes: Uint8Array, people: readonly Person[]): Uint8Array {
  const body = fromHex(decodeTransaction(bytes).id);
  const witnesses = people.map(({ key }) => {
    return { publicKey: key.publicKey, signature: key.sign(body) };
  });
  return addWitnesses(bytes, witnesses);
}

/** The ledger's word on a signed transaction, phase 1 and 2: null when it is accepted. */
export function refused(bytes: Uint8Array, utxos: readonly Utxo[], slot = NOW_SLOT): string | null {
  const once = new Map(utxos.map((each) => [refText(each.ref), each]));
  const emulator = new scalus.Emulator(
    Uint8Array.from(encodeUtxoMap([...once.values()])),
    scalusSlots,
  );
  emulator.setSlot(slot);
  const result = emulator.submitTx(bytes);
  return result.isSuccess ? null : (result.error ?? 'refused');
}

export const TOKEN = `${'ab'.repeat(28)}.${toHex(Buffer.from('DAVE'))}`;

export function orderOf(owner: Person, kind: Kind, inputAmount: bigint): OrderRequest {
  const worstPrice = { numerator: 1n, denominator: 1000n };
  return { owner: owner.address, token: TOKEN, kind, inputAmount, worstPrice };
}

export const RULES: CollateralRules = {
  serverKeyHashes: serverKeyHashes(DEPLOYMENT),
  collateral: COLLATERAL.utxos,
  collateralKey: COLLATERAL_OWNER.key,
};
