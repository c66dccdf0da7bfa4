/** The node of a devnet alone, asked without Ogmios: plain payments, signed before. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputRef } from '../../src/cardano/codec/output.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { Key } from '../../src/cardano/keys/keys.ts';
import { utxosOfCredential } from '../../src/cardano/ledger/views.ts';
import { DevnetNode } from '../../src/devnet/node.ts';
import { signedPayment } from '../../src/devnet/payment.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import {
  addressOf,
  FEE_LOVELACE,
  genesisPlan,
  keyNamed,
  ledgerOptions,
} from '../../test/support/ledgerWorld.ts';
import { openLedger } from '../../test/support/testChain.ts';
import { offer } from '../support/offers.ts';
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
const paceMs = Number(blockEveryMs);
const genesis = { ...genesisPlan(), wallets };
const options = { ...ledgerOptions(directory), genesis, genesisTimeMs: Date.now() };
const { ledger, file } = openLedger(options, paceMs);
const node = new DevnetNode({
  ledger,
  file,
  clock: systemClock,
  faucetKey: new Key(options.faucetSecret),
  paceMs,
  includeCbor: true,
  stalled: (message) => {
    if (message !== null) throw new Error(message);
  },
});
node.start();

interface Purse {
  ref: OutputRef;
  lovelace: bigint;
}

const found = utxosOfCredential(ledger, alice.hash, 'newest', {});
const purses: Purse[] = found.map(({ ref, output }) => ({ ref, lovelace: output.value.lovelace }));
let queues: string[][] = [];

/** The next payment out of a purse; the change is the purse of the payment after it. */
function payment(purse: Purse): string {
  const lovelace = purse.lovelace - PAID_LOVELACE - FEE_LOVELACE;
  const outputs = [
    { address: addressOf('bob'), value: coins(PAID_LOVELACE) },
    { address: addressOf('alice'), value: coins(lovelace) },
  ];
  const plan = { inputs: [purse.ref], outputs, feeLovelace: FEE_LOVELACE };
  const { id, bytes } = signedPayment(plan, [alice]);
  purse.ref = { txHash: id, index: 1 };
  purse.lovelace = lovelace;
  return Buffer.from(bytes).toString('hex');
}

const offers = {
  /** Signs so many payments. */
  prepare(count: number): void {
    const each = Math.ceil(count / purses.length);
    queues = purses.map((purse) => Array.from({ length: each }, () => payment(purse)));
  },
  /** Submits all signed payments, as many at once as there are purses. */
  pay(): Promise<Done> {
    return measureWork(async () => {
      await Promise.all(queues.map(submitAll));
      return queues.reduce((sum, queue) => sum + queue.length, 0);
    });
  },
};

async function submitAll(queue: readonly string[]): Promise<void> {
  for (const cbor of queue) {
    const outcome = await node.submit(cbor);
    if (typeof outcome !== 'string') throw new Error(`${outcome.code}: ${outcome.message}`);
  }
}

offer(offers);
