/**
 * The program itself on a real network: killed and restarted, without its node, from a block in
 * the middle, and with settings that make no sense.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { deploymentText } from '../../src/server/settings/deployments.ts';
import { BadSettings, readSettings } from '../../src/server/settings/settings.ts';
import {
  type Environment,
  runProgram,
  type Server,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { ADA } from './devnet/world.ts';
import { assertVerified } from './market.ts';
import { RealWorld, readyOf } from './realChainWorld.ts';

/** One network for all; each test has its own tokens on it. */
let shared: RealWorld | null = null;
const ends: (() => void | Promise<void>)[] = [];

before(async () => {
  shared = await RealWorld.start({ after: (end) => void ends.unshift(end) });
});

after(async () => {
  for (const end of ends) await end();
});

function theWorld(): RealWorld {
  return shared ?? assert.fail('it was started');
}

function environmentFor(world: RealWorld) {
  const directory = temporaryDirectory();
  const file = join(directory, 'deployment.json');
  const { complete } = world.deployment;
  writeFileSync(file, deploymentText(complete ?? assert.fail(), null));
  return {
    NETWORK: 'preprod',
    OGMIOS_URL: world.bridge.url,
    DEPLOYMENT_FILE: file,
    FINAL_GRACE_MS: '3600000',
    DATA_DIR: join(directory, 'data'),
  };
}

async function shows(server: Server, world: RealWorld): Promise<void> {
  await world.bridge.settled();
  const hash = world.network.tip?.hash;
  await untilAsked(
    `block ${hash} is served`,
    async () => (await readyOf(server.url)).body,
    ({ tip, synced }) => tip.hash === hash && synced,
    60_000,
  );
}

async function sameTrades(server: Server, world: RealWorld, token: string): Promise<void> {
  const path = `/v1/trades?asset=${token}`;
  const answer = await server.get(path);
  assert.deepEqual(await answer.json(), (await world.network.get(path)).body);
}

test('it continues after a kill, also when its node has switched forks meanwhile', async (t) => {
  const world = theWorld();
  const { network, bridge } = world;
  const alice = await network.funded('alice', 500, 6);
  const { asset: token } = await network.launch(alice, { initialLovelace: 40n * ADA });
  const env = environmentFor(world);
  const buy = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: 'infinity' } as const;
  const first = await startServer(t, [], env);
  await shows(first, world);
  await network.filled(alice, buy);
  await first.program.kill();
  await network.filled(alice, buy);
  await network.mine(5);
  const second = await startServer(t, [], env);
  await shows(second, world);
  await sameTrades(second, world, token);
  await network.filled(alice, { ...buy, amount: 9n * ADA });
  await shows(second, world);
  await second.program.kill();
  // The node comes back on another fork, without the last fill.
  bridge.ogmios.dropAll();
  await network.fork(3, 'none');
  await network.mine(6);
  await bridge.settled();
  const third = await startServer(t, [], env);
  await shows(third, world);
  await sameTrades(third, world, token);
  assert.equal((await third.stop()).code, 0);
  await assertVerified(env);
});

test('without its node it serves what it has; without its thread it ends', async (t) => {
  const world = theWorld();
  const { network, bridge } = world;
  const alice = await network.funded('alice', 500, 6);
  const { asset: token } = await network.launch(alice, { initialLovelace: 40n * ADA });
  const env = environmentFor(world);
  bridge.ogmios.faults.refuse();
  // For the tests that follow, however this one ends.
  t.after(() => bridge.ogmios.faults.accept());
  const first = await startServer(t, [], env);
  const { status, body } = await readyOf(first.url);
  assert.equal(status, 503);
  assert.deepEqual([body.synced, body.stale, body.sync?.tipSlot], [false, true, null]);
  const refused = await first.get(`/v1/trades?asset=${token}`);
  assert.equal(refused.status, 503, 'there is nothing to serve yet');
  bridge.ogmios.faults.accept();
  await shows(first, world);
  assert.equal((await readyOf(first.url)).status, 200);
  await sameTrades(first, world, token);
  // It is lost while the node serves, then at a start.
  bridge.ogmios.faults.refuse();
  bridge.ogmios.dropAll();
  await untilAsked(
    'stale',
    () => readyOf(first.url),
    ({ body: found }) => found.stale,
  );
  await sameTrades(first, world, token);
  assert.equal((await first.stop()).code, 0);
  const preload = join(import.meta.dirname, '../support/endLedger.ts');
  const second = await startServer(t, [], { ...env, NODE_OPTIONS: `--import ${preload}` });
  assert.equal((await readyOf(second.url)).status, 503);
  // It serves once it has noticed that its node is away.
  const asked = async () => (await second.get(`/v1/trades?asset=${token}`)).status;
  await untilAsked('it serves what it has', asked, (found) => found === 200);
  await sameTrades(second, world, token);
  bridge.ogmios.faults.accept();
  await shows(second, world);
  const { body: found } = await readyOf(second.url);
  assert.deepEqual([found.stale, found.sync], [false, null]);
  await until('the log says so', () => second.program.events('syncFinished').length === 1);
  assert(second.program.events('syncProgress').length > 0, 'and before that how far it is');
  // The thread for the node dies: the process ends and says so.
  second.program.signal('SIGUSR2');
  assert.deepEqual(await second.program.ended(), { code: 1, signal: null });
  assert.match(second.program.text, /the thread that follows the node stopped: start it again/);
  const again = await startServer(t, [], env);
  await shows(again, world);
});

