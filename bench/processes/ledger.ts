/** The embedded ledger alone, in its thread: plain payments, signed before. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputRef } from '../../src/cardano/codec/output.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { EmulatedChain } from '../../src/devnet/emulated.ts';
import { signedPayment } from '../../src/devnet/payment.ts';
import {
  addressOf,
  FEE_LOVELACE,
  genesisPlan,
  keyNamed,
  ledgerOptions,
} from '../../test/support/ledgerWorld.ts';
import { offer } from '../support/offers.ts';
import { threadTimes } from '../support/threadNames.ts';
import { type Done, measureWork } from '../support/work.ts';

export type LedgerProcess = typeof offers;

const ADA = 1_000_000n;
const CHAINS = 32;
const OUTPUT_LOVELACE = 100_000n * ADA;
const PAID_LOVELACE = 2n * ADA;

const [, , blockEveryMs = '100'] = process.argv;
const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const alice = keyNamed('alice');
const wallets = [{ keyHash: alice.hash, lovelace: OUTPUT_LOVELACE, outputs: CHAINS }];
const chain = new EmulatedChain({
  ...ledgerOptions(directory),
  genesis: { ...genesisPlan(), wallets },
  blockPaceMs: Number(blockEveryMs),
  genesisTimeMs: Date.now(),
  died: (error) => {
    throw error;
  },
});
await chain.start();

interface Purse {
  ref: OutputRef;
  lovelace: bigint;
}

const found = await chain.byPaymentKey(alice.hash, 'newest');
const purses: Purse[] = found.map(({ ref, output }) => ({ ref, lovelace: output.value.lovelace }));
let queues: Uint8Array[][] = [];

/** The next payment out of a purse; what is left is the purse of the one after it. */
function payment(purse: Purse): Uint8Array {
  const lovelace = purse.lovelace - PAID_LOVELACE - FEE_LOVELACE;
  const outputs = [
    { address: addressOf('bob'), value: coins(PAID_LOVELACE) },
    { address: addressOf('alice'), value: coins(lovelace) },
  ];
  const plan = { inputs: [purse.ref], outputs, feeLovelace: FEE_LOVELACE };
  const { id, bytes } = signedPayment(plan, [alice]);
  purse.ref = { txHash: id, index: 1 };
  purse.lovelace = lovelace;
  return bytes;
}

const offers = {
  /** Signs so many payments. */
  prepare(count: number): void {
    const each = Math.ceil(count / purses.length);
    queues = purses.map((purse) => Array.from({ length: each }, () => payment(purse)));
  },
  /** Submits all that are signed, as many at once as there are purses. */
  async pay(): Promise<Done & { readonly ledgerMs: number }> {
    const before = threadTimes();
    const done = await measureWork(async () => {
      await Promise.all(queues.map(submitAll));
      return queues.reduce((sum, queue) => sum + queue.length, 0);
    });
    return { ...done, ledgerMs: (threadTimes().ledger ?? 0) - (before.ledger ?? 0) };
  },
};

async function submitAll(queue: readonly Uint8Array[]): Promise<void> {
  for (const bytes of queue) {
    const outcome = await chain.submit(bytes);
    if (outcome.outcome === 'refused') throw new Error(`${outcome.reason}: ${outcome.message}`);
  }
}

offer(offers);
