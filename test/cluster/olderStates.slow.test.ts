/**
 * The log and the lease are lost while only older nodes start: the node that has more leads again,
 * and the others wait for it instead of holding the lease by turns.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manager } from '../../src/cluster/nats/stream.ts';
import { NatsServer, PATIENT_MS } from '../support/nats.ts';
import { NatsProxy } from '../support/natsProxy.ts';
import { temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { newMarket, same, startNode, trade } from './nodes.ts';

const LIMIT_MS = 90_000;
const LIMIT = { timeout: 2 * LIMIT_MS };
const LEASE = { LEASE_MS: '5000' };

test('nodes with older states leave a lost log to the node that has more', LIMIT, async (scope) => {
  const server = await NatsServer.start(scope);
  const market = await newMarket(scope, server, 1_000);
  const proxy = await NatsProxy.start(scope, server.port);
  const newest = await startNode(scope, { ...market, server: proxy }, 'a', undefined, LEASE);
  const older = [];
  for (const name of ['b', 'c']) {
    const directory = temporaryDirectory();
    older.push({ name, directory, node: await startNode(scope, market, name, directory, LEASE) });
  }
  await trade(newest, 1);
  await same(newest, ...older.map(({ node }) => node));
  for (const { node } of older) await node.app.stop('a test');
  await trade(newest, 2);
  const had = newest.app.node.applied();
  proxy.isClosed = true;
  proxy.cut();
  const link = await server.connect(scope);
  const { streams } = await manager(link, PATIENT_MS);
  for (const stream of ['upcurve', 'KV_upcurve-nodes']) await streams.delete(stream);
  const starts = older.map(({ name, directory }) =>
    startNode(scope, market, name, directory, LEASE),
  );
  const leader = async () => {
    const query = { last_by_subj: '$KV.upcurve-nodes.leader' };
    const found = await streams.getMessage('KV_upcurve-nodes', query).catch(() => null);
    return found === null ? '' : found.string();
  };
  const isOlder = (text: string) => /"node":"[bc]"/.test(text);
  await untilAsked('an older node has the lease', leader, isOlder, LIMIT_MS);
  proxy.isClosed = false;
  const nodes = await Promise.all(starts);
  await same(newest, ...nodes);
  const { epoch, seq } = newest.app.node.applied();
  assert.notEqual(epoch, had.epoch);
  assert.ok(seq > had.seq, 'nothing that the newest node had is gone');
});
