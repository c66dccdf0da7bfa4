/** A chain served as an Ogmios: its events and its refusals. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  createLedgerStateQueryClient,
  createMempoolMonitoringClient,
  createTransactionSubmissionClient,
} from '@cardano-ogmios/client';
import type { Utxo } from '../../src/cardano/codec/output.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { signedPayment } from '../../src/devnet/payment.ts';
import { addressOf, FEE_LOVELACE, keyNamed, payment } from '../support/ledgerWorld.ts';
import type { BridgeOptions } from '../support/ogmios/bridge.ts';
import { type BridgedPlace, startBridgedPlace } from '../support/ogmios/place.ts';
import { checkedMessages, connect, Follower } from '../support/ogmios/scene.ts';
import { until } from '../support/until.ts';

const ADA = 1_000_000n;

interface Scene extends BridgedPlace {
  readonly utxos: readonly Utxo[];
  submit(bytes: Uint8Array): Promise<string>;
}

function check(behaviour: string, run: (scene: Scene) => Promise<void>, options?: BridgeOptions) {
  test(behaviour, { timeout: 120_000 }, async (scope: TestContext) => {
    const ogmios = { sent: checkedMessages(scope) };
    const place = await startBridgedPlace(scope, { ogmios, ...options });
    const utxos = await place.ledger.byPaymentKey(keyNamed('alice').hash, 'spendable');
    const client = await createTransactionSubmissionClient(await connect(place.bridge.ogmios));
    const submit = (bytes: Uint8Array) =>
      client.submitTransaction(Buffer.from(bytes).toString('hex'));
    await run({ ...place, utxos, submit });
  });
}

/** One of alice's outputs. */
function outputAt({ utxos }: Scene, at: number): Utxo {
  return utxos[at] ?? assert.fail(`alice has an output ${at}`);
}

// trust: the client gives blocks as the schema has them
const shape = (block: unknown) =>
  block as { id: string; height: number; slot: number; transactions: { id: string }[] };

check('serves the blocks of the ledger, with their transactions', async (scene) => {
  const { bridge, mine, ledger, submit } = scene;
  const { id, bytes } = payment(outputAt(scene, 0), 'alice', 'bob', 5n * ADA);
  assert.equal(await submit(bytes), id);
  await mine(3);
  const follower = new Follower();
  await follower.start(bridge.ogmios);
  const { tip } = await ledger.tip();
  await follower.saw(`+${tip?.hash}`);
  const blocks = follower.blocks.map(shape);
  assert.deepEqual(
    blocks.map(({ height, transactions }) => [height, transactions.map((tx) => tx.id)]),
    [
      [1, [id]],
      [2, []],
      [3, []],
    ],
  );
  assert.equal(blocks.at(-1)?.slot, tip?.slot);
});

check('tells forks as the ledger makes them', async (scene) => {
  const { bridge, mine, fork } = scene;
  await mine(4);
  const [, second] = bridge.ogmios.chain.blocks;
  const follower = new Follower();
  await follower.start(bridge.ogmios);
  await follower.saw(`+${bridge.ogmios.chain.tip?.id}`);
  await fork(2, 'all');
  await follower.saw(`-${second?.id}`);
  await mine(1);
  await follower.saw(`+${bridge.ogmios.chain.tip?.id}`);
  assert.equal(shape(follower.blocks.at(-1)).height, 3);
});

check(
  'shows in the mempool what was taken, until a block has it',
  async (scene) => {
    const { bridge, mine, submit } = scene;
    const first = payment(outputAt(scene, 0), 'alice', 'bob', 5n * ADA);
    const second = payment(outputAt(scene, 1), 'alice', 'bob', 6n * ADA);
    await submit(first.bytes);
    await submit(second.bytes);
    const client = await createMempoolMonitoringClient(await connect(bridge.ogmios));
    await client.acquireMempool();
    assert.equal(await client.nextTransaction(), first.id);
    const told = await client.nextTransaction({ fields: 'all' });
    assert.equal(told?.id, second.id);
    assert.equal(told?.cbor, Buffer.from(second.bytes).toString('hex'), 'on demand');
    assert.deepEqual(told?.outputs[0], {
      address: addressOf('bob'),
      value: { ada: { lovelace: 6n * ADA } },
    });
    assert.equal(await client.nextTransaction(), null);
    await mine(1);
    await client.acquireMempool();
    assert.equal(await client.nextTransaction(), null);
  },
  { includeCbor: true },
);

