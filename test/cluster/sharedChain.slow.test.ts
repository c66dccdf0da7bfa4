/** Three nodes that follow one devnet: its forks, its absence, and submits to any of them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { Client, type Key } from '../../src/client/index.ts';
import type { Devnet } from '../../src/devnet/devnet.ts';
import { signedBody } from '../../src/devnet/payment.ts';
import { TIP } from '../../src/engine/fold/chainRows.ts';
import { type Clock, systemClock } from '../../src/engine/runtime/clock.ts';
import { type PointRecord, readRecord } from '../../src/engine/store/records.ts';
import { Person } from '../client/person.ts';
import type { TestApp } from '../support/app.ts';
import { NatsServer } from '../support/nats.ts';
import type { Scope } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { same, startNode, type TestMarket, trade } from './nodes.ts';
import { startSharedDevnet } from './sharedDevnet.ts';

const LIMIT_MS = 60_000;
const ADA = 1_000_000;
const FORK_BLOCKS = 10;
/** The three share one process: a lease is long beside its pauses. */
const LEASE_MS = '6000';

interface Standing {
  readonly status: number;
  readonly role: string;
  readonly term: number;
  readonly stale: boolean;
}

async function threeNodes(scope: Scope, market: TestMarket, more = {}): Promise<TestApp[]> {
  const starting = ['a', 'b', 'c'].map((name) =>
    startNode(scope, market, name, undefined, { LEASE_MS, ...more }),
  );
  const nodes = await Promise.all(starting);
  await leaderOf(nodes);
  return nodes;
}

async function standing({ url }: TestApp): Promise<Standing> {
  const answer = await fetch(`${url}/health/ready`);
  // trust: the fields that a schema of ours names
  return { ...((await answer.json()) as Omit<Standing, 'status'>), status: answer.status };
}

function untilAll(nodes: readonly TestApp[], what: string, fits: (all: Standing[]) => boolean) {
  return untilAsked(what, () => Promise.all(nodes.map(standing)), fits, LIMIT_MS);
}

async function leaderOf(nodes: readonly TestApp[]): Promise<TestApp> {
  const leads = ({ role }: Standing) => role === 'leader';
  const isOne = (all: Standing[]) =>
    all.filter(leads).length === 1 && all.every(({ stale }) => !stale);
  const all = await untilAll(nodes, 'one node leads, all are well', isOne);
  return nodes[all.findIndex(leads)] ?? assert.fail('one was found');
}

function heightOf({ app }: TestApp): number {
  const text = app.node.fold.store.get('market', TIP);
  return text === null ? 0 : readRecord<PointRecord>(text).height;
}

/** The wall clock, whose timers run no more once it is held: blocks come on demand alone then. */
function heldClock(): Clock & { isHeld: boolean } {
  const clock = {
    ...systemClock,
    isHeld: false,
    after: (delayMs: number, run: () => void) =>
      systemClock.after(delayMs, () => {
        if (!clock.isHeld) run();
      }),
  };
  return clock;
}

for (const paceMs of [0, 1_000]) {
  test(`a fork without a further block is shown by all nodes, pace ${paceMs}`, async (t) => {
    const server = await NatsServer.start(t);
    const clock = heldClock();
    const chain = await startSharedDevnet(t, paceMs, { clock });
    const nodes = await threeNodes(t, { server, chain, snapshotEvery: 1_000_000 });
    const { node: devnet } = chain.devnet;
    await trade(nodes[1] ?? assert.fail(), 3);
    clock.isHeld = true;
    const before = (await devnet.mine(1)) as number;
    const heights = () => nodes.map(heightOf);
    const all = (height: number) => () => heights().every((each) => each === height);
    await until(() => `all are at ${before}: ${heights()}`, all(before), LIMIT_MS);
    const after = await devnet.fork(FORK_BLOCKS, 'all');
    assert.equal(after, before - FORK_BLOCKS);
    await until(() => `all are at ${after}: ${heights()}`, all(before - FORK_BLOCKS), LIMIT_MS);
    assert.equal(devnet.chain.tip?.height, after, 'no block has come');
    clock.isHeld = false;
    await devnet.mine(FORK_BLOCKS);
    await same(...nodes);
  });
}

/** A complete transaction with its witness, as a wallet submits it. */
function signed(cbor: string, key: Key): string {
  return toHex(signedBody(decodeTransaction(Buffer.from(cbor, 'hex')).body, [key]).bytes);
}

async function submitted({ url }: TestApp, cbor: string) {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify({ cbor }) };
  const answer = await fetch(`${url}/submit`, init);
  return { status: answer.status, text: await answer.text() };
}

