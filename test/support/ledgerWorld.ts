/** A ledger for tests: a few funded keys, its own directory, blocks on demand. */
import { join } from 'node:path';
import { blake2b256 } from '../../src/cardano/codec/hash.ts';
import type { Utxo } from '../../src/cardano/codec/output.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { Key } from '../../src/cardano/keys/keys.ts';
import { keyAddress } from '../../src/cardano/validators/deploy.ts';
import type { GenesisTerms } from '../../src/cardano/validators/genesis.ts';
import { type SignedTransaction, signedPayment } from '../../src/devnet/payment.ts';
import { DEFAULT_CURVE } from '../../src/engine/market/curve.ts';
import { DEFAULT_FEES } from '../../src/engine/market/fees.ts';
import { type Scope, temporaryDirectory } from './server.ts';
import { type OpenedLedger, openLedger, TestChain, type TestChainOptions } from './testChain.ts';

export const GENESIS_TIME_MS = 1_700_000_000_000;
export const FEE_LOVELACE = 200_000n;
const ADA = 1_000_000n;

/** The same name is the same key. */
export function secretOf(name: string): string {
  return blake2b256(Buffer.from(name));
}

export function keyNamed(name: string): Key {
  return new Key(secretOf(name));
}

export function addressOf(name: string): string {
  return keyAddress(keyNamed(name).hash);
}

/** Keys that the genesis funds: 5 outputs of 1,000 ADA each. */
export const FUNDED = ['alice', 'bob', 'carol'] as const;

/** Two of them may change the settings. */
export const SIGNERS = ['executor', 'fee', 'faucet'] as const;

export function genesisPlan(): GenesisTerms {
  return {
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: 18_188_400_000n,
    refundAfterMs: 20 * 60_000,
    executorKeyHash: keyNamed('executor').hash,
    feeKeyHash: keyNamed('fee').hash,
    collateralKeyHash: keyNamed('collateral').hash,
    signers: { required: 2, keyHashes: SIGNERS.map((name) => keyNamed(name).hash) },
    wallets: FUNDED.map((name) => ({
      keyHash: keyNamed(name).hash,
      lovelace: 1_000n * ADA,
      outputs: 5,
    })),
  };
}

export function ledgerOptions(directory = temporaryDirectory()): TestChainOptions {
  return {
    file: join(directory, 'ledger.sqlite'),
    genesis: genesisPlan(),
    faucetSecret: secretOf('faucet'),
    genesisTimeMs: GENESIS_TIME_MS,
  };
}

/** Stops with the test. */
export async function startChain(
  scope: Scope,
  options: Partial<TestChainOptions> = {},
): Promise<TestChain> {
  const chain = new TestChain({ ...ledgerOptions(), ...options });
  scope.after(() => chain.stop());
  return chain;
}

/** Pays `lovelace` of one output to somebody, and the rest back. */
export function payment(
  source: Utxo,
  from: string,
  to: string,
  lovelace: bigint,
): SignedTransaction {
  const { value } = source.output;
  const change = { ...value, lovelace: value.lovelace - lovelace - FEE_LOVELACE };
  const outputs = [
    { address: addressOf(to), value: coins(lovelace) },
    { address: addressOf(from), value: change },
  ];
  const plan = { inputs: [source.ref], outputs, feeLovelace: FEE_LOVELACE };
  return signedPayment(plan, [keyNamed(from)]);
}

/** A ledger in this thread. */
export function openTestLedger(options = ledgerOptions()): OpenedLedger {
  return openLedger(options);
}
