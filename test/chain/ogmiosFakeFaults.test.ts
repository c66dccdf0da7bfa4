/** How the fake Ogmios misbehaves on demand, and every era it can tell of. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createLedgerStateQueryClient, getServerHealth } from '@cardano-ogmios/client';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { ERAS, eraSummaries } from '../../src/devnet/ogmios/networkFacts.ts';
import { boundaryBlock, byronBlock, emptyBlocks, praosBlock } from '../support/ogmios/blocks.ts';
import type { FakeBlock } from '../support/ogmios/chain.ts';
import { MAINNET_ERAS } from '../support/ogmios/mainnetEras.ts';
import { connect, connectionOf, Follower, startFakeOgmios } from '../support/ogmios/scene.ts';
import type { FakeOgmios } from '../support/ogmios/server.ts';
import { until } from '../support/until.ts';

function check(behaviour: string, run: (scope: TestContext) => Promise<void>): void {
  test(behaviour, { timeout: 120_000 }, run);
}

interface Raw {
  readonly socket: WebSocket;
  readonly messages: string[];
  ask(method: string, params?: unknown): void;
}

/** A connection that keeps every message as it came. */
async function rawClient({ url }: FakeOgmios, options: object = {}): Promise<Raw> {
  const socket = new WebSocket(url, options);
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(String(data)));
  socket.on('error', () => {});
  await once(socket, 'open');
  const ask = (method: string, params: unknown = {}) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  return { socket, messages, ask };
}

async function synced(ogmios: FakeOgmios, blocks: number): Promise<Raw> {
  const raw = await rawClient(ogmios);
  raw.ask('findIntersection', { points: ['origin'] });
  for (let at = 0; at <= blocks; at += 1) raw.ask('nextBlock');
  return raw;
}

check('stalls until told to go on, and loses nothing', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(...emptyBlocks(null, 3));
  const { messages, ask } = await rawClient(ogmios);
  ogmios.faults.stall();
  ask('queryNetwork/tip');
  ask('findIntersection', { points: ['origin'] });
  for (let at = 0; at < 4; at += 1) ask('nextBlock');
  await until('all requests came', () => ogmios.messages === 6);
  assert.deepEqual(messages, []);
  ogmios.faults.resume();
  await until('all is answered', () => messages.length === 6);
});

check('stalls one method alone', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  const { messages, ask } = await rawClient(ogmios);
  ogmios.faults.stall('queryLedgerState/epoch');
  ask('queryLedgerState/epoch');
  ask('queryNetwork/startTime');
  await until('the other is answered', () => messages.length === 1);
  assert.match(messages[0] ?? '', /startTime/);
  ogmios.faults.resume();
  await until('both are answered', () => messages.length === 2);
});

check('drops the connection in the middle of a block', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(...emptyBlocks(null, 5));
  ogmios.faults.nextBlock({ kind: 'cut' }, 2);
  const follower = new Follower();
  await follower.start(ogmios);
  await until('the connection ended', () => follower.ended === 1);
  assert.equal(follower.told.length, 3, 'back, and two blocks');
  const again = new Follower();
  await again.start(ogmios);
  await again.saw(`+${ogmios.chain.tip?.id}`);
});

check('half of the bytes of the block that is cut arrive', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(...emptyBlocks(null, 1));
  ogmios.faults.nextBlock({ kind: 'cut' });
  let received = '';
  const createConnection = () =>
    connectTcp(ogmios.port, '127.0.0.1').on('data', (data) => {
      received += data.toString('latin1');
    });
  const { socket, messages, ask } = await rawClient(ogmios, { createConnection });
  const closed = once(socket, 'close');
  ask('findIntersection');
  ask('nextBlock');
  ask('nextBlock');
  assert.deepEqual((await closed)[0], 1006, 'closed without a word');
  assert.equal(messages.length, 2);
  assert.ok(received.includes('"direction":"forward"'));
  assert.ok(!received.includes('"transactions":[]'), 'its end is missing');
});

check('refuses connections for a while', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.faults.refuse();
  await assert.rejects(getServerHealth({ connection: connectionOf(ogmios) }));
  await assert.rejects(once(new WebSocket(ogmios.url), 'open'));
  assert.equal(ogmios.faults.refused, 2);
  ogmios.faults.accept();
  await connect(ogmios);
});

check('sends garbage in the place of a block', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(...emptyBlocks(null, 3));
  ogmios.faults.nextBlock({ kind: 'garbage', text: 'no JSON {' });
  ogmios.faults.nextBlock({ kind: 'garbage', text: '{"jsonrpc":"2.0","result":[]}' });
  const { messages } = await synced(ogmios, 3);
  await until('all came', () => messages.length === 5);
  assert.deepEqual(messages.slice(2, 4), ['no JSON {', '{"jsonrpc":"2.0","result":[]}']);
  ogmios.sendRaw('unasked');
  await until('it came', () => messages.at(-1) === 'unasked');
});

check('sends a block that is larger than a client wants', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(...emptyBlocks(null, 2));
  ogmios.faults.nextBlock({ kind: 'padded', bytes: 300_000 });
  const { socket, ask } = await rawClient(ogmios, { maxPayload: 200_000 });
  const failed = once(socket, 'error');
  // Its own end: the message is too large for it.
  ask('findIntersection', { points: ['origin'] });
  ask('nextBlock');
  ask('nextBlock');
  const [error] = await failed;
  assert.match(String(error), /Max payload size exceeded/);
  const { messages } = await synced(ogmios, 2);
  await until('another reader has all', () => messages.length === 4);
});

