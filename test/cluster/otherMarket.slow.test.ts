/** A node with another market's directory, network or installation cannot replace this market. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readMarket } from '../../src/engine/fold/marketRecord.ts';
import { marketOfLog } from '../../src/engine/recovery/sameMarket.ts';
import { isFault } from '../../src/engine/runtime/assert.ts';
import { peekCheckpoint } from '../../src/engine/store/peek.ts';
import { startTestApp } from '../support/app.ts';
import { NatsServer, openLog } from '../support/nats.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import { newMarket, same, startNode, type TestMarket, trade } from './nodes.ts';

const STREAM = 'upcurve';

/** The directory of a stopped node of another market with the same keys, longer than `rounds`. */
async function foreignDirectory(scope: Scope, market: TestMarket, rounds: number): Promise<string> {
  const elsewhere = await NatsServer.start(scope);
  const directory = temporaryDirectory();
  const node = await startNode(scope, { ...market, server: elsewhere }, 'z', directory);
  await trade(node, rounds);
  await node.stop();
  await elsewhere.kill();
  return directory;
}

/** Digests of every file. */
function contentOf(directory: string): Record<string, string> {
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex');
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ name }) => name).filter((name) => !name.endsWith('-shm'));
  return Object.fromEntries(names.sort().map((name) => [name, digest(name)]));
}

async function refused(starting: Promise<unknown>, ...patterns: readonly RegExp[]): Promise<void> {
  await assert.rejects(starting, (error) => {
    assert.ok(isFault(error, 'otherMarket'), String(error));
    for (const pattern of patterns) assert.match(error.message, pattern);
    return true;
  });
}

function idOf(directory: string): string {
  const market = readMarket(directory);
  assert.ok(market !== null, 'the directory has its record');
  return market.id;
}

test('a market keeps its log and its state against directories of others', async (t) => {
  const server = await NatsServer.start(t);
  const market = await newMarket(t, server, 1_000_000);
  const [mine, other] = [temporaryDirectory(), await foreignDirectory(t, market, 4)];
  let node = await startNode(t, market, 'a', mine);
  await trade(node, 1);
  const { epoch } = node.app.node.applied();
  const [own, foreign] = [idOf(mine), idOf(other)];
  const before = contentOf(other);
  const bothNamed = [new RegExp(own.slice(0, 12)), new RegExp(foreign.slice(0, 12)), /DATA_DIR/];
  const log = await openLog(t, await server.connect(t), STREAM);

  await t.test('while its nodes run', async () => {
    await refused(startNode(t, market, 'b', other), ...bothNamed);
    await trade(node, 1);
  });
  await t.test('while they are stopped', async () => {
    await node.stop();
    const { seq, hash } = await log.last();
    await refused(startNode(t, market, 'b', other), ...bothNamed);
    assert.deepEqual(await log.last(), { seq, hash, epoch });
  });
  await t.test('while they start', async () => {
    const [started, intruder] = await Promise.allSettled([
      startNode(t, market, 'a', mine),
      startNode(t, market, 'b', other),
    ]);
    assert.ok(intruder.status === 'rejected' && isFault(intruder.reason, 'otherMarket'));
    assert.ok(started.status === 'fulfilled');
    node = started.value;
    await trade(node, 1);
    assert.equal(node.app.node.applied().epoch, epoch);
  });
  await t.test('when the settings are of another installation or network', async () => {
    const installation = await newMarket(t, server, 1_000_000);
    await refused(startNode(t, installation, 'b'), /KEYS_FILE/, bothNamed[0] ?? /-/);
    const env = { NATS_URL: server.url, NETWORK: 'mainnet', OGMIOS_URL: 'ws://127.0.0.1:1' };
    await refused(startTestApp(t, { directory: temporaryDirectory(), env }), /mainnet/, /devnet/);
    await refused(startTestApp(t, { directory: mine, env }), /mainnet/, /devnet/);
  });
  await t.test('when NATS loses everything and a new node is the first to start', async () => {
    await server.restart('deleted');
    const fresh = await startNode(t, market, 'c');
    await trade(fresh, 1);
    await same(node, fresh);
    assert.match(node.app.node.applied().epoch, /^2-/);
    await fresh.stop();
  });
  await node.stop();
  assert.deepEqual(contentOf(other), before, 'nothing was changed in the other directory');
  assert.equal((await marketOfLog(log))?.id, own);
  assert.equal(idOf(mine), own);
});

test('a replaced state is kept beside the new one', async (t) => {
  const server = await NatsServer.start(t);
  const market = await newMarket(t, server, 1_000_000);
  const directory = temporaryDirectory();
  const leader = await startNode(t, market, 'a');
  const node = await startNode(t, market, 'b', directory);
  await trade(leader, 1);
  await same(leader, node);
  await node.stop();
  writeFileSync(join(directory, 'state.damaged'), 'some_pool of a test\n');
  const again = await startNode(t, market, 'b', directory);
  await same(leader, again);
  const kept = peekCheckpoint(join(directory, 'state.sqlite.replaced'));
  assert.equal(kept?.market?.id, idOf(directory));
});
