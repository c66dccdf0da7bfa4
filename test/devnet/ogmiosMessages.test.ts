/** Every method of the devnet's Ogmios, and every error of a query, by the published schema. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { byteString, encodeAssets, map, tagged, uint } from '../../src/cardano/codec/encode.ts';
import { blake2b256, scriptHash } from '../../src/cardano/codec/hash.ts';
import { fromHex, toHex } from '../../src/cardano/codec/hex.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { genesisOutputs, startDevnet } from '../support/devnetNode.ts';
import { addressOf } from '../support/ledgerWorld.ts';
import { schemaMethods } from '../support/ogmios/schema.ts';
import { NEVER, rawTransaction } from '../support/rawTransaction.ts';
import { ADA, minting, pay, plain } from './judged.ts';
import { asked, memberOf, posted, type Told } from './ogmiosAsked.ts';

const owned = (name: string) =>
  genesisOutputs().flatMap(({ ref, output }) => (output.address === addressOf(name) ? ref : []));
const here = { mine: owned('alice') };
const NOWHERE = { slot: 99, id: '00'.repeat(32) };

/** A failed script that takes the collateral. */
function failing() {
  const token = `${scriptHash(NEVER)}.746f6b`;
  return minting(here, {
    scripts: [NEVER],
    isValid: false,
    inputs: here.mine.slice(2, 3),
    outputs: [
      { address: addressOf('bob'), value: asValue(10n * ADA, [[token, 5n]]) },
      pay('alice', 988n * ADA),
    ],
    fields: { 9: encodeAssets(new Map([[token, 5n]])) },
  });
}

/** A payment with metadata, a validity interval and a datum. */
function annotated() {
  const auxiliary = tagged(259, map([[uint(0), map([[uint(674), uint(1)]])]]));
  return plain(here, {
    inputs: here.mine.slice(3, 4),
    outputs: [{ ...pay('bob', 10n * ADA), datum: 'd87980' }, pay('alice', 989n * ADA)],
    feeLovelace: ADA,
    auxiliary,
    fields: { 3: uint(900), 7: byteString(fromHex(blake2b256(auxiliary))), 8: uint(0) },
  });
}

/** A block with a mint, a failed script and metadata; a payment is pending. */
async function busy(scope: TestContext) {
  const devnet = await startDevnet(scope);
  const client = await asked(scope, devnet.ogmiosUrl);
  const submit = (cbor: string) => client.ask('submitTransaction', { transaction: { cbor } });
  const ids: string[] = [];
  const accept = async (plan: Parameters<typeof rawTransaction>[0]) => {
    const { bytes, id } = rawTransaction(plan);
    const told = await submit(toHex(bytes));
    assert.deepEqual(told.result, { transaction: { id } }, JSON.stringify(told.error));
    ids.push(id);
  };
  await accept(minting(here));
  await accept(failing());
  await accept(annotated());
  assert.equal(await devnet.node.mine(1), 1);
  await accept(plain(here, { inputs: here.mine.slice(4, 5) }));
  return { devnet, client, ids };
}

const { bytes: mint } = rawTransaction(minting({ mine: owned('bob') }));

/** Served methods, with parameters that they accept; the others are not served. */
const SERVED: Readonly<Record<string, object>> = {
  findIntersection: { points: [NOWHERE, 'origin'] },
  nextBlock: {},
  submitTransaction: {},
  evaluateTransaction: { transaction: { cbor: toHex(mint) } },
  acquireLedgerState: { point: 'origin' },
  releaseLedgerState: {},
  'queryLedgerState/epoch': {},
  'queryLedgerState/eraStart': {},
  'queryLedgerState/eraSummaries': {},
  'queryLedgerState/protocolParameters': {},
  'queryLedgerState/rewardAccountSummaries': { keys: [] },
  'queryLedgerState/tip': {},
  'queryLedgerState/utxo': { addresses: [addressOf('alice'), addressOf('bob')] },
  'queryNetwork/blockHeight': {},
  'queryNetwork/genesisConfiguration': { era: 'shelley' },
  'queryNetwork/startTime': {},
  'queryNetwork/tip': {},
  acquireMempool: {},
  nextTransaction: { fields: 'all' },
  hasTransaction: { id: '00'.repeat(32) },
  sizeOfMempool: {},
  releaseMempool: {},
};

test('every method of the schema is served, or said to be none', async (scope) => {
  const { client, devnet } = await busy(scope);
  const methods = schemaMethods();
  assert.ok(methods.length > 30, 'the schema lists them');
  for (const method of Object.keys(SERVED)) assert.ok(methods.includes(method), method);
  for (const method of methods) {
    const params = SERVED[method];
    if (method === 'submitTransaction') continue;
    const told = await client.ask(method, params);
    if (params === undefined) assert.equal(told.error?.code, -32601, method);
    else assert.ok('result' in told, `${method}: ${JSON.stringify(told)}`);
  }
  for (const method of ['queryNetwork/tip', 'queryLedgerState/utxo']) {
    const { status, told } = await posted(scope, devnet.devnetUrl, method, SERVED[method]);
    assert.equal(status, 200);
    assert.ok('result' in told);
  }
});

