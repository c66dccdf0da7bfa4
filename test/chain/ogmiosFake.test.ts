/** The official client of Ogmios against our fake: were it not real, this would not work. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import {
  createChainSynchronizationClient,
  createLedgerStateQueryClient,
  createMempoolMonitoringClient,
  createTransactionSubmissionClient,
  getServerHealth,
} from '@cardano-ogmios/client';
import { WebSocket } from 'ws';
import { jsonText } from '../../src/engine/runtime/exactJson.ts';
import { emptyBlocks, praosBlock } from '../support/ogmios/blocks.ts';
import type { FakeTransaction } from '../support/ogmios/chain.ts';
import { connect, connectionOf, Follower, startFakeOgmios } from '../support/ogmios/scene.ts';
import { schemaCheck } from '../support/ogmios/schema.ts';

function check(behaviour: string, run: (scope: TestContext) => Promise<void>): void {
  test(behaviour, { timeout: 120_000 }, run);
}

function transaction(number: number, lovelace = 1_000_000n): FakeTransaction {
  const id = number.toString(16).padStart(64, '0');
  const output = { address: ADDRESS, value: { ada: { lovelace }, [POLICY]: { '': lovelace } } };
  const inputs = [{ transaction: { id: 'ab'.repeat(32) }, index: number }];
  const text = jsonText({ id, spends: 'inputs', inputs, outputs: [output], signatories: [] });
  return { id, bytes: 300, text };
}

const ADDRESS = 'addr_test1vz0hxt0hs3rpxsq8mhyljqelcu9p6jtmvy3v3px4q8xqhwqzv0jqz';
const POLICY = 'cd'.repeat(28);

check('chain-sync: from the origin, first back to it, then every block in order', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(...emptyBlocks(null, 250));
  const follower = new Follower();
  await follower.start(ogmios, ['origin'], 100);
  const expected = ogmios.chain.blocks.map(({ id }) => `+${id}`);
  await follower.saw(expected.at(-1) ?? '');
  assert.deepEqual(follower.told, ['-origin', ...expected]);
  const { tip } = ogmios.chain;
  const { slot, id, height } = tip ?? assert.fail('there is a tip');
  assert.deepEqual(follower.tips.at(-1), { slot, id, height: Number(height) });
});

check('chain-sync: waits at the tip until there is a block, and tells forks', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(...emptyBlocks(null, 5));
  const [, , third, , fifth] = ogmios.chain.blocks;
  assert.ok(third && fifth);
  const follower = new Follower();
  await follower.start(ogmios, [{ slot: Number(third.slot), id: third.id }]);
  await follower.saw(`+${fifth.id}`);
  const sixth = praosBlock(fifth);
  ogmios.chain.extend(sixth);
  await follower.saw(`+${sixth.id}`);
  const others = emptyBlocks(third, 4, 'fork');
  ogmios.chain.fork(3, others);
  await follower.saw(`+${others.at(-1)?.id}`);
  assert.deepEqual(follower.told.slice(4), [`-${third.id}`, ...others.map(({ id }) => `+${id}`)]);
});

check('chain-sync: takes the newest known point, or says that it knows none', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(...emptyBlocks(null, 4));
  const [, second] = ogmios.chain.blocks;
  assert.ok(second);
  const point = { slot: Number(second.slot), id: second.id };
  const context = await connect(ogmios);
  const ignore = { rollForward: async () => {}, rollBackward: async () => {} };
  const client = await createChainSynchronizationClient(context, ignore);
  const unknown = { slot: 999, id: 'ab'.repeat(32) };
  await assert.rejects(client.resume([unknown], 1), { code: 1000 });
  const wrongSlot = { ...point, slot: point.slot + 1 };
  await assert.rejects(client.resume([wrongSlot], 1), { code: 1000 });
  const { intersection, tip } = await client.resume([unknown, point, 'origin'], 1);
  assert.deepEqual(intersection, point);
  assert.equal(tip === 'origin' ? '' : tip.id, ogmios.chain.tip?.id);
});

check('chain-sync: heights and amounts beyond 2^53 arrive without loss', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  const large = 2n ** 63n - 25n;
  const height = 2n ** 60n + 1n;
  ogmios.chain.extend(praosBlock(null, { height, transactions: [transaction(1, large)] }));
  const follower = new Follower();
  await follower.start(ogmios);
  await follower.saw(`+${ogmios.chain.tip?.id}`);
  const [block] = follower.blocks;
  // trust: the client gives blocks as the schema has them
  const seen = block as { height: unknown; transactions: { outputs: { value: unknown }[] }[] };
  assert.equal(seen.height, height);
  assert.deepEqual(seen.transactions[0]?.outputs[0]?.value, {
    ada: { lovelace: large },
    [POLICY]: { '': large },
  });
});

check('mempool: a snapshot, its transactions, and none before it changes', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  const [first, second] = [transaction(1), transaction(2)];
  ogmios.chain.mempool([first, second]);
  const client = await createMempoolMonitoringClient(await connect(ogmios));
  await assert.rejects(client.nextTransaction(), { code: 4000 });
  assert.equal(await client.acquireMempool(), 0);
  assert.equal(await client.hasTransaction(first.id), true);
  assert.equal(await client.hasTransaction('ab'.repeat(32)), false);
  const size = await client.sizeOfMempool();
  assert.deepEqual([size.currentSize.bytes, size.transactions.count], [600, 2]);
  assert.equal(await client.nextTransaction(), first.id);
  const whole = await client.nextTransaction({ fields: 'all' });
  assert.equal(whole?.id, second.id);
  assert.equal(whole?.outputs[0]?.value.ada.lovelace, 1_000_000n);
  assert.equal(await client.nextTransaction(), null);

  let isAcquired = false;
  const another = client.acquireMempool().then(() => {
    isAcquired = true;
  });
  // A later request of another connection is answered earlier.
  const other = await createMempoolMonitoringClient(await connect(ogmios));
  await other.acquireMempool();
  assert.equal(isAcquired, false);
  ogmios.chain.mempool([second]);
  await another;
  assert.equal(await client.nextTransaction(), second.id);
  await client.releaseMempool();
  await assert.rejects(client.hasTransaction(second.id), { code: 4000 });
});

check('submits, and passes the errors of the specification on', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  const { id } = transaction(7);
  const data = { unknownOutputReferences: [{ transaction: { id }, index: 2 }] };
  ogmios.submit = async (cbor) =>
    cbor === '00' ? id : { code: 3117, message: 'unknown outputs', data };
  const client = await createTransactionSubmissionClient(await connect(ogmios));
  assert.equal(await client.submitTransaction('00'), id);
  await assert.rejects(client.submitTransaction('01'), { code: 3117, data });
});

check('answers queries of the ledger and the network', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  const client = await createLedgerStateQueryClient(await connect(ogmios));
  assert.equal(await client.networkTip(), 'origin');
  assert.equal(await client.networkBlockHeight(), 'origin');
  ogmios.chain.extend(praosBlock(null, { slot: 150_000_000 }));
  const slot = 150_000_000;
  const id = ogmios.chain.tip?.id ?? '';
  assert.deepEqual(await client.networkTip(), { slot, id });
  assert.deepEqual(await client.ledgerTip(), { slot, id });
  assert.equal(await client.networkBlockHeight(), 0);
  assert.equal((await client.networkStartTime()).toISOString(), '2017-09-23T21:44:51.000Z');
  assert.equal(await client.epoch(), 544);
  const [byron, shelley, , , , , conway] = await client.eraSummaries();
  assert.deepEqual(byron?.end, { time: { seconds: 89_856_000 }, slot: 4_492_800, epoch: 208 });
  assert.deepEqual(shelley?.start, byron?.end);
  assert.deepEqual(await client.eraStart(), conway?.start);
  assert.ok((conway?.end?.slot ?? 0) > slot);
  const parameters = await client.protocolParameters();
  assert.equal(parameters.minFeeConstant.ada.lovelace, 155_381n);
  const genesis = await client.genesisConfiguration('shelley');
  assert.equal('networkMagic' in genesis ? genesis.networkMagic : 0, 764_824_073);
  assert.deepEqual(await client.utxo({ outputReferences: [] }), []);
});

check('tells its health, and ends connections when the node behind is lost', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(praosBlock(null, { era: 'babbage' }));
  const connection = connectionOf(ogmios);
  const { currentEra, lastKnownTip, network, networkSynchronization } = await getServerHealth({
    connection,
  });
  assert.equal(currentEra, 'babbage');
  assert.equal(lastKnownTip.id, ogmios.chain.tip?.id);
  assert.deepEqual([network, networkSynchronization], ['mainnet', 1]);
  const { socket } = await connect(ogmios);
  const closed = once(socket, 'close');
  ogmios.loseNode();
  await closed;
  await assert.rejects(getServerHealth({ connection }));
  ogmios.findNode();
  await (await connect(ogmios)).socket.close();
});

check('answers what is no request with the codes of JSON-RPC', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  const socket = new WebSocket(ogmios.url);
  await once(socket, 'open');
  scope.after(() => socket.terminate());
  for (const [text, code, id] of [
    ['nonsense', -32700, null],
    ['[]', -32700, null],
    ['{"method":"nextBlock"}', -32600, null],
    ['{"jsonrpc":"2.0","id":[1]}', -32600, [1]],
    ['{"jsonrpc":"2.0","method":"NextBlock","id":{"a":2}}', -32601, { a: 2 }],
    ['{"jsonrpc":"2.0","method":"findIntersection","params":{"points":[1]}}', -32602, null],
    ['{"jsonrpc":"2.0","method":"submitTransaction","params":{"transaction":1}}', -32602, null],
  ] as const) {
    const answered = once(socket, 'message');
    socket.send(text);
    const [data] = await answered;
    const answer = JSON.parse(String(data));
    assert.deepEqual([answer.error.code, answer.id], [code, id], text);
  }
});

test('the schema finds fault with what is not as it says', () => {
  const fits = schemaCheck();
  const block = praosBlock(null).text;
  const tip = `{"slot":1,"id":"${'00'.repeat(32)}","height":1}`;
  const message = (content: string) => {
    const result = `{"direction":"forward","tip":${tip},"block":${content}}`;
    return `{"jsonrpc":"2.0","method":"nextBlock","result":${result}}`;
  };
  assert.equal(fits(message(block)), null);
  assert.notEqual(fits(message(block.replace('"praos"', '"bft"'))), null);
  assert.notEqual(fits(message(block.replace('"slot":20,', ''))), null);
  assert.notEqual(fits(message(transaction(1).text)), null);
});
