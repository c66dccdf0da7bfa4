/**
 * A deployment and some people to test the builder with. Scripts run and transactions are judged by
 * Scalus; Lucid's evaluator and CML's reader judge them again, independently.
 */
import assert from 'node:assert/strict';

import scalus from 'scalus';
import { type Address, formatAddress } from '../../../src/cardano/codec/address.ts';
import { encodeOutput, encodeUtxoMap } from '../../../src/cardano/codec/encode.ts';
import { blake2b256 } from '../../../src/cardano/codec/hash.ts';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import {
  decodeOutput,
  type OutputRef,
  refText,
  type Utxo,
} from '../../../src/cardano/codec/output.ts';
import type { SlotConfig } from '../../../src/cardano/codec/slots.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins, type Value } from '../../../src/cardano/codec/value.ts';
import { type LaunchId, poolNftName } from '../../../src/cardano/datums/datums.ts';
import type { Deployment } from '../../../src/cardano/datums/deployment.ts';
import { Key } from '../../../src/cardano/keys/keys.ts';
import type { LedgerTerms } from '../../../src/cardano/ledger/parameters.ts';
import { evaluate as run } from '../../../src/cardano/ledger/scalus.ts';
import { assemble, type Evaluate } from '../../../src/cardano/transactions/assemble.ts';
import { serverKeyHashes } from '../../../src/cardano/transactions/chainData.ts';
import type { OrderRequest } from '../../../src/cardano/transactions/order.ts';
import type { PlannedCollateral, TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import type { BuildOutcome, BuiltTransaction } from '../../../src/cardano/transactions/port.ts';
import type { CollateralRules } from '../../../src/cardano/transactions/signing.ts';
import { addWitnesses } from '../../../src/cardano/transactions/witness.ts';
import { genesisUtxosOf, makeGenesis } from '../../../src/cardano/validators/genesis.ts';
import { DEFAULT_CURVE } from '../../../src/engine/market/curve.ts';
import type { Kind } from '../../../src/engine/market/exchange.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../../src/engine/market/pool.ts';
import { PARAMETERS } from '../../support/parameters.ts';

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
  const key = new Key(seed.toString(16).padStart(64, '7'));
  const stake = new Key(seed.toString(16).padStart(64, '8'));
  const payment = { kind: 'key', hash: key.hash } as const;
  const network = 'testnet';
  const enterprise: Address = { network, payment, stake: null, pointer: false };
  const address: Address = { ...enterprise, stake: { kind: 'key', hash: stake.hash } };
  return { key, address, enterprise, text: formatAddress(address) };
}

export const EXECUTOR = person(1);
export const PLATFORM = atEnterprise(person(2));
export const COLLATERAL_OWNER = atEnterprise(person(3));
export const ALICE = person(4);
export const BOB = person(5);
/** Two of them may change the settings. */
export const SIGNERS = [person(6), person(7), person(8)] as const;

/** Without a stake part, as a deployment's addresses are. */
function atEnterprise(someone: Person): Person {
  const { enterprise: address } = someone;
  return { ...someone, address, text: formatAddress(address) };
}

let made = 0;
/** A reference that was never used. */
function anyHash(): string {
  made += 1;
  return blake2b256(Buffer.from(`made ${made}`));
}

export interface Held {
  readonly address: string;
  readonly value: Value;
  readonly datum?: string | null;
}

export function utxo(held: Held, txHash = anyHash(), index = 0): Utxo {
  const { address, value, datum = null } = held;
  const cbor = encodeOutput({ address, value, datum });
  return { ref: { txHash, index }, output: decodeOutput(cbor) };
}

export function ada(owner: Person, lovelace: bigint): Utxo {
  return utxo({ address: owner.text, value: coins(lovelace) });
}

export function holding(owner: Person, lovelace: bigint, asset: string, amount: bigint): Utxo {
  return utxo({ address: owner.text, value: asValue(lovelace, [[asset, amount]]) });
}

