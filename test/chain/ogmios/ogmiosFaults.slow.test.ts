/** Faults of node and network: each is reported by name, and the stream continues. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OgmiosOptions } from '../../../src/chain/ogmios/ogmios.ts';
import { Unavailable } from '../../../src/engine/runtime/errors.ts';
import { jsonText } from '../../../src/engine/runtime/exactJson.ts';
import { emptyBlocks, praosBlock } from '../../support/ogmios/blocks.ts';
import { FakeChain } from '../../support/ogmios/chain.ts';
import { startFakeOgmios } from '../../support/ogmios/scene.ts';
import type { FakeOgmios } from '../../support/ogmios/server.ts';
import type { Scope } from '../../support/server.ts';
import { until, untilAsked } from '../../support/until.ts';
import { orderOf } from '../recogniseWorld.ts';
import { remembering, startOgmios, type Told } from './ogmiosWorld.ts';
import { StreamModel } from './streamModel.ts';

async function following(scope: Scope, limits: OgmiosOptions['limits'] = {}) {
  const fake = await startFakeOgmios(scope);
  fake.chain.extend(...emptyBlocks(null, 10));
  const told = remembering();
  const chain = await startOgmios(scope, fake.url, { observer: told, limits });
  const model = await StreamModel.open(scope, chain);
  await model.same(fake.chain);
  return { fake, told, chain, model };
}

async function sees(told: Told, fault: string): Promise<void> {
  await until(
    () => `${fault} is reported; ${told.lost} ${told.messages}`,
    () => told.lost.includes(fault),
  );
}

function grow({ chain }: FakeOgmios, blocks = 5): void {
  chain.extend(...emptyBlocks(chain.tip, blocks));
}

const FAULTS: readonly (readonly [string, string, (fake: FakeOgmios) => void])[] = [
  ['a connection that is cut inside a block', 'closed', (f) => f.faults.nextBlock({ kind: 'cut' })],
  ['text that is no JSON', 'garbage', ({ faults }) => faults.nextBlock(garbage('{"jsonrpc"'))],
  ['JSON of another shape', 'garbage', ({ faults }) => faults.nextBlock(garbage('{"a":1}'))],
  ['no object', 'unreadable', ({ faults }) => faults.nextBlock(garbage('[1,2]'))],
  [
    'a block without what a block has',
    'unreadable',
    ({ faults, chain }) =>
      faults.nextBlock(garbage(forward('{"id":"ab"}', chain.tip?.id ?? '00'.repeat(32)))),
  ],
  [
    'a block that is not the next one',
    'unreadable',
    ({ faults, chain }) =>
      faults.nextBlock(garbage(forward(praosBlock(null).text, chain.tip?.id ?? ''))),
  ],
  [
    'a height beyond what is counted',
    'unreadable',
    ({ faults, chain }) => {
      const { text } = praosBlock(chain.tip, { height: 1n << 60n, salt: 'high' });
      faults.nextBlock(garbage(forward(text, chain.tip?.id ?? '')));
    },
  ],
  [
    'a message that is too large',
    'oversized',
    ({ faults }) => faults.nextBlock({ kind: 'padded', bytes: 300_000 }),
  ],
  ['a node that is lost for a while', 'closed', (fake) => loseAndFind(fake)],
];

function garbage(text: string) {
  return { kind: 'garbage', text } as const;
}

function forward(block: string, id: string): string {
  const tip = jsonText({ slot: 1, id, height: 1 });
  return (
    `{"jsonrpc":"2.0","method":"nextBlock","result":` +
    `{"direction":"forward","tip":${tip},"block":${block}}}`
  );
}

function loseAndFind(fake: FakeOgmios): void {
  fake.loseNode();
  fake.findNode();
}

for (const [what, cause, happens] of FAULTS) {
  test(`${what}: it is reported, and the stream continues`, { timeout: 120_000 }, async (t) => {
    const { fake, told, model } = await following(t, { messageBytes: 200_000 });
    happens(fake);
    grow(fake);
    await sees(told, `chain ${cause}`);
    await model.same(fake.chain);
    assert.deepEqual([model.backs, told.failures], [0, []]);
  });
}

test('a node that tells no block although it has others is left', {
  timeout: 120_000,
}, async (t) => {
  const { fake, told, model } = await following(t, { quietMs: 50 });
  fake.faults.stall('nextBlock');
  grow(fake);
  await sees(told, 'chain stalled');
  fake.faults.resume();
  await model.same(fake.chain);
});

test('a node that answers nothing is left', { timeout: 120_000 }, async (t) => {
  const { fake, told, model } = await following(t, { quietMs: 50, answerMs: 300 });
  fake.faults.stall();
  grow(fake);
  await sees(told, 'chain stalled');
  await sees(told, 'mempool stalled');
  fake.faults.resume();
  await model.same(fake.chain);
});

test('a quiet node is not left', { timeout: 120_000 }, async (t) => {
  const { fake, told, model } = await following(t, { quietMs: 20 });
  const before = fake.messages;
  await until('it was asked for its tip many times', () => fake.messages > before + 20);
  grow(fake);
  await model.same(fake.chain);
  assert.deepEqual(told.lost, []);
});

test('a server that is away when it starts, and again later', { timeout: 120_000 }, async (t) => {
  const fake = await startFakeOgmios(t);
  fake.chain.extend(...emptyBlocks(null, 3));
  fake.faults.refuse();
  const told = remembering();
  const starting = startOgmios(t, fake.url, { observer: told });
  await sees(told, 'chain unreachable');
  fake.faults.accept();
  const chain = await starting;
  const model = await StreamModel.open(t, chain);
  await model.same(fake.chain);
  fake.faults.refuse();
  fake.dropAll();
  const { refused } = fake.faults;
  await until('it was tried again', () => fake.faults.refused > refused + 3, 20_000);
  grow(fake);
  fake.faults.accept();
  await model.same(fake.chain);
});

test('stops while no node answers', { timeout: 120_000 }, async (t) => {
  const fake = await startFakeOgmios(t);
  fake.faults.refuse();
  const told = remembering();
  const { OgmiosChain } = await import('../../../src/chain/ogmios/ogmios.ts');
  const { systemClock } = await import('../../../src/engine/runtime/clock.ts');
  const { seededRng } = await import('../../../src/engine/runtime/rng.ts');
  const chain = new OgmiosChain({
    url: fake.url,
    deployment: null,
    watched: () => ({ tokens: [], watched: [] }),
    clock: systemClock,
    rng: seededRng(1),
    observer: told,
  });
  const starting = assert.rejects(chain.start(), /no longer followed/);
  await sees(told, 'chain unreachable');
  await chain.stop();
  await starting;
  assert.deepEqual(told.failures, []);
});

test('waits for a node of another network, and reports it as foreign', {
  timeout: 120_000,
}, async (t) => {
  const { fake, told, model } = await following(t);
  const { blocks } = fake.chain;
  const ours = [...blocks];
  const other = new FakeChain();
  other.extend(...emptyBlocks(null, 30, 'another network'));
  fake.faults.refuse();
  fake.dropAll();
  fake.chain.fork(fake.chain.length, other.blocks);
  fake.faults.accept();
  // From the origin even that is one chain: back to before the first block.
  await model.same(fake.chain);
  fake.chain.fork(fake.chain.length, ours);
  await model.same(fake.chain);
  const points = [{ slot: 5, hash: 'ab'.repeat(32) }];
  const chain = await startOgmios(t, fake.url);
  assert.equal(await chain.open(points), null);
  const resumed = await StreamModel.open(t, chain, [
    { slot: Number(ours[4]?.slot), hash: ours[4]?.id ?? '' },
  ]);
  await resumed.same(fake.chain);
  assert.deepEqual(told.failures, []);
});

test('a stream without common block tries until the node has it again', {
  timeout: 120_000,
}, async (t) => {
  const fake = await startFakeOgmios(t);
  const ours = emptyBlocks(null, 10);
  fake.chain.extend(...ours);
  const told = remembering();
  const chain = await startOgmios(t, fake.url, { observer: told });
  const model = await StreamModel.open(t, chain, [
    { slot: Number(ours[4]?.slot), hash: ours[4]?.id ?? '' },
  ]);
  await model.same(fake.chain);
  fake.faults.refuse();
  fake.dropAll();
  fake.chain.fork(10, emptyBlocks(null, 3, 'far behind'));
  fake.faults.accept();
  await sees(told, 'chain foreign');
  fake.chain.fork(3, ours);
  grow(fake);
  await model.same(fake.chain);
  assert.equal(model.backs, 0);
});

test('while the mempool cannot be read, blocks continue and the reader gets an empty mempool', {
  timeout: 120_000,
}, async (t) => {
  const fake = await startFakeOgmios(t);
  fake.chain.extend(...emptyBlocks(null, 3));
  fake.faults.stall('acquireMempool', 'nextTransaction');
  const told = remembering();
  const chain = await startOgmios(t, fake.url, { observer: told, limits: { quietMs: 100 } });
  const model = await StreamModel.open(t, chain);
  await model.same(fake.chain);
  grow(fake);
  await model.same(fake.chain);
  fake.dropAll();
  await model.until('the mempool is taken as empty', () => model.wholes > 0);
  grow(fake);
  await model.same(fake.chain);
});

test('questions fail as what may be asked again, also when no answer comes', {
  timeout: 120_000,
}, async (t) => {
  const fake = await startFakeOgmios(t);
  const chain = await startOgmios(t, fake.url, { limits: { answerMs: 300 } });
  const { bytes } = orderOf('.', 'buy').tx;
  const isUnavailable = (error: unknown) => {
    assert.ok(error instanceof Unavailable);
    assert.deepEqual([error.failure.cause, error.failure.retry], ['NOT_READY', true]);
    return true;
  };
  fake.faults.stall('submitTransaction', 'queryLedgerState/protocolParameters');
  await assert.rejects(chain.submit(bytes), isUnavailable);
  await assert.rejects(chain.parameters(), isUnavailable);
  fake.faults.refuse();
  fake.dropAll();
  await assert.rejects(chain.submit(bytes), isUnavailable);
  fake.faults.accept();
  fake.faults.resume();
  // On a busy machine an answer may still come too late.
  const outcome = await untilAsked(
    'the node is there again',
    () => chain.submit(bytes).catch(() => null),
    (answer) => answer !== null,
  );
  assert.ok(outcome?.outcome === 'refused' && outcome.message.includes('takes no transactions'));
});