check('refuses with the errors of a node', async (scene) => {
  const { mine, submit } = scene;
  const [source, other] = [outputAt(scene, 0), outputAt(scene, 1)];
  const taken = payment(source, 'alice', 'bob', 5n * ADA);
  await submit(taken.bytes);
  const again = { code: 3997 };
  await assert.rejects(submit(taken.bytes), again, 'it waits');
  await mine(1);
  await assert.rejects(submit(taken.bytes), again, 'a block has it');
  await assert.rejects(submit(payment(source, 'alice', 'bob', 7n * ADA).bytes), again);
  await assert.rejects(submit(Uint8Array.of(1, 2, 3)), { code: -32602 });

  const pays = (lovelace: bigint, feeLovelace: bigint, signer: string, ...inputs: Utxo[]) =>
    signedPayment(
      {
        inputs: inputs.map(({ ref }) => ref),
        outputs: [{ address: addressOf('bob'), value: coins(lovelace) }],
        feeLovelace,
      },
      [keyNamed(signer)],
    ).bytes;
  const all = other.output.value.lovelace;
  const refused = async (bytes: Uint8Array, code: number, field: string) =>
    assert.rejects(submit(bytes), (error: { code: number; data?: object }) => {
      assert.deepEqual([error.code, Object.hasOwn(error.data ?? {}, field)], [code, true]);
      return true;
    });
  const half = pays(2n * all - FEE_LOVELACE, FEE_LOVELACE, 'alice', source, other);
  await refused(half, 3117, 'unknownOutputReferences');
  await refused(pays(all, FEE_LOVELACE, 'alice', other), 3123, 'valueConsumed');
  await refused(pays(all - 1n, 1n, 'alice', other), 3122, 'minimumRequiredFee');
  await refused(pays(all - FEE_LOVELACE, FEE_LOVELACE, 'bob', other), 3101, 'missingSignatories');
});

check('after a fork the mempool is in the order in which it applies', async (scene) => {
  const { bridge, ledger, mine, fork, submit } = scene;
  const first = payment(outputAt(scene, 0), 'alice', 'bob', 5n * ADA);
  await submit(first.bytes);
  await mine(1);
  const [rest] = await ledger.byRefs([{ txHash: first.id, index: 1 }]);
  assert.ok(rest?.state === 'unspent');
  const second = payment(rest.utxo, 'alice', 'carol', 6n * ADA);
  await submit(second.bytes);
  const { chain } = bridge.ogmios;
  assert.deepEqual(
    chain.pending.map(({ id }) => id),
    [second.id],
  );
  await fork(1, 'all');
  await until('both wait', () => chain.pending.length === 2);
  assert.deepEqual(
    chain.pending.map(({ id }) => id),
    [first.id, second.id],
  );
});

check('answers queries from the slots of the ledger', async ({ bridge, ledger, utxos, mine }) => {
  await mine(2);
  const client = await createLedgerStateQueryClient(await connect(bridge.ogmios));
  const [era] = await client.eraSummaries();
  const { zeroTimeMs, slotLengthMs } = ledger.slotConfig;
  assert.equal(Number(era?.parameters.slotLength.milliseconds), slotLengthMs);
  assert.equal((await client.networkStartTime()).getTime(), zeroTimeMs);
  const [first] = utxos;
  assert.ok(first);
  const { txHash, index } = first.ref;
  const found = await client.utxo({ outputReferences: [{ transaction: { id: txHash }, index }] });
  assert.equal(found[0]?.value.ada.lovelace, first.output.value.lovelace);
});
