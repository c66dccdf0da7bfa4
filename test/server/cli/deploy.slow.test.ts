/**
 * The program deploys our validators onto an unrelated network over the real protocols; a market
 * then runs on that deployment. No output contains a key.
 */

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { assemble } from '../../../src/cardano/transactions/assemble.ts';
import { planOrder } from '../../../src/cardano/transactions/order.ts';
import { addWitnesses } from '../../../src/cardano/transactions/witness.ts';
import { Client } from '../../../src/client/index.ts';
import { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { checkDeployment, runDeploy } from '../../../src/server/cli/deploy.ts';
import { readDeployment } from '../../../src/server/settings/deployments.ts';
import { keyFiles } from '../../../src/server/settings/keyFiles.ts';
import { BadSettings, readSettings } from '../../../src/server/settings/settings.ts';
import { ADA, launchOf } from '../../e2e/devnet/world.ts';
import { built } from '../../e2e/realTradeWorld.ts';
import { addressOf, keyNamed, secretOf } from '../../support/ledgerWorld.ts';
import { LONG_ONLY } from '../../support/long.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { type Environment, runProgram, startServer } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import {
  args,
  assertSilent,
  deployed,
  GENESIS_MS,
  type Network,
  network,
  TERMS,
} from './deployWorld.ts';
import { parsed } from './parsed.ts';