test('a new chain has no tip', async (scope) => {
  const { ogmiosUrl } = await startDevnet(scope);
  const client = await asked(scope, ogmiosUrl);
  assert.equal((await client.ask('queryNetwork/tip')).result, 'origin');
  assert.equal((await client.ask('queryLedgerState/tip')).result, 'origin');
  assert.equal((await client.ask('queryNetwork/blockHeight')).result, 'origin');
  assert.equal(memberOf((await client.ask('acquireMempool')).result, 'slot'), 0);
  assert.deepEqual((await client.ask('nextTransaction')).result, { transaction: null });
});

test('chain synchronisation: every block, a fork, and the mempool beside it', async (scope) => {
  const { client, devnet, ids } = await busy(scope);
  const [, , , pending] = ids;
  const steps: Told[] = [];
  for (let at = 0; at < 2; at += 1) steps.push(await client.ask('nextBlock'));
  const transactions = (told: Told | undefined) => memberOf(told?.result, 'block', 'transactions');
  assert.deepEqual(
    [0, 1, 2, 3].map((at) => memberOf(transactions(steps[1]), at, 'id')),
    [...ids.slice(0, 3), undefined],
  );
  assert.equal(memberOf(transactions(steps[1]), 1, 'spends'), 'collaterals');
  const waiting = client.ask('nextBlock');
  assert.equal(await devnet.node.mine(1), 2);
  assert.equal(memberOf(transactions(await waiting), 0, 'id'), pending);
  assert.equal(await devnet.node.fork(1, 'all'), 1);
  const back = await client.ask('nextBlock');
  assert.equal(memberOf(back.result, 'direction'), 'backward');

  assert.ok('result' in (await client.ask('acquireMempool')));
  const { result } = await client.ask('nextTransaction', { fields: 'all' });
  assert.equal(memberOf(result, 'transaction', 'id'), pending);
  assert.deepEqual((await client.ask('nextTransaction')).result, { transaction: null });
  assert.equal((await client.ask('hasTransaction', { id: pending })).result, true);
  const size = await client.ask('sizeOfMempool');
  assert.equal(memberOf(size.result, 'transactions', 'count'), 1);
});

test('errors of queries, of chain synchronisation and of the mempool', async (scope) => {
  const { client, devnet } = await busy(scope);
  const { ask } = client;
  const code = async (method: string, params: object) => (await ask(method, params)).error?.code;
  const origin = { points: ['origin'] };
  const errors: [string, object, number][] = [
    ['findIntersection', { points: [NOWHERE] }, 1000],
    ['findIntersection', { points: [1] }, -32602],
    ['findIntersection', { points: 'origin' }, -32602],
    ['acquireLedgerState', { point: NOWHERE }, 2000],
    ['acquireLedgerState', {}, 2000],
    ['queryNetwork/genesisConfiguration', { era: 'byron' }, 2004],
    ['queryNetwork/genesisConfiguration', { era: 'conway' }, 2004],
    ['queryLedgerState/utxo', {}, -32602],
    ['queryLedgerState/utxo', { addresses: 'all' }, -32602],
    ['nextTransaction', {}, 4000],
    ['hasTransaction', { id: '00'.repeat(32) }, 4000],
    ['sizeOfMempool', {}, 4000],
    ['releaseMempool', {}, 4000],
    ['submitTransaction', {}, -32602],
    ['submitTransaction', { transaction: { cbor: 'xyz' } }, -32602],
    ['evaluateTransaction', {}, -32602],
    ['queryLedgerState/stakePools', {}, -32601],
    ['NextBlock', {}, -32601],
  ];
  for (const [method, params, expected] of errors) {
    assert.equal(await code(method, params), expected, `${method} ${JSON.stringify(params)}`);
    const { status, told } = await posted(scope, devnet.devnetUrl, method, params);
    assert.deepEqual([status, told.error?.code], [400, expected], method);
  }
  assert.equal(await code('findIntersection', origin), undefined);
  for (let at = 0; at < 2; at += 1) await ask('nextBlock');
  void ask('nextBlock');
  assert.equal(await code('findIntersection', origin), 1001);
});

test('what is no request', async (scope) => {
  const { ogmiosUrl } = await startDevnet(scope);
  const client = await asked(scope, ogmiosUrl);
  const texts: [string, number][] = [
    ['nonsense', -32700],
    ['[]', -32700],
    ['{"method":"nextBlock"}', -32600],
    ['{"jsonrpc":"2.0"}', -32600],
    [`{"jsonrpc":"2.0","method":"nextBlock","id":${'['.repeat(50)}${']'.repeat(50)}}`, -32600],
  ];
  for (const [text, code] of texts) assert.equal((await client.say(text)).error?.code, code, text);
});
