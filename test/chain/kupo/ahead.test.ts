/** Kupo has a block that is not served yet: the change of a pending transaction is found. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { refText } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import { KupoLookup } from '../../../src/chain/kupo/kupo.ts';
import { MempoolOverlay } from '../../../src/chain/mempoolOverlay.ts';
import { genesisUtxos } from '../../../src/devnet/chainFile.ts';
import { Devnet } from '../../../src/devnet/devnet.ts';
import { signedPayment } from '../../../src/devnet/payment.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { addressOf, FEE_LOVELACE, keyNamed, secretOf } from '../../support/ledgerWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';

const ADA = 1_000_000n;

test('change stays in the wallet while only Kupo has the block', async (t) => {
  const faucetSecret = secretOf('faucet');
  const genesis = [{ address: addressOf('alice'), value: coins(1_000n * ADA) }];
  const file = join(temporaryDirectory(), 'chain.sqlite');
  const clock = systemClock;
  const devnet = await Devnet.open({ file, clock, genesis, faucetSecret, paceMs: 0 });
  t.after(() => devnet.stop());
  await devnet.node.mine(1);
  const tip = devnet.node.chain.tip;
  assert.ok(tip);
  const served = { slot: Number(tip.slot), hash: tip.id };
  const waiting = new MempoolOverlay();
  const observer = { kupoAsked: () => {}, kupoHealth: () => {} };
  const lookup = new KupoLookup({
    url: devnet.kupoUrl,
    tip: () => served,
    overlay: waiting,
    clock,
    observer,
  });
  const [source] = genesisUtxos({ genesis, faucetSecret });
  assert.ok(source);
  const change = source.output.value.lovelace - 10n * ADA - FEE_LOVELACE;
  const outputs = [
    { address: addressOf('bob'), value: coins(10n * ADA) },
    { address: addressOf('alice'), value: coins(change) },
  ];
  const plan = { inputs: [source.ref], outputs, feeLovelace: FEE_LOVELACE };
  const { id, bytes } = signedPayment(plan, [keyNamed('alice')]);
  assert.equal(await devnet.node.submit(Buffer.from(bytes).toString('hex')), id);
  waiting.apply({ kind: 'mempool', whole: true, added: [decodeTransaction(bytes)], removed: [] });
  const wallet = async () =>
    (await lookup.byPaymentKey(keyNamed('alice').hash, 'wallet')).map(({ ref }) => refText(ref));
  assert.deepEqual(await wallet(), [`${id}:1`]);
  await devnet.node.mine(1);
  assert.deepEqual(await wallet(), [`${id}:1`]);
});
