/** `cluster` as a person runs it: real nodes, a real nats-server, kills, and an orderly end. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { Program, runProgram, temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';

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
  assert.equal(urls.length, 3, line);
  assert.match(line, /\(reader\)/);
  assert.equal(running().length, 5, 'three nodes, the devnet and nats-server');
  const one = (found: Standing[]) => atOnePosition(found, 3);
  const first = await untilAsked('one position', () => standings(urls), one);
  const leader = first.find(({ role }) => role === 'leader');
  assert.deepEqual(first.map(({ role }) => role).toSorted(), ['follower', 'leader', 'reader']);
  assert.ok(leader !== undefined && line.includes(`${urls[first.indexOf(leader)]} (leads)`), line);
  const answering = new Set<string>();
  const isEach = () => answering.size === 3;
  const connect = async () => answering.add(await nodeBehind(shared));
  await untilAsked('each of them has clients on the one port', connect, isEach);

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
