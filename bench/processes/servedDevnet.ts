/** A devnet over a file of its own: its chain grows on a clock that stands, then it is served. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { asValue } from '../../src/cardano/codec/value.ts';
import { Key } from '../../src/cardano/keys/keys.ts';
import { keyAddress } from '../../src/cardano/validators/deploy.ts';
import { genesisUtxos } from '../../src/devnet/chainFile.ts';
import { Devnet, type DevnetOptions } from '../../src/devnet/devnet.ts';
import { Ledger } from '../../src/devnet/ledger.ts';
import { LedgerFile } from '../../src/devnet/ledgerFile.ts';
import { signedPayment } from '../../src/devnet/payment.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { offer } from '../support/offers.ts';

export type ServedDevnet = typeof offers;

const ADA = 1_000_000n;
const FEE_LOVELACE = 200_000n;
const POLICY = 'ab'.repeat(28);
const HOLDERS = 100;
const BLOCKS_A_PAYMENT = 100;
const MIB = 1024 * 1024;

const [, , directory = '.'] = process.argv;
const payer = new Key('01'.repeat(32));
const submitter = new Key('02'.repeat(32));
const address = keyAddress(payer.hash);
const tokens = [[`${POLICY}.746f6b`, 5n]] as const;
/** Each pays itself: the number of unspent outputs stays. */
const held = { address, value: asValue(10_000n * ADA, tokens) };
const coin = { address: keyAddress(submitter.hash), value: asValue(100n * ADA, []) };
const options: DevnetOptions = {
  file: join(directory, 'chain.sqlite'),
  clock: systemClock,
  genesis: [
    ...Array.from({ length: HOLDERS }, () => held),
    ...Array.from({ length: 1_000 }, () => coin),
  ],
  faucetSecret: '03'.repeat(32),
  paceMs: 0,
};
const SLOTS = { zeroTimeMs: 0, zeroSlot: 0, slotLengthMs: 1000 };

function grown(height: number): void {
  const file = new LedgerFile(options.file);
  const ledger = new Ledger(file, SLOTS, () => 0);
  const refs = genesisUtxos(options).slice(0, HOLDERS);
  const outputs = refs.map(({ ref }) => ({ ref, lovelace: held.value.lovelace }));
  for (let paid = 0; ledger.height < height; paid += 1) {
    const source = outputs[paid % HOLDERS];
    if (source === undefined) throw new Error('there are holders');
    source.lovelace -= FEE_LOVELACE;
    const value = asValue(source.lovelace, tokens);
    const plan = { inputs: [source.ref], outputs: [{ address, value }], feeLovelace: FEE_LOVELACE };
    const { bytes, id } = signedPayment(plan, [payer]);
    const outcome = ledger.submit(bytes);
    if (outcome.outcome === 'refused') throw new Error(outcome.message);
    source.ref = { txHash: id, index: 0 };
    const failure = ledger.forge(Math.min(BLOCKS_A_PAYMENT, height - ledger.height));
    if (failure !== null) throw failure;
  }
  file.close();
}

const offers = {
  /** Makes the chain; answers the seconds and the MiB of its file. */
  async grow(height: number) {
    await (await Devnet.open(options)).stop();
    const startMs = performance.now();
    grown(height);
    const seconds = (performance.now() - startMs) / 1000;
    return { seconds, fileMib: statSync(options.file).size / MIB };
  },
  async serve() {
    const { ogmiosUrl, kupoUrl } = await Devnet.open(options);
    return { ogmiosUrl, kupoUrl, address, policy: POLICY };
  },
  /** Signed payments of outputs that the genesis holds. */
  payments(count: number): string[] {
    const utxos = genesisUtxos(options).slice(HOLDERS, HOLDERS + count);
    return utxos.map(({ ref }) => {
      const outputs = [{ ...coin, value: asValue(100n * ADA - FEE_LOVELACE, []) }];
      const plan = { inputs: [ref], outputs, feeLovelace: FEE_LOVELACE };
      return Buffer.from(signedPayment(plan, [submitter]).bytes).toString('hex');
    });
  },
  rssMib(): number {
    globalThis.gc?.();
    return process.memoryUsage().rss / MIB;
  },
};

offer(offers);