test('--from begins behind a block; what is newer is right', async (t) => {
  const world = theWorld();
  const { network } = world;
  const alice = await network.funded('alice', 500, 6);
  const { asset: old } = await network.launch(alice, { initialLovelace: 40n * ADA });
  const { slot, hash } = network.tip ?? assert.fail();
  const { asset: token } = await network.launch(alice, {
    name: 'Newer',
    initialLovelace: 9n * ADA,
  });
  const env = environmentFor(world);
  const server = await startServer(t, ['--from', `${slot}.${hash}`], env);
  await shows(server, world);
  await sameTrades(server, world, token);
  const answer = await server.get(`/v1/pools-feed/initial/state?asset=${old}`);
  assert.equal(answer.status, 404, 'its launch was before');
  await server.stop();
  await assertVerified(env);
  const nowhere = await startServer(t, ['--from', `9.${'ab'.repeat(32)}`], environmentFor(world));
  const said = () => nowhere.program.events('followingInterrupted').at(-1);
  await until('it says that the block is unknown', () => said() !== undefined);
  assert.match(String(said()?.msg), /does not have block 9\.abab.*START_POINT/);
  assert.equal((await readyOf(nowhere.url)).status, 503);
});

test('an executor that cannot fill orders is reported at the start', async (t) => {
  const common = {
    NETWORK: 'mainnet',
    OGMIOS_URL: 'ws://127.0.0.1:1',
    EXECUTOR_KEY: 'e1'.repeat(32),
  };
  const cases: [Environment, RegExp][] = [
    [{}, /no order is filled here: it needs a collateral key.*COLLATERAL_KEY_FILE/],
    [{ COLLATERAL_KEY: 'c0'.repeat(32) }, /not enough is known of the launchpad .*feeKeyHash/],
  ];
  for (const [env, expected] of cases) {
    const server = await startServer(t, [], { ...common, ...env, DATA_DIR: temporaryDirectory() });
    assert.match(String(server.program.events('executorIdle')[0]?.msg), expected);
    assert.doesNotMatch(server.program.text, /(?:e1|c0){32}/);
    assert.equal((await server.get('/parameters')).status, 200);
    await server.stop();
  }
});

test('settings that make no sense are refused before anything starts', async () => {
  const cases: [Environment, string | null, RegExp][] = [
    [{ NETWORK: 'mainnet' }, null, /NETWORK: mainnet is followed through Ogmios.*OGMIOS_URL/],
    [{ NETWORK: 'mainnet', OGMIOS_URL: 'http://x:1' }, null, /OGMIOS_URL: it is no WebSocket URL/],
    [{ NETWORK: 'devnet', OGMIOS_URL: 'ws://x:1' }, null, /KUPO_URL: a devnet is used through/],
    [{ NETWORK: 'preprod', OGMIOS_URL: 'ws://x:1' }, '12', /START_POINT: it is no block/],
    [
      { NETWORK: 'preprod', OGMIOS_URL: 'ws://x:1', KUPO_URL: 'http://x:5001' },
      null,
      /KUPO_URL: 5001 is the port of Kubo.*KUBO_URL is meant/,
    ],
    [
      { NETWORK: 'none', NATS_URL: 'nats://x:4222' },
      null,
      /NATS_URL: only a single node can serve a replay/,
    ],
    [
      { NETWORK: 'devnet', NATS_URL: 'nats://x:4222' },
      null,
      /NATS_URL: several nodes follow one devnet.*npm start -- devnet/,
    ],
  ];
  for (const [env, from, expected] of cases) {
    const given = from === null ? env : { ...env, START_POINT: from };
    const found = readSettings({ ...given, DATA_DIR: '/nowhere' });
    assert(found instanceof BadSettings);
    assert.match(found.message, expected);
  }
  const [bad] = cases[3] ?? assert.fail();
  const misused = await runProgram(['--from', '12'], { ...bad, DATA_DIR: temporaryDirectory() });
  assert.equal(misused.exit.code, 2, misused.program.text);
  assert.match(misused.program.text, /START_POINT: it is no block/);
  const env = {
    NETWORK: 'preprod',
    OGMIOS_URL: 'ws://127.0.0.1:1',
    DATA_DIR: temporaryDirectory(),
  };
  const { exit, program } = await runProgram([], env);
  assert.equal(exit.code, 1);
  assert.match(program.text, /no launchpad on preprod yet.*npm start -- deploy/);
});