async function showsADryRun(world: Network): Promise<void> {
  const { exit, program } = await runProgram(args(world, '--dry-run'), world.env);
  assert.equal(exit.code, 0, program.text);
  for (const said of [
    /Settings: transaction [0-9a-f]{64}\n {2}\d+ bytes, fee 0\.\d+ ADA/,
    /Reference scripts: transaction [0-9a-f]{64}\n {2}\d+ bytes, fee 0\.\d+ ADA/,
    // The others lie there already, because the network's own market has them.
    /launchPolicy +\d+\.\d+ ADA {2}addr_test1/,
    /Collateral and funding outputs: transaction/,
    /Locked for good with the scripts +\d+\.\d+ ADA/,
    /Set aside, yours to spend again +140 ADA/,
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
  const { ledger, env, out, terms } = world;
  const program = await deployed(world, args(world, '--parameters', terms));
  assert.match(program.text, /Reference scripts: in a block/);
  assert.match(program.text, /DEPLOYMENT_FILE=/);
  assertSilent(program);
  const { complete, start } = readDeployment('preprod', out);
  assert.ok(complete && start);
  assert.equal(complete.executorKeyHash, keyNamed('filler').hash);
  const { curve, fees, thresholdLovelace } = complete;
  assert.deepEqual({ curve, fees, thresholdLovelace }, TERMS);
  for (const name of ['launchPolicy', 'curvePool', 'order', 'ammPool'] as const) {
    assert.notEqual(complete.scripts[name].hash, ledger.deployment.scripts[name].hash, name);
  }
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
  const [pool] = await ledger.byPaymentKey(complete.scripts.curvePool.hash, 'newest');
  const paid = 20n * ADA + (8n * ADA * 98n) / 100n;
  assert.equal(pool?.output.value.lovelace, 4n * ADA + paid, 'by the terms of the file');
  const tokens = pool?.output.value.assets.get(assetId);
  assert.ok(tokens !== undefined && tokens > 1_900_000_000n);
  await server.stop();
  assertSilent(server.program);
}

async function isCompiledAgain({ out }: Network): Promise<void> {
  const check = async (change: (file: Record<string, { refundFeeLovelace: string }>) => void) => {
    const file = JSON.parse(readFileSync(out, 'utf8'));
    change(file);
    const path = `${out}.changed`;
    writeFileSync(path, JSON.stringify(file));
    const said: string[] = [];
    return { code: await checkDeployment(path, (line) => said.push(line)), text: said.join('\n') };
  };
  const same = await check(() => {});
  assert.equal(same.code, 0, same.text);
  assert.match(
    same.text,
    /tokenPolicy +the same\nsettings +the same\nThe scripts are these sources/,
  );
  const other = await check(({ fees }) => {
    if (fees !== undefined) fees.refundFeeLovelace = '700001';
  });
  assert.equal(other.code, 1);
  assert.match(other.text, /order +DIFFERS/);
  assert.equal(other.text.match(/DIFFERS/g)?.length, 1, 'the others are the same');
}

/** An order of Bob that is due, placed without a server. */
async function placeDue({ ledger, out }: Network): Promise<string> {
  const { complete } = readDeployment('preprod', out);
  const bob = keyNamed('bob');
  const owner = parseAddress(addressOf('bob'));
  assert.ok(complete && owner);
  const wallet = await ledger.byPaymentKey(bob.hash, 'spendable');
  const token = wallet.flatMap(({ output }) => [...output.value.assets.keys()])[0];
  assert.ok(token, 'what he bought');
  const [pool] = await ledger.byPaymentKey(complete.scripts.curvePool.hash, 'newest');
  const held = [...(pool?.output.value.assets.keys() ?? [])];
  const poolNft = held.find((asset) => asset.startsWith(`${complete.launchPolicyId}.`));
  assert.ok(poolNft);
  const request = {
    ...{ poolNft, owner, token, executor: complete.executorKeyHash, inputAmount: 9n * ADA },
    kind: 'buy',
    worstPrice: { numerator: 1n, denominator: 1n },
  } as const;
  const placedMs = GENESIS_MS - complete.refundAfterMs;
  const { plan } = planOrder(complete, request, wallet, placedMs);
  const order = assemble(plan, { parameters: PARAMETERS, evaluate: assert.fail });
  assert.ok(order.outcome === 'built');
  const { publicKey } = bob;
  const signature = bob.sign(fromHex(order.id));
  const outcome = await ledger.submit(addWitnesses(order.bytes, [{ publicKey, signature }]));
  assert.equal(outcome.outcome, 'accepted');
  await ledger.mine(1);
  return `${order.id}:0`;
}

async function refundsWithoutExecutor(world: Network): Promise<void> {
  const { ledger, out, key } = world;
  const order = await placeDue(world);
  const before = await ledger.byPaymentKey(keyNamed('bob').hash, 'spendable');
  const { EXECUTOR_KEY: _, COLLATERAL_KEY_FILE: __, ...rest } = world.env;
  const env = { ...rest, DEPLOYMENT_FILE: out };
  const argv = ['refund', '--network', 'preprod', '--key', key];
  const dry = await runProgram([...argv, order, '--dry-run'], env);
  assert.match(dry.program.text, /Refund of .*: 11\.\d+ ADA and its tokens to addr_test1/);
  assert.match(dry.program.text, /Nothing was sent/);
  const program = await deployed({ ...world, env }, argv);
  assert.match(program.text, /in a block/);
  assertSilent(program);
  const after = await ledger.byPaymentKey(keyNamed('bob').hash, 'spendable');
  const [back, ...more] = after.filter(({ ref }) => {
    return !before.some((held) => held.ref.txHash === ref.txHash && held.ref.index === ref.index);
  });
  assert.ok(back && more.length === 0);
  const kept = 9n * ADA + 2_600_000n - back.output.value.lovelace;
  assert.ok(kept > 0n && kept < 600_000n, `${kept} lovelace went to the network`);
  const again = await runProgram([...argv, order], env);
  assert.equal(again.exit.code, 1);
  assert.match(again.program.text, /is no open order/);
}

/** By two of three signers, each on a copy of the file; the deployment's file stays as it is. */
async function rotates(world: Network): Promise<void> {
  const { out, key, signerKeys } = world;
  const env = { ...world.env, DEPLOYMENT_FILE: out };
  const file = `${out}.rotation`;
  const ON = ['--network', 'preprod'];
  const step = async (code: number, ...argv: string[]) => {
    const { exit, program } = await runProgram(['rotate', ...argv, ...ON], env);
    assert.equal(exit.code, code, program.text);
    assertSilent(program);
    return program.text;
  };
  const made = await step(
    0,
    'make',
    '--key',
    key,
    '--executor',
    keyNamed('bob').hash,
    '--out',
    file,
  );
  assert.match(made, new RegExp(`executor +${keyNamed('bob').hash}`));
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  await step(0, 'sign', file, '--key', signerKeys[0] ?? '');
  await step(0, 'sign', copy, '--key', signerKeys[2] ?? '');
  assert.match(await step(1, 'submit', file), /it has 1 of 2 signatures: .*another of/);
  assert.match(await step(1, 'sign', file, '--key', key), /is none of the signers/);
  const sent = await deployed({ ...world, env }, ['rotate', 'submit', file, copy, ...ON]);
  assert.match(sent.text, /Rotation: in a block/);
  assertSilent(sent);
}

async function costsNothingAgain(world: Network): Promise<void> {
  const first = readFileSync(world.out, 'utf8');
  const { exit, program } = await runProgram(args(world), world.env);
  assert.equal(exit.code, 1, 'a file is never overwritten');
  assert.match(program.text, /is there already: name another with --out/);
  const again = { ...world, out: `${world.out}.again` };
  const repeated = await deployed(again, args(again, '--parameters', world.terms));
  assert.match(repeated.text, /Everything is deployed already/);
  assert.match(repeated.text, /In all +0 ADA/);
  const second = readDeployment('preprod', again.out);
  assert.deepEqual(second.complete, readDeployment('preprod', world.out).complete);
  assert.equal(readFileSync(world.out, 'utf8'), first, 'nor is it then');
}

/** The message for a command that cannot run; it starts no process. */
async function refusalOf(argv: readonly string[], given: Environment): Promise<string> {
  const command = parsed(argv);
  if (typeof command === 'string') return command;
  assert.ok(command.name === 'deploy');
  const settings = readSettings({ ...given, NETWORK: command.network });
  if (settings instanceof BadSettings) return settings.message;
  const secrets = keyFiles(given);
  if (secrets instanceof BadSettings) return secrets.message;
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  const { signal } = new AbortController();
  const terminal = { print: () => {} };
  const environment = { clock: systemClock, rng: systemRng, signal, say, terminal };
  const ending = runDeploy(command, { settings, secrets, ...environment });
  const error: unknown = await ending.then(
    () => assert.fail('it was carried out'),
    (why) => why,
  );
  return `${said.join('\n')}\n${error}`;
}

function badTerms({ terms }: Network): string {
  const path = `${terms}.bad`;
  const file = readFileSync(terms, 'utf8').replace('"700000"', '"1100001"');
  writeFileSync(path, file);
  return path;
}

async function refuses(world: Network): Promise<void> {
  const guarantor = secretOf('guarantor');
  const poor = ['deploy', '--network', 'preview', '--signers', world.signers, '--out', world.out];
  const cases: [string[], Environment, RegExp][] = [
    [['deploy', '--network', 'mainnet'], {}, /mainnet has a launchpad already/],
    [['deploy'], {}, /--network preprod or --network preview/],
    [['deploy', '--network', 'preview'], {}, /deploy needs --signers FILE/],
    [args(world, 'more'), {}, /unexpected argument: more/],
    [args(world), { EXECUTOR_KEY: 'abc' }, /EXECUTOR_KEY: it holds no signing key/],
    [args(world), { EXECUTOR_KEY: guarantor }, /collateral key must own nothing/],
    [args(world), { KUPO_URL: '' }, /OGMIOS_URL and KUPO_URL/],
    [args(world, '--parameters', badTerms(world)), {}, /refundFeeLovelace: at most executorFee/],
    [args(world, '--check', world.out), {}, /--check goes without other options/],
    [poor, {}, /cannot be paid for/],
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

test('a deployment: shown, made, traded on, and found again', LONG_ONLY, async (t) => {
  const world = await network(t);
  await t.test('impossible terms are refused with the remedy', () => refuses(world));
  await t.test('a dry run shows what it would send and costs, and sends nothing', () =>
    showsADryRun(world),
  );
  await t.test('deploys, and a launch, an order and its fill work on it', (each) =>
    deploysAndTrades(each, world),
  );
  await t.test('its sources compile to the scripts that it names', () => isCompiledAgain(world));
  await t.test('a due order is refunded without a server and without the executor', () =>
    refundsWithoutExecutor(world),
  );
  await t.test('existing outputs are used: the same command again costs nothing', () =>
    costsNothingAgain(world),
  );
  await t.test('two of three name another executor', () => rotates(world));
});
