/**
 * A node in a separate process, to be killed: a block every 50 ms and payments all the time. Prints
 * each block once the node has it on disk.
 */
import { Key } from '../../src/cardano/keys/keys.ts';
import { utxosOfCredential } from '../../src/cardano/ledger/views.ts';
import { DevnetNode } from '../../src/devnet/node.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { LedgerStream } from '../support/ledgerStream.ts';
import { keyNamed, ledgerOptions, payment } from '../support/ledgerWorld.ts';
import { openLedger } from '../support/testChain.ts';

const PACE_MS = 50;

const [, , directory = ''] = process.argv;
const options = { ...ledgerOptions(directory), genesisTimeMs: Date.now() };
const { ledger, file } = openLedger(options, PACE_MS);
const node = new DevnetNode({
  ledger,
  file,
  clock: systemClock,
  faucetKey: new Key(options.faucetSecret),
  paceMs: PACE_MS,
  includeCbor: true,
  stalled: (message) => {
    if (message !== null) throw new Error(message);
  },
});
const stream = new LedgerStream(ledger, file, null);
node.chain.listen({ changed: print, shortened: () => {} });
node.start();

function print(): void {
  for (let events = stream.read(); events.length > 0; events = stream.read()) {
    for (const event of events) {
      if (event.kind !== 'forward') continue;
      const { point, height, transactions } = event.block;
      const ids = transactions.map(({ id }) => id);
      process.stdout.write(`${JSON.stringify({ ...point, height, ids })}\n`);
    }
  }
}

for (;;) {
  const view = utxosOfCredential(ledger, keyNamed('alice').hash, 'newest', {});
  const rich = view.filter(({ output }) => output.value.lovelace > 10_000_000n);
  const source = rich[Math.floor(Math.random() * rich.length)];
  if (source === undefined) break;
  const { bytes } = payment(source, 'alice', 'bob', 2_000_000n);
  await node.submit(Buffer.from(bytes).toString('hex'));
}