/** A user with a launched token, through one node. */
async function traderAt(scope: Scope, node: TestApp, { node: devnet }: Devnet) {
  const client = new Client({ url: node.url });
  scope.after(() => client.close());
  const person = new Person(client);
  await devnet.mine(1);
  await until('it can build', () => node.app.chain?.isReady() === true, LIMIT_MS);
  await person.fund(500, 6, () => devnet.mine(1));
  const token = await person.launch('Shared');
  await devnet.mine(1);
  const { fold } = node.app.node;
  await until('the pool is known', () => fold.store.get('pools', token) !== null, LIMIT_MS);
  const request = {
    assetId: token,
    side: 'BUY',
    amount: String(30 * ADA),
    slippage: '50',
  } as const;
  /** The next order, signed. */
  const order = async () => {
    const { data } = await client.build.order({ ...request, changeAddress: person.address });
    return { id: data.entityId, cbor: signed(data.cbor, person.key) };
  };
  const shown = async () => JSON.stringify((await client.orders.ofKeys([person.key.hash])).data);
  return { order, shown };
}

test('a node that does not lead answers a submit once its reads show the order', async (t) => {
  const server = await NatsServer.start(t);
  const chain = await startSharedDevnet(t, 0);
  const nodes = await threeNodes(t, { server, chain, snapshotEvery: 1_000_000 });
  const leader = await leaderOf(nodes);
  const follower = nodes.find((node) => node !== leader) ?? assert.fail();
  const { order, shown } = await traderAt(t, follower, chain.devnet);
  const placed = async () => {
    const { id, cbor } = await order();
    assert.ok(!(await shown()).includes(id));
    const first = await submitted(follower, cbor);
    assert.equal(first.status, 200, first.text);
    const isShown = (await shown()).includes(id);
    assert.deepEqual(await submitted(follower, cbor), first, 'known already: the same answer');
    return isShown;
  };
  // A node waits a second at most, in which a busy machine may not have shown it.
  const isShown = (await placed()) || (await placed()) || (await placed());
  assert.ok(isShown, 'the answer came once this node had it');
  assert.equal(await leaderOf(nodes), leader);
});

/** Listens on the devnet's port, accepts nothing, and counts connections. */
async function closedDoor(url: string) {
  const door = createServer((socket) => {
    door.tries += 1;
    socket.destroy();
  }) as ReturnType<typeof createServer> & { tries: number };
  door.tries = 0;
  door.listen(Number(new URL(url).port), '127.0.0.1');
  await once(door, 'listening');
  return door;
}

async function leadEnds({ url }: TestApp): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^upcurve_lead_ends_total (\d+)$/m.exec(text)?.[1] ?? assert.fail(text));
}

async function assertUsableAlone(node: TestApp, cbor: string): Promise<void> {
  const list = await fetch(`${node.url}/v1/pools-main-page/initial/state?filter=Latest`);
  assert.equal(list.status, 200);
  const { status, text } = await submitted(node, cbor);
  assert.equal(status, 503, text);
  assert.match(text, /"cause":"NOT_READY"/);
}

test('without their devnet nodes serve their state, and continue when it is back', async (t) => {
  const server = await NatsServer.start(t);
  const chain = await startSharedDevnet(t, 0);
  const market = { server, chain, snapshotEvery: 1_000_000 };
  const nodes = await threeNodes(t, market, { OGMIOS_PATIENCE_MS: '1000' });
  const { order } = await traderAt(t, nodes[2] ?? assert.fail(), chain.devnet);
  const { id, cbor } = await order();
  const ends = async () => (await Promise.all(nodes.map(leadEnds))).reduce((a, b) => a + b, 0);
  const endsBefore = await ends();
  await chain.devnet.stop();
  const door = await closedDoor(chain.env.OGMIOS_URL ?? '');
  t.after(() => door.close());
  const areAlone = (all: Standing[]) =>
    all.every(({ status, stale, role }) => status === 200 && stale && role === 'follower');
  const alone = await untilAll(nodes, 'all are stale, and the lead was given up', areAlone);
  for (const node of nodes) await assertUsableAlone(node, cbor);
  const { tries } = door;
  await until('all have tried again and again', () => door.tries > tries + 12, LIMIT_MS);
  const later = await Promise.all(nodes.map(standing));
  assert.deepEqual(
    later.map(({ term }) => term),
    alone.map(({ term }) => term),
  );
  assert.equal(await ends(), endsBefore + 1, 'the lead was given up once, and not taken again');
  door.close();
  await once(door, 'close');
  const again = await chain.reopen();
  t.after(() => again.stop());
  const leader = await leaderOf(nodes);
  const found = await submitted(leader, cbor);
  assert.equal(found.status, 200, found.text);
  await again.node.mine(1);
  const rows = () => nodes.map(({ app }) => app.node.fold.store.get('orders', id));
  await until('all have the order', () => rows().every((row) => row !== null), LIMIT_MS);
  await same(...nodes);
});
