/**
 * A ledger in a process of its own, to be killed: a block every 50 ms and payments all the time.
 * Prints each block that it saw, after the ledger had it on disk.
 */
import type { Utxo } from '../../src/cardano/codec/output.ts';
import { EmulatedChain } from '../../src/devnet/emulated.ts';
import { keyNamed, ledgerOptions, payment } from '../support/ledgerWorld.ts';

const [, , directory = ''] = process.argv;
const chain = new EmulatedChain({
  ...ledgerOptions(directory),
  blockPaceMs: 50,
  genesisTimeMs: Date.now(),
  died: (error) => {
    throw error;
  },
});
await chain.start();
const stream = await chain.open([]);
if (stream === null) throw new Error('a stream from the beginning opens');

async function pay(): Promise<void> {
  for (;;) {
    const view = await chain.byPaymentKey(keyNamed('alice').hash, 'newest');
    const rich = view.filter(({ output }) => output.value.lovelace > 10_000_000n);
    const source: Utxo | undefined = rich[Math.floor(Math.random() * rich.length)];
    if (source === undefined) return;
    await chain.submit(payment(source, 'alice', 'bob', 2_000_000n).bytes);
  }
}

void pay();
for (;;) {
  const event = await stream.next();
  if (event?.kind !== 'forward') continue;
  const { point, height, transactions } = event.block;
  const ids = transactions.map(({ id }) => id);
  process.stdout.write(`${JSON.stringify({ ...point, height, ids })}\n`);
}
