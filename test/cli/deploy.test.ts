/**
 * Our validators deployed onto a network that knows nothing of us, by the program itself and the
 * real protocols; and a market on what was deployed. No key is ever told.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { EmulatedChain } from '../../src/chain/emulated.ts';
import { readDeployment } from '../../src/config/deployments.ts';
import { unpacked } from '../../src/ledger/messages.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Failure } from '../../src/runtime/errors.ts';
import { ApiClient } from '../../src/wallet/api.ts';
import { Desk } from '../../src/wallet/desk.ts';
import { ApiFailure } from '../../src/wallet/failure.ts';
import { Wallet } from '../../src/wallet/wallet.ts';
import { ADA, launchOf, ok } from '../e2e/devnet/world.ts';
import { FakeKupo } from '../support/kupo/fake.ts';
import { keyNamed, secretOf, startChain } from '../support/ledgerWorld.ts';
import { Bridge } from '../support/ogmios/bridge.ts';
import {
  type Environment,
  Program,
  runProgram,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';
import { untilAsked } from '../support/until.ts';

const NAMES = ['filler', 'guarantor', 'alice', 'bob'] as const;

interface Network {
  readonly ledger: EmulatedChain;
  readonly env: Environment;
  /** The file of Alice's key, who pays. */
  readonly key: string;
  readonly out: string;
}

async function network(t: TestContext): Promise<Network> {
  const ledger = await startChain(t, { genesisTimeMs: Date.now() });
  await ledger.mine(1);
  const genesis = await ledger.genesis();
  assert.ok(!(genesis instanceof Failure));
  const outputs = genesis.outputs.map(unpacked);
  const kupo = await FakeKupo.begin(t, { source: ledger, genesis: outputs });
  const bridge = new Bridge(ledger);
  await bridge.start();
  t.after(() => bridge.stop());
  const directory = temporaryDirectory();
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const env = {
    OGMIOS_URL: bridge.url,
    KUPO_URL: kupo.url,
    DATA_DIR: join(directory, 'data'),
    LOG_LEVEL: 'trace',
    EXECUTOR_KEY: secretOf('filler'),
    COLLATERAL_KEY_FILE: file('collateral', `${secretOf('guarantor')}\n`),
  };
  const cborHex = `5820${secretOf('alice')}`;
  const skey = { type: 'PaymentSigningKeyShelley_ed25519', description: '', cborHex };
  const key = file('alice.skey', JSON.stringify(skey));
  return { ledger, env, key, out: join(directory, 'deployment.json') };
}

function args({ key, out }: Network, ...more: string[]): string[] {
  return ['deploy', '--network', 'preprod', '--key', key, '--out', out, ...more];
}

/** Blocks come as long as something waits for them. */
async function deployed(world: Network, argv: readonly string[]): Promise<Program> {
  const { ledger, env } = world;
  const program = new Program(argv, env);
  await untilAsked(
    () => `the program ends; it said ${program.text}`,
    async () => {
      await mineWhatWaits(ledger);
      return program.exit;
    },
    (exit) => exit !== null,
    60_000,
  );
  assert.equal(program.exit?.code, 0, program.text);
  return program;
}

async function mineWhatWaits(ledger: EmulatedChain): Promise<void> {
  const outputs = async (view: 'spendable' | 'newest') =>
    JSON.stringify((await ledger.byPaymentKey(keyNamed('alice').hash, view)).map(({ ref }) => ref));
  if ((await outputs('spendable')) !== (await outputs('newest'))) await ledger.mine(1);
}

function assertSilent({ text, log }: Program): void {
  const all = text + JSON.stringify(log);
  for (const name of NAMES) {
    const secret = secretOf(name);
    assert.ok(!all.toLowerCase().includes(secret), `the key of ${name} is told`);
  }
}

test('a dry run shows what it would send and what it costs, and sends nothing', async (t) => {
  const world = await network(t);
  const { exit, program } = await runProgram(args(world, '--dry-run'), world.env);
  assert.equal(exit.code, 0, program.text);
  for (const said of [
    /Reference scripts: transaction [0-9a-f]{64}\n {2}\d+ bytes, fee 0\.\d+ ADA/,
    // The others lie there already, because the network's own market has them.
    /launchPolicy +\d+\.\d+ ADA {2}addr_test1/,
    /Collateral and floats: transaction/,
    /Locked for good with the scripts +\d+\.\d+ ADA/,
    /Set aside, yours to spend again +125 ADA/,
    /In all +\d+\.\d+ ADA of 5000 ADA/,
    /Nothing was sent/,
  ]) {
    assert.match(program.text, said);
  }
  const held = await world.ledger.byPaymentKey(keyNamed('alice').hash, 'newest');
  assert.equal(held.length, 5);
  assert.ok(!existsSync(world.out));
  assertSilent(program);
});

