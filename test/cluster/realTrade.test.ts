/**
 * Trading through a node that does not lead: the node builds with its own Kupo, submits to its own
 * Ogmios, and shows the leader's log. Only the leader fills orders. For a reader, which has
 * neither, another node builds and submits.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OrderRecord, readRecord } from '../../src/engine/store/records.ts';
import { ADA, launchOf } from '../e2e/devnet/world.ts';
import { built, KEYS, RealLedger, type SeparateNode } from '../e2e/realTradeWorld.ts';
import { NatsServer } from '../support/nats.ts';
import { until, untilAsked } from '../support/until.ts';
import { LIMIT_MS, said } from './realNodes.ts';

interface Counted extends SeparateNode {
  /** Transactions that its Ogmios received. */
  readonly submits: string[];
}

function counted(node: SeparateNode): Counted {
  const { ogmios } = node.bridge;
  const submits: string[] = [];
  const { submit } = ogmios;
  ogmios.submit = (cbor) => {
    submits.push(cbor);
    return submit(cbor);
  };
  return { ...node, submits };
}

function orderOf({ real }: SeparateNode, id: string): OrderRecord | null {
  const text = real.app.app.node.fold.store.get('orders', id);
  return text === null ? null : readRecord<OrderRecord>(text);
}

function shows(node: SeparateNode, id: string, state: OrderRecord['state']): Promise<unknown> {
  const found = async () => orderOf(node, id)?.state ?? 'unknown';
  return untilAsked(`order ${id} is ${state}`, found, (now) => now === state, LIMIT_MS);
}

async function untilLeads(...nodes: readonly Counted[]): Promise<Counted> {
  const all = await untilAsked(
    'one of them leads',
    () => Promise.all(nodes.map(({ real }) => said(real.app.url))),
    (found) => found.filter(({ role }) => role === 'leader').length === 1,
    LIMIT_MS,
  );
  return nodes[all.findIndex(({ role }) => role === 'leader')] ?? assert.fail();
}

test('orders through any node are filled once, by the leader', async (t) => {
  const nats = await NatsServer.start(t);
  const world = await RealLedger.open(t);
  const env = { NATS_URL: nats.url, LEASE_MS: '20000' };
  const nodes: Counted[] = [];
  for (const NODE_NAME of ['a', 'b']) {
    nodes.push(counted(await world.separateNode({ secrets: KEYS, env: { ...env, NODE_NAME } })));
  }
  const leader = await untilLeads(...nodes);
  const other = nodes.find((node) => node !== leader) ?? assert.fail();
  const { trader } = other;
  const mine = () => world.mine();
  await mine();
  const request = launchOf({ initialLovelace: 30n * ADA });
  const { asset: token } = await built('the launch is built', () => trader.launch(request));
  await mine();
  const order = { assetId: token, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  leader.kupo.asked.length = 0;
  const placed = await trader.order(order);
  const { keyHash } = trader.wallet;
  assert(
    other.kupo.asked.some((path) => path.includes(keyHash)),
    'it asks its own Kupo',
  );
  assert(!leader.kupo.asked.some((path) => path.includes(keyHash)), 'and no other');
  assert.equal(other.submits.length, 2, 'it hands in at its own Ogmios');
  // It waits, as the leader's log says.
  const [txHash = ''] = placed.id.split(':');
  for (const { real } of nodes) {
    const { node } = real.app.app;
    await until('all say that it waits', () => [...node.fold.mempool.ids()].includes(txHash));
  }
  const second = await trader.order({ ...order, amount: 5n * ADA });
  await mine();
  for (const { id } of [placed, second]) {
    await world.untilSpent(id);
    await mine();
  }
  for (const node of nodes) {
    for (const { id } of [placed, second]) await shows(node, id, 'executed');
  }
  assert.equal(other.submits.length, 3, 'a node that does not lead fills nothing');
  assert(leader.submits.length > 0);
  const trades = await Promise.all(nodes.map(({ real }) => real.get(`/v1/trades?asset=${token}`)));
  assert(Array.isArray(trades[0]?.body) && trades[0].body.length === 3);
  assert.deepEqual(trades[1]?.body, trades[0].body);
  await leader.real.app.stop();
  assert.equal(await untilLeads(other), other);
  const sold = await trader.order({ ...order, side: 'SELL', amount: 1_000_000n });
  await world.mine();
  await world.untilSpent(sold.id);
  await world.mine();
  await shows(other, sold.id, 'executed');

  const alone = { ROLE: 'reader', NODE_NAME: 'reader', OGMIOS_URL: '', KUPO_URL: '' };
  const reader = counted(await world.separateNode({ env: { ...env, ...alone } }));
  const before = other.submits.length;
  const handed = await reader.trader.order({ ...order, side: 'SELL', amount: 1_000_000n });
  assert.equal(other.submits.length, before + 1, 'the other node submitted it');
  await world.mine();
  await world.untilSpent(handed.id);
  await world.mine();
  await shows(reader, handed.id, 'executed');
  assert.deepEqual([reader.submits, reader.kupo.asked], [[], []], 'a reader has no chain');
});
