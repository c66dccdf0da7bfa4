/**
 * Our validators deployed onto a network that knows nothing of us, by the program itself and the
 * real protocols; and a market on what was deployed. No key is ever told.
 */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from '../../../src/client/index.ts';
import { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { parseCommand } from '../../../src/server/cli/commands.ts';
import { runDeploy } from '../../../src/server/cli/deploy.ts';
import { readDeployment } from '../../../src/server/settings/deployments.ts';
import { keyFiles } from '../../../src/server/settings/keyFiles.ts';
import { BadSettings, readSettings } from '../../../src/server/settings/settings.ts';
import { ADA, launchOf } from '../../e2e/devnet/world.ts';
import { built } from '../../e2e/realTradeWorld.ts';
import { FakeKupo } from '../../support/kupo/fake.ts';
import { keyNamed, secretOf, startChain } from '../../support/ledgerWorld.ts';
import { Bridge } from '../../support/ogmios/bridge.ts';
import {
  type Environment,
  Program,
  runProgram,
  startServer,
  temporaryDirectory,
} from '../../support/server.ts';
import type { TestChain } from '../../support/testChain.ts';
import { untilAsked } from '../../support/until.ts';

const NAMES = ['filler', 'guarantor', 'alice', 'bob'] as const;

interface Network {
  readonly ledger: TestChain;
  readonly env: Environment;
  /** The file of Alice's key, who pays. */
  readonly key: string;
  readonly out: string;
}

async function network(t: TestContext): Promise<Network> {
  const ledger = await startChain(t, { genesisTimeMs: Date.now() });
  await ledger.mine(1);
  const kupo = await FakeKupo.begin(t, { source: ledger, genesis: ledger.genesis });
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
  );
  assert.equal(program.exit?.code, 0, program.text);
  return program;
}

async function mineWhatWaits(ledger: TestChain): Promise<void> {
  const outputs = async (view: 'spendable' | 'newest') =>
    JSON.stringify((await ledger.byPaymentKey(keyNamed('alice').hash, view)).map(({ ref }) => ref));
  if ((await outputs('spendable')) !== (await outputs('newest'))) await ledger.mine(1);
}

function assertSilent({ text, log }: Pick<Program, 'text' | 'log'>): void {
  const all = text + JSON.stringify(log);
  for (const name of NAMES) {
    const secret = secretOf(name);
    assert.ok(!all.toLowerCase().includes(secret), `the key of ${name} is printed`);
  }
}

async function showsADryRun(world: Network): Promise<void> {
  const { exit, program } = await runProgram(args(world, '--dry-run'), world.env);
  assert.equal(exit.code, 0, program.text);
  for (const said of [
    /Reference scripts: transaction [0-9a-f]{64}\n {2}\d+ bytes, fee 0\.\d+ ADA/,
    // The others lie there already, because the network's own market has them.
    /launchPolicy +\d+\.\d+ ADA {2}addr_test1/,
    /Collateral and funding outputs: transaction/,
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
}

async function deploysAndTrades(t: TestContext, world: Network): Promise<void> {
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
  const client = new Client({ url: server.url, maxAttempts: 4 });
  const trader = new TradingClient(
    client,
    new KeyWallet({ payment: secretOf('bob'), stake: null }, 'testnet'),
  );
  const mined = async () => {
    await ledger.mine(1);
    const hash = (await ledger.tip()).tip?.hash;
    await untilAsked(
      'the block is served',
      async () => (await server.get('/health/ready')).text(),
      (text) => text.includes(hash ?? '?') && text.includes('"synced":true'),
    );
  };
  await mined();
  const launch = () => trader.launch(launchOf({ initialLovelace: 20n * ADA }));
  const { asset: assetId } = await built('it is launched', launch);
  await mined();
  const order = { assetId, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  await trader.order(order);
  await mined();
  const trades = async () => {
    await mined();
    return JSON.parse(await (await server.get(`/v1/trades?asset=${assetId}`)).text()).length;
  };
  await untilAsked('the order is filled', trades, (count) => count === 2);
  await server.stop();
  assertSilent(server.program);
}

async function costsNothingAgain(world: Network): Promise<void> {
  const first = readFileSync(world.out, 'utf8');
  const { exit, program } = await runProgram(args(world), world.env);
  assert.equal(exit.code, 1, 'a file is never overwritten');
  assert.match(program.text, /is there already: name another with --out/);
  const again = { ...world, out: `${world.out}.again` };
  const repeated = await deployed(again, args(again));
  assert.match(repeated.text, /Everything is deployed already/);
  assert.match(repeated.text, /In all +0 ADA/);
  const second = readDeployment('preprod', again.out);
  assert.deepEqual(second.complete, readDeployment('preprod', world.out).complete);
  assert.equal(readFileSync(world.out, 'utf8'), first, 'nor is it then');
}

/** The message for a command that cannot run; it starts no process. */
async function refusalOf(argv: readonly string[], given: Environment): Promise<string> {
  const command = parseCommand(argv);
  if (typeof command === 'string') return command;
  assert.ok(command.name === 'deploy');
  const settings = readSettings({ ...given, NETWORK: command.network });
  if (settings instanceof BadSettings) return settings.message;
  const secrets = keyFiles(given);
  if (secrets instanceof BadSettings) return secrets.message;
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  const { signal } = new AbortController();
  const environment = { clock: systemClock, rng: systemRng, signal, say };
  const ending = runDeploy(command, { settings, secrets, ...environment });
  const error: unknown = await ending.then(
    () => assert.fail('it was carried out'),
    (why) => why,
  );
  return `${said.join('\n')}\n${error}`;
}

async function refuses(world: Network): Promise<void> {
  const guarantor = secretOf('guarantor');
  const cases: [string[], Environment, RegExp][] = [
    [['deploy', '--network', 'mainnet'], {}, /mainnet has a launchpad already/],
    [['deploy'], {}, /--network preprod or --network preview/],
    [args(world, 'more'), {}, /unexpected argument: more/],
    [args(world), { EXECUTOR_KEY: 'abc' }, /EXECUTOR_KEY: it holds no signing key/],
    [args(world), { EXECUTOR_KEY: guarantor }, /collateral key must own nothing/],
    [args(world), { KUPO_URL: '' }, /OGMIOS_URL and KUPO_URL/],
    [['deploy', '--network', 'preview', '--out', world.out], {}, /cannot be paid for/],
  ];
  for (const [argv, env, expected] of cases) {
    const text = await refusalOf(argv, { ...world.env, ...env });
    assert.match(text, expected);
    assertSilent({ text, log: [] });
  }
  const { exit, program } = await runProgram(args(world), { ...world.env, EXECUTOR_KEY: '' });
  assert.equal(exit.code, 1);
  assert.match(program.text, /keys of the deployment are missing.*EXECUTOR_KEY_FILE/);
  assertSilent(program);
}

test('a deployment: shown, made, traded on, and found again', async (t) => {
  const world = await network(t);
  await t.test('what cannot be meant is refused, and says what to do', () => refuses(world));
  await t.test('a dry run shows what it would send and costs, and sends nothing', () =>
    showsADryRun(world),
  );
  await t.test('deploys, and a launch, an order and its fill work on it', (each) =>
    deploysAndTrades(each, world),
  );
  await t.test('what exists already is used: the same command again costs nothing', () =>
    costsNothingAgain(world),
  );
});