const GENESIS = makeGenesis({
  curve: DEFAULT_CURVE,
  fees: DEFAULT_FEES,
  thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
  refundAfterMs: 1_200_000,
  executorKeyHash: EXECUTOR.key.hash,
  feeKeyHash: PLATFORM.key.hash,
  collateralKeyHash: COLLATERAL_OWNER.key.hash,
  signers: { required: 2, keyHashes: SIGNERS.map(({ key }) => key.hash) },
  wallets: [],
});
export const DEPLOYMENT: Deployment = GENESIS.deployment;
export const GENESIS_OUTPUTS = GENESIS.outputs;

function heldAt(ref: OutputRef): Utxo {
  const found = genesisUtxosOf(GENESIS.outputs).find((held) => refText(held.ref) === refText(ref));
  assert.ok(found, refText(ref));
  return found;
}

/** The settings in force. */
export const SETTINGS = heldAt(DEPLOYMENT.settings.ref);

/** The outputs that hold the deployment's scripts. */
function referencesOf(): Record<keyof Deployment['scripts'], Utxo> {
  const holds = (name: keyof Deployment['scripts']) => heldAt(DEPLOYMENT.scripts[name].ref);
  return {
    launchPolicy: holds('launchPolicy'),
    curvePool: holds('curvePool'),
    order: holds('order'),
    ammPool: holds('ammPool'),
    vesting: holds('vesting'),
  };
}

export const REFERENCES = referencesOf();
export const COLLATERAL_UTXO = ada(COLLATERAL_OWNER, 5n * ADA);
export const COLLATERAL: PlannedCollateral = {
  utxos: [COLLATERAL_UTXO],
  returnAddress: COLLATERAL_OWNER.text,
};

export const TERMS: LedgerTerms = { parameters: PARAMETERS, slots: SLOTS };

export const evaluate: Evaluate = (transaction, utxos) => run(transaction, utxos, TERMS);

const around = { parameters: PARAMETERS, evaluate };

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

export const LAUNCH_ID: LaunchId = {
  seed: { txHash: '77'.repeat(32), index: 1 },
  creatorPkh: ALICE.key.hash,
  creatorSkh: ALICE.address.stake?.hash ?? '',
};
export const NFT = `${DEPLOYMENT.launchPolicyId}.${poolNftName(LAUNCH_ID)}`;
export const TOKEN = `${'ab'.repeat(28)}.${toHex(Buffer.from('DAVE'))}`;

export function orderOf(owner: Person, kind: Kind, inputAmount: bigint): OrderRequest {
  const worstPrice = { numerator: 1n, denominator: 1000n };
  const executor = EXECUTOR.key.hash;
  const poolNft = NFT;
  return { owner: owner.address, token: TOKEN, poolNft, executor, kind, inputAmount, worstPrice };
}

export const RULES: CollateralRules = {
  serverKeyHashes: serverKeyHashes(DEPLOYMENT),
  collateral: COLLATERAL.utxos,
  collateralKey: COLLATERAL_OWNER.key,
};

/** Counts the walks over its content: work that a test can bound without a clock. */
class CountedAssets extends Map<string, bigint> {
  walks = 0;

  override [Symbol.iterator]() {
    this.walks += 1;
    return super[Symbol.iterator]();
  }
}

/** Outputs with as many tokens each, none twice; far more than a ledger lets one hold, too. */
export function hostileWallet(outputs: number, tokens: number) {
  const template = ada(ALICE, 2n * ADA);
  const counted: CountedAssets[] = [];
  const wallet = Array.from({ length: outputs }, (_, index): Utxo => {
    const assets = new CountedAssets();
    for (let at = 0; at < tokens; at += 1) {
      assets.set(`${(index * tokens + at).toString(16).padStart(56, 'a')}.`, 1n);
    }
    counted.push(assets);
    const output = { ...template.output, value: { lovelace: 2n * ADA, assets } };
    return { ref: { txHash: template.ref.txHash, index }, output };
  });
  return { wallet, walks: () => counted.reduce((sum, { walks }) => sum + walks, 0) };
}
