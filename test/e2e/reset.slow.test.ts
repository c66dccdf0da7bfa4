/** `npm start -- reset`: a devnet begins again, and the old data is kept. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Devnet } from '../../src/devnet/devnet.ts';
import { readMarket } from '../../src/engine/fold/marketRecord.ts';
import { LocalLog } from '../../src/engine/log/local.ts';
import { devnetOptions } from '../support/devnetNode.ts';
import { runProgram, type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';

function environment(directory: string) {
  return { DATA_DIR: directory, NETWORK: 'devnet', TRADERS_PACE: '0', BLOCK_EVERY_MS: '50' };
}

async function reset(directory: string, change: Readonly<Record<string, string>> = {}) {
  const { exit, program } = await runProgram(['reset'], { ...environment(directory), ...change });
  return { code: exit.code, text: program.text };
}

/** Refused, and nothing has moved. */
async function refused(why: RegExp, directory: string, change = {}): Promise<void> {
  const before = filesIn(directory);
  const { code, text } = await reset(directory, change);
  assert.equal(code, 1);
  assert.match(text, why);
  const after = filesIn(directory);
  const isData = (name: string) => !/-(wal|shm)$/.test(name);
  assert.deepEqual(
    before.filter((name) => isData(name) && !after.includes(name)),
    [],
  );
  assert.ok(!after.some((name) => name.includes('.replaced.')));
}

function filesIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
}

/** Serves once it has a market with some blocks. */
async function serving(t: TestContext, directory: string): Promise<Server> {
  const server = await startServer(t, [], environment(directory));
  const position = async () => {
    // trust: the body of this route
    const body = (await (await server.get('/health/ready')).json()) as { seq?: number };
    return body.seq ?? 0;
  };
  await untilAsked('blocks are followed', position, (seq) => seq > 5);
  return server;
}

test('a devnet begins again; keys stay, and what was is kept under new names', async (t) => {
  const directory = temporaryDirectory();
  const first = await serving(t, directory);
  await refused(/in use by another upcurve process/, directory);
  await first.program.kill();
  const market = readMarket(directory);
  const keys = readFileSync(join(directory, 'keys.json'), 'utf8');
  // A kill may leave it; so that this does not depend on luck, it is there.
  writeFileSync(join(directory, 'state.sqlite-sums.new'), 'half');
  const done = await reset(directory);
  assert.equal(done.code, 0, done.text);
  assert.match(done.text, /log\.sqlite → log\.sqlite\.replaced\.1\n/);
  const left = filesIn(directory).filter((name) => !name.includes('.replaced.1'));
  assert.deepEqual(
    left.filter((name) => name !== 'devnet'),
    ['keys.json'],
  );
  const log = await LocalLog.open({ file: join(directory, 'log.sqlite.replaced.1'), maxMb: 0 });
  assert.ok((await log.last()).seq > 5, 'also what a kill left in the write-ahead log');
  await log.close();

  const second = await serving(t, directory);
  await second.stop();
  assert.equal(readFileSync(join(directory, 'keys.json'), 'utf8'), keys);
  const next = readMarket(directory);
  assert.ok(market !== null && next !== null);
  assert.equal(next.deployment, market.deployment, 'the same keys');
  assert.notEqual(next.id, market.id, 'another market');

  const kept = filesIn(directory).filter((name) => name.includes('.replaced.1'));
  assert.match((await reset(directory)).text, /log\.sqlite → log\.sqlite\.replaced\.2\n/);
  assert.deepEqual(
    filesIn(directory).filter((name) => name.includes('.replaced.1')),
    kept,
  );
  assert.match((await reset(directory)).text, /nothing to reset/);
});

test('the chain of a devnet alone is moved once that has stopped; its keys stay', async () => {
  const directory = temporaryDirectory();
  const node = join(directory, 'node');
  mkdirSync(node);
  writeFileSync(join(node, 'faucet.key'), 'secret');
  const devnet = await Devnet.open(devnetOptions(node));
  await refused(/node\/chain\.sqlite is in use/, directory);
  await devnet.stop();
  assert.equal((await reset(directory)).code, 0);
  assert.deepEqual(readdirSync(node).sort(), ['chain.sqlite.replaced.1', 'faucet.key']);
});

test('nodes and NATS of a cluster are moved; the keys that they share stay', async () => {
  const directory = temporaryDirectory();
  const cluster = join(directory, 'cluster');
  for (const name of ['nats', 'node-1', 'node-12'])
    mkdirSync(join(cluster, name), { recursive: true });
  writeFileSync(join(cluster, 'keys.json'), '{}');
  writeFileSync(join(cluster, 'node-1', 'state.sqlite'), '');
  assert.equal((await reset(directory)).code, 0);
  assert.deepEqual(filesIn(cluster), [
    'keys.json',
    'nats.replaced.1',
    'node-1.replaced.1',
    'node-1.replaced.1/state.sqlite',
    'node-12.replaced.1',
  ]);
});

test('it is refused where no chain of ours can begin', async () => {
  const directory = temporaryDirectory();
  const shared = { OGMIOS_URL: 'ws://127.0.0.1:1337', KUPO_URL: 'http://127.0.0.1:1442' };
  const several = { NATS_URL: 'nats://127.0.0.1:4222', ...shared };
  await refused(/NATS_URL is set/, directory, several);
  const market = { id: '0'.repeat(64), network: 'preprod', deployment: '0'.repeat(64) };
  writeFileSync(join(directory, 'market.json'), JSON.stringify(market));
  await refused(/is for preprod, where no new chain can begin/, directory);
  await refused(/cannot be used/, join(directory, 'none'));
});
