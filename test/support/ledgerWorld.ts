/** An embedded ledger for tests: a few funded keys, a directory of its own, blocks on demand. */
import { join } from 'node:path';
import { blake2b256 } from '../../src/cardano/codec/hash.ts';
import type { Utxo } from '../../src/cardano/codec/output.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { type Key, keyOf } from '../../src/cardano/keys/keys.ts';
import { keyAddress } from '../../src/cardano/validators/deploy.ts';
import { type Opened, openLedger } from '../../src/devnet/boot.ts';
import { EmulatedChain, type EmulatedChainOptions } from '../../src/devnet/emulated.ts';
import type { GenesisPlan } from '../../src/devnet/genesis.ts';
import type { WorkerOptions } from '../../src/devnet/messages.ts';
import { type SignedTransaction, signedPayment } from '../../src/devnet/payment.ts';
import { DEFAULT_CURVE } from '../../src/engine/market/curve.ts';
import { DEFAULT_FEES } from '../../src/engine/market/fees.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { type Scope, temporaryDirectory } from './server.ts';

export const GENESIS_TIME_MS = 1_700_000_000_000;
export const FEE_LOVELACE = 200_000n;
const ADA = 1_000_000n;

/** The same name is the same key. */
export function secretOf(name: string): string {
  return blake2b256(Buffer.from(name));
}

export function keyNamed(name: string): Key {
  return keyOf(secretOf(name));
}

export function addressOf(name: string): string {
  return keyAddress(keyNamed(name).hash);
}

/** Whose wallets the genesis funds: 5 outputs of 1,000 ADA each. */
export const FUNDED = ['alice', 'bob', 'carol'] as const;

export function genesisPlan(): GenesisPlan {
  return {
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: 18_188_400_000n,
    refundAfterMs: 20 * 60_000,
    executorKeyHash: keyNamed('executor').hash,
    feeKeyHash: keyNamed('fee').hash,
    collateralKeyHash: keyNamed('collateral').hash,
    faucetKeyHash: keyNamed('faucet').hash,
    wallets: FUNDED.map((name) => ({
      keyHash: keyNamed(name).hash,
      lovelace: 1_000n * ADA,
      outputs: 5,
    })),
  };
}

export function ledgerOptions(directory = temporaryDirectory()): WorkerOptions {
  return {
    file: join(directory, 'ledger.sqlite'),
    genesis: genesisPlan(),
    faucetSecret: secretOf('faucet'),
    blockPaceMs: 0,
    genesisTimeMs: GENESIS_TIME_MS,
  };
}

/** Stops with the test. Its death fails whoever waits for it. */
export async function startChain(
  scope: Scope,
  options: Partial<EmulatedChainOptions> = {},
): Promise<EmulatedChain> {
  const chain = new EmulatedChain({ ...ledgerOptions(), died: () => {}, ...options });
  await chain.start();
  scope.after(() => chain.stop());
  return chain;
}

/** A ledger goes back no further. */
const MOST_BACK = 2_160;

/** Takes all blocks back, and what waits with them; false where that is too far. */
async function takenBack(chain: EmulatedChain): Promise<boolean> {
  for (;;) {
    const head = await chain.mine(1);
    if (head === null || !('height' in head) || head.height > MOST_BACK) return false;
    const stream = await chain.open([head]);
    let event = await stream?.next();
    while (event?.kind === 'back' || event?.kind === 'forward') event = await stream?.next();
    await stream?.close();
    if (event?.kind !== 'mempool') return false;
    if (event.added.length > 0) continue;
    return 'takenBack' in (await chain.fork(head.height, { resubmit: 'none' }));
  }
}

/**
 * Chains for tests that follow each other: each has one with the outputs that it began with, no
 * block and nothing that waits. To start one costs half a second of work, to take back what a test
 * did to it nothing. Slots go on.
 */
export function chainsInTurn(end: (run: () => Promise<void>) => void) {
  let used: EmulatedChain | null = null;
  end(async () => used?.stop());
  return async (): Promise<EmulatedChain> => {
    if (used !== null && (await takenBack(used))) return used;
    await used?.stop();
    used = new EmulatedChain({ ...ledgerOptions(), died: () => {} });
    await used.start();
    return used;
  };
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
export function openTestLedger(options = ledgerOptions()): Opened {
  return openLedger(options, systemClock);
}
