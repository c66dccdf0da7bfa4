/**
 * The official client of Ogmios against the devnet; the published schema judges the devnet's
 * messages.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  createChainSynchronizationClient,
  createLedgerStateQueryClient,
  createMempoolMonitoringClient,
  createTransactionSubmissionClient,
  getServerHealth,
  type InteractionContext,
} from '@cardano-ogmios/client';
import { toHex } from '../../src/cardano/codec/hex.ts';
import type { Devnet } from '../../src/devnet/devnet.ts';
import { genesisOutputs, startDevnet } from '../support/devnetNode.ts';
import { addressOf } from '../support/ledgerWorld.ts';
import { checkedMessages, connect, connectionOf } from '../support/ogmios/scene.ts';
import { rawTransaction } from '../support/rawTransaction.ts';
import { until } from '../support/until.ts';
import { minting, plain } from './judged.ts';

const here = {
  mine: genesisOutputs().flatMap(({ ref, output }) =>
    output.address === addressOf('alice') ? ref : [],
  ),
};

function portOf({ ogmiosUrl }: Devnet): { port: number } {
  return { port: Number(new URL(ogmiosUrl).port) };
}

async function judged(scope: TestContext, devnet: Devnet): Promise<InteractionContext> {
  const context = await connect(portOf(devnet));
  const check = checkedMessages(scope);
  context.socket.addEventListener('message', ({ data }) => check(String(data)));
  return context;
}

test('chain synchronisation: intersection, blocks, forks; Kupo has them before', async (scope) => {
  const devnet = await startDevnet(scope);
  const { node, kupoUrl } = devnet;
  assert.equal(await node.mine(3), 3);
  const third = node.chain.blockAt(3) ?? assert.fail('there are three');
  const told: string[] = [];
  const late: string[] = [];
  const client = await createChainSynchronizationClient(await judged(scope, devnet), {
    async rollForward({ block }, next) {
      const { type } = block;
      assert.ok(type === 'praos');
      for (const { id } of block.transactions ?? []) {
        const matches = await (await fetch(`${kupoUrl}/matches/*@${id}`)).json();
        if (!Array.isArray(matches) || matches.length === 0) late.push(id);
      }
      const { headers } = await fetch(`${kupoUrl}/checkpoints`);
      if (Number(headers.get('x-most-recent-checkpoint')) < block.slot) late.push(block.id);
      told.push(`+${block.height} ${block.transactions?.length ?? 0}`);
      next();
    },
    async rollBackward({ point }, next) {
      told.push(`-${point === 'origin' ? point : point.slot}`);
      next();
    },
  });
  const unknown = { slot: 77, id: '00'.repeat(32) };
  await assert.rejects(client.resume([unknown], 1), { code: 1000 });
  const point = { slot: Number(third.slot), id: third.id };
  const { intersection, tip } = await client.resume([unknown, point, 'origin'], 10);
  assert.deepEqual(intersection, point);
  assert.deepEqual(tip, { ...point, height: 3 });
  // Blocks of several transactions, told while others are made.
  for (let at = 0; at < 20; at += 1) {
    const faucet = node.faucet(addressOf('alice'), 2_000_000n);
    await Promise.all([faucet, node.faucet(addressOf('bob'), 2_000_000n), node.mine(1)]);
  }
  await node.mine(1);
  await until('the newest block arrives', () => told.at(-1)?.startsWith('+24 ') === true);
  assert.equal(await node.fork(2, 'all'), 22);
  assert.equal(await node.mine(1), 23);
  await until('the fork arrives', () => told.at(-1)?.startsWith('+23 ') === true);
  assert.deepEqual(late, [], 'Kupo has the outputs of a block before Ogmios tells it');
  assert.equal(told[0], `-${point.slot}`);
  assert.match(told.at(-2) ?? '', /^-/);
  const transactions = told.slice(1, 22).map((each) => Number(each.split(' ')[1]));
  assert.equal(
    transactions.reduce((sum, each) => sum + each, 0),
    40,
  );
});

test('submits and evaluates', async (scope) => {
  const devnet = await startDevnet(scope);
  const client = await createTransactionSubmissionClient(await judged(scope, devnet));
  const { bytes, id } = rawTransaction(minting(here));
  const [evaluated] = await client.evaluateTransaction(toHex(bytes));
  assert.deepEqual(evaluated?.validator, { purpose: 'mint', index: 0 });
  assert.equal(await client.submitTransaction(toHex(bytes)), id);
  const rival = rawTransaction(plain(here)).bytes;
  await assert.rejects(client.submitTransaction(toHex(rival)), { code: 3997 });
  const unsigned = rawTransaction(plain(here, { inputs: here.mine.slice(2, 3), keys: [] })).bytes;
  await assert.rejects(client.submitTransaction(toHex(unsigned)), { code: 3101 });
  const alone = plain(here, { inputs: [{ txHash: 'cc'.repeat(32), index: 0 }] });
  const evaluation = client.evaluateTransaction(toHex(rawTransaction(alone).bytes));
  await assert.rejects(evaluation, { code: 3004 });
});

test('watches the mempool', async (scope) => {
  const devnet = await startDevnet(scope);
  const client = await createMempoolMonitoringClient(await judged(scope, devnet));
  await assert.rejects(client.sizeOfMempool(), { code: 4000 });
  await client.acquireMempool();
  assert.equal(await client.nextTransaction(), null);
  const { bytes, id } = rawTransaction(plain(here));
  const acquired = client.acquireMempool();
  assert.equal(await devnet.node.submit(toHex(bytes)), id);
  await acquired;
  assert.equal(await client.hasTransaction(id), true);
  const { currentSize, transactions } = await client.sizeOfMempool();
  assert.deepEqual([currentSize.bytes, transactions.count], [bytes.length, 1]);
  const shown = await client.nextTransaction({ fields: 'all' });
  assert.deepEqual([shown?.id, shown?.cbor], [id, toHex(bytes)]);
  assert.equal(await client.nextTransaction(), null);
  await devnet.node.mine(1);
  await client.acquireMempool();
  assert.equal(await client.hasTransaction(id), false);
  await client.releaseMempool();
});

test('queries ledger state and network', async (scope) => {
  const devnet = await startDevnet(scope);
  assert.equal(await devnet.node.mine(2), 2);
  const { slot, id } = devnet.node.chain.tip ?? assert.fail('there is a tip');
  const point = { slot: Number(slot), id };
  const client = await createLedgerStateQueryClient(await judged(scope, devnet));
  assert.deepEqual(await client.networkTip(), point);
  assert.deepEqual(await client.ledgerTip(), point);
  assert.equal(await client.networkBlockHeight(), 2);
  const startTime = await client.networkStartTime();
  assert.ok(Math.abs(startTime.getTime() - Date.now()) < 600_000);
  assert.equal(await client.epoch(), 0);
  const [conway, ...others] = await client.eraSummaries();
  assert.equal(others.length, 0);
  assert.deepEqual(await client.eraStart(), conway?.start);
  const parameters = await client.protocolParameters();
  assert.equal(parameters.minFeeConstant.ada.lovelace, 155_381n);
  const genesis = await client.genesisConfiguration('shelley');
  assert.equal('networkMagic' in genesis && genesis.networkMagic, 42);
  await assert.rejects(client.genesisConfiguration('conway'), { code: 2004 });
  const [ref] = here.mine;
  assert.ok(ref);
  const outputReferences = [{ transaction: { id: ref.txHash }, index: ref.index }];
  const [output] = await client.utxo({ outputReferences });
  assert.equal(output?.address, addressOf('alice'));
  assert.equal(output?.value.ada.lovelace, 1_000_000_000n);
  assert.equal((await client.utxo({ addresses: [addressOf('bob')] })).length, 5);
  assert.deepEqual(await client.rewardAccountSummaries({ keys: [] }), []);
  await client.acquireLedgerState(point);
  await client.releaseLedgerState();
  await assert.rejects(client.acquireLedgerState({ ...point, slot: 99 }), { code: 2000 });
});

test('tells its health', async (scope) => {
  const devnet = await startDevnet(scope);
  assert.equal(await devnet.node.mine(2), 2);
  const health = await getServerHealth({ connection: connectionOf(portOf(devnet)) });
  assert.equal(health.lastKnownTip.id, devnet.node.chain.tip?.id);
  assert.deepEqual([health.currentEra, health.networkSynchronization], ['conway', 1]);
});

test('the JSON of a pending transaction is made once', async (scope) => {
  const { node } = await startDevnet(scope);
  await node.submit(toHex(rawTransaction(plain(here)).bytes));
  const [shown] = node.chain.pending;
  assert.ok(shown);
  await node.submit(toHex(rawTransaction(plain(here, { inputs: here.mine.slice(1, 2) })).bytes));
  assert.equal(node.chain.pending.length, 2);
  assert.equal(node.chain.pending[0], shown);
  await node.mine(1);
  assert.ok(node.chain.blockAt(1)?.text.includes(shown.text));
});