test('deploys, and a launch, an order and its fill work on what was deployed', async (t) => {
  const world = await network(t);
  const { ledger, env, out } = world;
  const program = await deployed(world, args(world));
  assert.match(program.text, /Reference scripts: in a block/);
  assert.match(program.text, /DEPLOYMENT_FILE=/);
  assertSilent(program);
  const { complete, start } = readDeployment('preprod', out);
  assert.ok(complete && start);
  assert.equal(complete.executorKeyHash, keyNamed('filler').hash);
  assert.notEqual(complete.launchPolicyId, ledger.deployment.launchPolicyId);
  const server = await startServer(t, [], { ...env, NETWORK: 'preprod', DEPLOYMENT_FILE: out });
  const client = new ApiClient({ baseUrl: server.url, fetch, clock: systemClock });
  const desk = new Desk(client, new Wallet({ payment: secretOf('bob'), stake: null }, 'testnet'));
  const mined = async () => {
    await ledger.mine(1);
    const hash = (await ledger.tip()).tip?.hash;
    await untilAsked(
      'the block is served',
      async () => (await server.get('/health/ready')).text(),
      (text) => text.includes(hash ?? '?') && text.includes('"synced":true'),
      60_000,
    );
  };
  await mined();
  const ready = <T>(found: T | ApiFailure) =>
    !(found instanceof ApiFailure && found.cause === 'NOT_READY');
  const launch = () => desk.launch(launchOf({ initialLovelace: 20n * ADA }));
  const { asset: assetId } = ok(await untilAsked('it is launched', launch, ready, 60_000));
  await mined();
  const order = { assetId, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  ok(await desk.order(order));
  await mined();
  const trades = async () => {
    await mined();
    return JSON.parse(await (await server.get(`/v1/trades?asset=${assetId}`)).text()).length;
  };
  await untilAsked('the order is filled', trades, (count) => count === 2, 60_000);
  await server.stop();
  assertSilent(server.program);
});

test('what is there already is used: the same command again costs nothing', async (t) => {
  const world = await network(t);
  await deployed(world, args(world));
  const first = readFileSync(world.out, 'utf8');
  const { exit, program } = await runProgram(args(world), world.env);
  assert.equal(exit.code, 1, 'a file is never written over');
  assert.match(program.text, /is there already: name another with --out/);
  const again = { ...world, out: `${world.out}.again` };
  const repeated = await deployed(again, args(again));
  assert.match(repeated.text, /Everything is there already/);
  assert.match(repeated.text, /In all +0 ADA/);
  const second = readDeployment('preprod', again.out);
  assert.deepEqual(second.complete, readDeployment('preprod', world.out).complete);
  assert.ok(first.length > 0);
});

test('refuses what cannot be meant, and says what to do', async (t) => {
  const world = await network(t);
  const cases: [string[], Environment, number, RegExp][] = [
    [['deploy', '--network', 'mainnet'], {}, 2, /mainnet has a launchpad already/],
    [['deploy'], {}, 2, /--network preprod or --network preview/],
    [args(world, 'more'), {}, 2, /unexpected argument: more/],
    [args(world), { EXECUTOR_KEY: '' }, 1, /keys of the deployment are missing.*EXECUTOR_KEY_FILE/],
    [args(world), { EXECUTOR_KEY: 'abc' }, 2, /EXECUTOR_KEY: it holds no signing key/],
    [args(world), { EXECUTOR_KEY: secretOf('guarantor') }, 1, /collateral key must own nothing/],
    [args(world), { KUPO_URL: '' }, 1, /OGMIOS_URL and KUPO_URL/],
    [['deploy', '--network', 'preview', '--out', world.out], {}, 1, /cannot be paid for/],
  ];
  for (const [argv, env, code, expected] of cases) {
    const { exit, program } = await runProgram(argv, { ...world.env, ...env });
    assert.equal(exit.code, code, `${argv}: ${program.text}`);
    assert.match(program.text, expected);
    assertSilent(program);
  }
});
