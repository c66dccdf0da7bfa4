/**
 * A devnet forgets old blocks, so that its file stops growing, and answers requests about them with
 * an error.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { genesisUtxosOf } from '../../src/cardano/validators/genesis.ts';
import { Ledger } from '../../src/devnet/ledger.ts';
import { K, LedgerFile } from '../../src/devnet/ledgerFile.ts';
import { readOnlyDatabase } from '../../src/engine/store/database.ts';
import { startDevnet } from '../support/devnetNode.ts';
import { addressOf, FEE_LOVELACE, GENESIS_TIME_MS, payment } from '../support/ledgerWorld.ts';
import { temporaryDirectory } from '../support/server.ts';

const SLOTS = { zeroTimeMs: GENESIS_TIME_MS, zeroSlot: 0, slotLengthMs: 1000 };
const MIB = 1024 * 1024;
const TEN_ADA = 10_000_000n;

function rowsIn(path: string) {
  const database = readOnlyDatabase(path);
  const count = (table: string) =>
    database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  const rows = {
    blocks: count('blocks'),
    transactions: count('transactions'),
    outputs: count('outputs'),
  };
  database.close();
  return rows;
}

test('keeps a number of blocks, and heads of older ones as long as their outputs', () => {
  const path = join(temporaryDirectory(), 'chain.sqlite');
  const file = new LedgerFile(path, 0, K);
  const funds = genesisUtxosOf([{ address: addressOf('alice'), value: coins(TEN_ADA) }]);
  const [fund] = funds;
  assert.ok(fund);
  file.begin('{}', funds);
  const ledger = new Ledger(file, SLOTS, () => 0);
  const first = payment(fund, 'alice', 'bob', 3_000_000n);
  assert.equal(ledger.submit(first.bytes).outcome, 'accepted');
  assert.equal(ledger.forge(), null);
  const made = ledger.tip;
  assert.equal(ledger.forge(2 * K), null);
  const height = 2 * K + 1;
  assert.deepEqual(file.head(1), made, 'two of its outputs are unspent');
  assert.equal(file.head(2), null);
  assert.equal(file.head(height - K), null);
  assert.equal(file.head(height - K + 1)?.height, height - K + 1);
  assert.deepEqual(file.transactionsOf(1), []);
  assert.equal(file.output(fund.ref), null, 'it was spent more than K blocks ago');

  const again = ledger.submit(first.bytes);
  assert.equal(again.outcome === 'refused' && again.reason, 'INPUT_SPENT');

  // Alice spends her change and Bob his payment, so that in the end no output of block 1 is left.
  const outputs = decodeTransaction(first.bytes).outputs;
  for (const [index, name] of (['bob', 'alice'] as const).entries()) {
    const output = outputs[index];
    assert.ok(output);
    const rest = output.value.lovelace - FEE_LOVELACE - 1_000_000n;
    const spend = payment({ ref: { txHash: first.id, index }, output }, name, 'carol', rest);
    assert.equal(ledger.submit(spend.bytes).outcome, 'accepted');
  }
  assert.equal(ledger.forge(K), null);
  assert.deepEqual(file.head(1), made, 'they can still be unspent by a fork');
  assert.equal(ledger.forge(), null);
  assert.equal(file.head(1), null);
  assert.equal(ledger.forge(3 * K), null);
  file.close();
  assert.deepEqual(rowsIn(path), { blocks: K + 1, transactions: 0, outputs: 4 });
  const reopened = new LedgerFile(path, 0, K);
  const read = new Ledger(reopened, SLOTS, () => 0);
  assert.deepEqual(read.tip, ledger.tip);
  assert.ok('takenBack' in read.fork(K, 'all'), 'as deep as ever');
  reopened.close();
});

test('the write-ahead log stays small, whatever is committed between two blocks', (scope) => {
  const path = join(temporaryDirectory(), 'chain.sqlite');
  const file = new LedgerFile(path);
  scope.after(() => file.close());
  file.begin('{}', []);
  for (let at = 0; at < 800; at += 1) {
    const id = at.toString(16).padStart(64, '0');
    const before = (at - 1).toString(16).padStart(64, '0');
    const added = [{ id, bytes: new Uint8Array(16_000) }];
    assert.equal(file.changePending(added, at === 0 ? [] : [before]), null);
  }
  assert.ok(statSync(`${path}-wal`).size < 16 * MIB);
});

interface Told {
  readonly error?: { readonly code: number };
  readonly result?: {
    readonly direction?: string;
    readonly block?: { readonly height: number };
    readonly point?: unknown;
  };
}

async function connected(scope: TestContext, url: string) {
  const socket = new WebSocket(url);
  scope.after(() => socket.terminate());
  await once(socket, 'open');
  const told: Told[] = [];
  const waiting: (() => void)[] = [];
  socket.on('message', (data) => {
    told.push(JSON.parse(String(data)));
    waiting.shift()?.();
  });
  const ask = async (method: string, params: object = {}): Promise<Told> => {
    const answered = new Promise<void>((resolve) => waiting.push(resolve));
    socket.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
    await answered;
    return told.at(-1) ?? assert.fail('it answered');
  };
  return { socket, ask };
}

test('Ogmios finds no intersection with blocks that are not kept', async (scope) => {
  const { node, ogmiosUrl } = await startDevnet(scope, { blocksKept: K });
  assert.equal(await node.mine(10), 10);
  const point = () => {
    const { slot, id } = node.chain.tip ?? assert.fail('there is a tip');
    return { slot: Number(slot), id };
  };
  const tenth = point();
  const early = await connected(scope, ogmiosUrl);
  assert.deepEqual((await early.ask('findIntersection', { points: ['origin'] })).error, undefined);
  assert.equal((await early.ask('nextBlock')).result?.point, 'origin');
  assert.equal((await early.ask('nextBlock')).result?.block?.height, 1);

  assert.equal(await node.mine(5), 15);
  const fifteenth = point();
  assert.equal(await node.mine(K - 1), K + 14);
  const late = await connected(scope, ogmiosUrl);
  for (const points of [['origin'], [tenth], []]) {
    assert.equal((await late.ask('findIntersection', { points })).error?.code, 1000);
  }
  const { result } = await late.ask('findIntersection', { points: [tenth, fifteenth] });
  assert.deepEqual(result, { ...result, intersection: fifteenth });
  assert.deepEqual((await late.ask('nextBlock')).result?.point, fifteenth);
  assert.equal((await late.ask('nextBlock')).result?.block?.height, 16);

  // The first client reads on where blocks are gone, the second never named a position.
  const unsaid = await connected(scope, ogmiosUrl);
  for (const { socket } of [early, unsaid]) {
    const closed = once(socket, 'close');
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'nextBlock' }));
    const [code, reason] = await closed;
    assert.equal(code, 1008);
    assert.match(String(reason), /not kept/);
  }
});
