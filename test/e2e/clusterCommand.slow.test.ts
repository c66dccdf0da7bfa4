/**
 * `cluster` as a person runs it: real nodes, a real nats-server, kills while people trade, and an
 * orderly end.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApiError, Client } from '../../src/client/index.ts';
import { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../src/client/trade/wallet.ts';
import { outcomeOf } from '../support/apiError.ts';
import { secretOf } from '../support/ledgerWorld.ts';
import { Program, runProgram, type Scope, temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { naiveMarket } from './api/model.ts';
import { countedTrust, servedTrust } from './api/trustCount.ts';
import { launchpadAt } from './devnet/launchpad.ts';
import { blocksTo, openOgmios, tipAt } from './devnet/wholeChain.ts';
import { ADA, launchOf } from './devnet/world.ts';

interface Standing {
  readonly node: string;
  readonly role: string;
  readonly seq: number;
  readonly stateHash: string;
  readonly synced: boolean;
}

interface Ran {
  readonly pid: number;
  readonly args: string;
}

/** Every process that names `directory`, or that `parent` started. */
function processes(directory: string, parent: number): Ran[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return rows.flatMap((row) => {
    const [, pid = '', ppid = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? [];
    const isOurs = args.includes(directory) || Number(ppid) === parent;
    return isOurs && !args.startsWith('ps ') ? [{ pid: Number(pid), args }] : [];
  });
}

async function standings(urls: readonly string[]): Promise<Standing[]> {
  const answers = urls.map(async (url) => {
    try {
      // trust: /health/ready of our own program
      return [(await (await fetch(`${url}/health/ready`)).json()) as Standing];
    } catch {
      return [];
    }
  });
  return (await Promise.all(answers)).flat();
}

/** They stand at one position; then their states must be the same. */
function atOnePosition(found: readonly Standing[], count: number): boolean {
  const isOne = new Set(found.map(({ seq }) => seq)).size === 1;
  if (!isOne || found.length !== count || !found.every(({ synced }) => synced)) return false;
  assert.equal(new Set(found.map(({ stateHash }) => stateHash)).size, 1);
  return true;
}

/** Which of the nodes on one port a new connection comes to. */
async function nodeBehind(url: string): Promise<string> {
  const client = new Client({ url });
  try {
    const health = client.health();
    await health.ready();
    return health.state?.node ?? '';
  } finally {
    client.close();
  }
}

/** Alice launches a token; she and Bob trade it, each request through any node. */
async function startTrading(scope: Scope, url: string, ogmios: string) {
  const client = new Client({ url, timeoutMs: 30_000, maxAttempts: 8 });
  const devnet = new Client({ url: ogmios.replace(/^ws/, 'http') });
  scope.after(() => client.close());
  const traders = ['alice', 'bob'].map((name) => {
    const wallet = new KeyWallet({ payment: secretOf(name), stake: null }, 'testnet');
    return new TradingClient(client, wallet);
  });
  for (const { wallet } of traders) {
    for (let made = 0; made < 4; made += 1) {
      await devnet.devnet.faucet({ address: wallet.address, ada: 1000 });
    }
  }
  const outputs = async () => {
    const held = await Promise.all(traders.map((trader) => trader.utxos()));
    return Math.min(...held.map(({ length }) => length));
  };
  await untilAsked('both are funded', outputs, (count) => count >= 4);
  const [alice = assert.fail()] = traders;
  const { asset: token } = await alice.launch(launchOf({ initialLovelace: 20n * ADA }));
  const common = { assetId: token, slippage: 'infinity' } as const;
  const quote = () => outcomeOf(alice.quote({ ...common, side: 'BUY', amount: 5n * ADA }));
  await untilAsked('it can be traded', quote, (found) => !(found instanceof ApiError));
  let placed = 0;
  const order = async (side: 'BUY' | 'SELL', amount: bigint) => {
    const trader = traders[placed % 2] ?? assert.fail();
    await trader.order({ ...common, side, amount });
    placed += 1;
  };
  /** The first buy of the launch and every order is a trade. */
  const filled = async () => {
    const trades = async () => (await client.trades.list({ asset: token })).data.length;
    await untilAsked('all is filled', trades, (count) => count === placed + 1);
  };
  return { token, order, filled };
}

/** Asks `path` by a new connection, which comes to any node of the port. */
async function askAnyNode(url: string, path: string): Promise<unknown> {
  const answer = await fetch(url + path, { headers: { connection: 'close' } });
  const body = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${body}`);
  return JSON.parse(body);
}

/** Whether the node behind this port for operators has answered on insights. */
async function hasAnswered(url: string): Promise<boolean> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return /^upcurve_http_request_seconds_count\{[^}]*tokenInsights[^}]*\} [1-9]/m.test(metrics);
}

test('three nodes on one port are one market, through a kill, to an orderly end', async (t) => {
  const directory = temporaryDirectory();
  const env = { NETWORK: 'devnet', DATA_DIR: directory, LEASE_MS: '3000', BLOCK_EVERY_MS: '1000' };
  const nodesOf = ['--nodes', '3', '--readers', '1', '--one-port'];
  const program = new Program(['cluster', ...nodesOf, '--no-traders'], env);
  const running = () => processes(directory, program.pid).filter(({ pid }) => pid !== program.pid);
  t.after(async () => {
    const left = program.exit === null ? running() : processes(directory, -1);
    await program.kill();
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
  });
  const said = (wanted: RegExp) => () => wanted.test(program.text) || program.exit !== null;
  await until(() => `all are ready; it said ${program.text}`, said(/nodes are ready:/));
  const line = /^cluster: 3 nodes are ready: .*$/m.exec(program.text)?.[0] ?? '';
  const [ofNodes = ''] = line.split('; NATS');
  const [shared = '', ...urls] = ofNodes.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? [];
  assert.equal(urls.length, 3, program.text);
  assert.match(line, /\(reader\)/);
  assert.equal(running().length, 5, 'three nodes, the devnet and nats-server');
  const one = (found: Standing[]) => atOnePosition(found, 3);
  const isLed = (found: Standing[]) => found.some(({ role }) => role === 'leader');
  const isWhole = (found: Standing[]) => one(found) && isLed(found);
  const first = await untilAsked('one position', () => standings(urls), isWhole);
  const leader = first.find(({ role }) => role === 'leader');
  assert.deepEqual(first.map(({ role }) => role).toSorted(), ['follower', 'leader', 'reader']);
  assert.ok(leader !== undefined && line.includes(`${urls[first.indexOf(leader)]} (leads)`), line);
  const answering = new Set<string>();
  const isEach = () => answering.size === 3;
  const connect = async () => answering.add(await nodeBehind(shared));
  await untilAsked('each of them has clients on the one port', connect, isEach);

  const ogmios = /Ogmios (ws:[^,]+)/.exec(line)?.[1] ?? '';
  const trading = await startTrading(t, shared, ogmios);
  await trading.order('BUY', 9n * ADA);
  await trading.order('BUY', 7n * ADA);
  await trading.filled();
  await trading.order('SELL', 500_000n);
  await trading.order('BUY', 30n * ADA);
  const isNode = ({ args }: Ran) => args.includes('main.ts') && !args.includes('devnet');
  // Nodes begin in the order of their names, so the lowest ids are theirs in that order.
  const nodes = running()
    .filter(isNode)
    .toSorted((a, b) => a.pid - b.pid);
  const victim = nodes[first.indexOf(leader)];
  assert.ok(victim !== undefined);
  process.kill(victim.pid, 'SIGKILL');
  await until('it is reported', said(new RegExp(`${leader.node} has died .*SIGKILL`)));
  // Another leads, or itself again where it came back before its lease was over.
  const healed = (found: Standing[]) =>
    one(found) &&
    found.every(({ seq }) => seq > leader.seq) &&
    found.filter(({ role }) => role === 'leader').length === 1;
  await untilAsked('it is healed', () => standings(urls), healed);
  assert.ok(!running().some(({ pid }) => pid === victim.pid), 'the dead one was replaced');
  assert.equal(running().length, 5, 'three nodes, the devnet and nats-server');
  assert.match(program.text, new RegExp(`^${leader.node} \\| \\{.*"listening"`, 'm'));
  await trading.order('BUY', 4n * ADA);
  await trading.order('SELL', 400_000n);
  await trading.filled();
  const still = await untilAsked('one position', () => standings(urls), one);
  assert.equal(still.length, 3);
  const { deployment } = launchpadAt(join(directory, 'cluster', 'keys.json'));
  const chain = await openOgmios(t, ogmios);
  const { tip } = await tipAt(ogmios);
  const market = naiveMarket(await blocksTo(chain, tip?.height ?? 0), deployment);
  const counted = countedTrust(market, [trading.token]);
  const compare = async () => {
    const ask = (path: string) => askAnyNode(shared, path);
    assert.deepEqual(await servedTrust(ask, [trading.token]), counted);
    return Promise.all(urls.map(hasAnswered));
  };
  await untilAsked('each node was compared', compare, (each) => each.every(Boolean));

  program.signal('SIGINT');
  program.signal('SIGINT');
  assert.deepEqual(await program.ended(), { code: 0, signal: null });
  assert.deepEqual(processes(directory, program.pid), []);
  assert.equal(program.text.match(/"event":"stopped"/g)?.length, 3, 'each node had its time');
  assert.match(program.text, /all nodes, the devnet and nats-server have stopped\n$/);
});

test('what it cannot do is said in one line, and nothing is left', async () => {
  const env = { NETWORK: 'devnet', DATA_DIR: temporaryDirectory() };
  const devnet = { OGMIOS_URL: 'ws://127.0.0.1:1', KUPO_URL: 'http://127.0.0.1:1' };
  const runs = [
    [{ ...devnet, NATS_URL: 'nats://127.0.0.1:4222' }, /leave NATS_URL out/],
    [devnet, /leave OGMIOS_URL and KUPO_URL out/],
    [{ NETWORK: 'none' }, /NETWORK=devnet/],
    [{ PORT: '65534' }, /there is no port 65536/],
    [{ KEYS_FILE: '/proc/none/keys.json' }, /cannot continue/],
  ] as const;
  for (const [more, wanted] of runs) {
    const { exit, program } = await runProgram(['cluster'], { ...env, ...more });
    assert.equal(exit.code, 1, program.text);
    assert.match(program.text, wanted);
  }
});