check('several unread forks are one step back to the common block', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  ogmios.chain.extend(...emptyBlocks(null, 10));
  const follower = new Follower();
  await follower.start(ogmios);
  await follower.saw(`+${ogmios.chain.tip?.id}`);
  ogmios.faults.stall('nextBlock');
  ogmios.chain.fork(3, emptyBlocks(ogmios.chain.blockAt(7) ?? null, 5, 'a'));
  ogmios.chain.fork(8, emptyBlocks(ogmios.chain.blockAt(4) ?? null, 9, 'b'));
  ogmios.faults.resume();
  await follower.saw(`+${ogmios.chain.tip?.id}`);
  const [, , , fourth] = ogmios.chain.blocks;
  const expected = ogmios.chain.blocks.slice(4).map(({ id }) => `+${id}`);
  assert.deepEqual(follower.told.slice(11), [`-${fourth?.id}`, ...expected]);
});

check('a reader that applies every event has the chain, whatever the chain does', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  const { chain, faults } = ogmios;
  const follower = new Follower();
  await follower.start(ogmios);
  let made = 0;
  const happening = fc.record({
    depth: fc.nat(6),
    blocks: fc.integer({ min: 1, max: 7 }),
    stalls: fc.boolean(),
    waits: fc.boolean(),
  });
  const property = fc.asyncProperty(fc.array(happening, { maxLength: 8 }), async (happenings) => {
    for (const { depth, blocks, stalls, waits } of happenings) {
      made += 1;
      if (stalls) faults.stall('nextBlock');
      const kept = Math.max(0, chain.length - depth);
      const others = emptyBlocks(chain.blockAt(kept) ?? null, blocks, `${made}`);
      chain.fork(chain.length - kept, others);
      faults.resume();
      if (waits) await follower.saw(`+${chain.tip?.id}`);
    }
    if (chain.tip !== null) await follower.saw(`+${chain.tip.id}`);
    assert.deepEqual(
      applied(follower.told),
      chain.blocks.map(({ id }) => id),
    );
  });
  await fc.assert(property, { numRuns: 50 });
});

/** The chain of a client that adds and removes blocks in the order of its messages. */
function applied(told: readonly string[]): string[] {
  const ids: string[] = [];
  for (const each of told) {
    const id = each.slice(1);
    if (each.startsWith('+')) ids.push(id);
    else {
      const at = id === 'origin' ? -1 : ids.indexOf(id);
      assert.ok(at >= 0 || id === 'origin', 'back to a block that was told');
      ids.splice(at + 1);
    }
  }
  return ids;
}

check('tells blocks of every era, and the boundaries between them', async (scope) => {
  const ogmios = await startFakeOgmios(scope);
  const blocks = everyEra();
  const client = await createLedgerStateQueryClient(await connect(ogmios));
  const known: number[] = [];
  for (const block of blocks) {
    ogmios.chain.extend(block);
    known.push((await client.eraSummaries()).length);
  }
  assert.deepEqual(known, [1, 1, 1, 1, 2, 3, 4, 5, 6, 7], 'a boundary adds an era');
  const follower = new Follower();
  await follower.start(ogmios);
  await follower.saw(`+${blocks.at(-1)?.id}`);
  // trust: the client gives blocks as the schema has them
  const told = follower.blocks as { era: string; type: string; height: number }[];
  assert.deepEqual([...new Set(told.map(({ era }) => era))], ERAS);
  assert.deepEqual(new Set(told.map(({ type }) => type)), new Set(['ebb', 'bft', 'praos']));
  const heights = told.slice(0, 4).map(({ height }) => height);
  assert.deepEqual(heights, [0, 1, 1, 2], 'a boundary block has the height of its parent');
});

test('eras that were not reached are not told, and the present one ends at its horizon', () => {
  // trust: the shape that eraSummaries writes
  const at = (slot: number) => eraSummaries(MAINNET_ERAS, slot) as { end: { slot: number } }[];
  assert.equal(at(4_492_799).length, 1);
  assert.equal(at(4_492_800).length, 2);
  const [alonzo] = at(72_316_799).slice(-1);
  const before = at(72_316_800);
  assert.equal(before.length, 6);
  assert.equal(before[4]?.end.slot, 72_316_800);
  assert.ok((alonzo?.end.slot ?? 0) > 72_316_800, 'the safe zone reaches into the next epoch');
});

/** One or more blocks of each era, at the slots where mainnet's eras begin. */
function everyEra(): FakeBlock[] {
  const blocks: FakeBlock[] = [boundaryBlock(null, 0)];
  const parent = () => blocks.at(-1) ?? null;
  blocks.push(byronBlock(parent(), { slot: 1 }));
  blocks.push(boundaryBlock(parent(), 21_600));
  blocks.push(byronBlock(parent(), { slot: 21_601 }));
  for (const { era, startSlot } of MAINNET_ERAS) {
    if (era !== 'byron') blocks.push(praosBlock(parent(), { era, slot: startSlot }));
  }
  return blocks;
}
