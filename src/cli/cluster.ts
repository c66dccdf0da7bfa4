/**
 * `cluster`: a nats-server and several nodes on this machine, for a look at how they are one
 * market. Each node is the same program as `serve`, in a process of its own.
 *
 * Not for production: one machine, one copy of the log. Everything is under DATA_DIR/cluster.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readSecrets } from '../config/secrets.ts';
import type { Environment } from '../config/settings.ts';
import type { Settings } from '../config/table.ts';
import { type Clock, sleepUnless } from '../runtime/clock.ts';
import { Failure } from '../runtime/errors.ts';
import type { Rng } from '../runtime/rng.ts';
import type { ClusterCommand } from './arguments.ts';
import { KeptProcess } from './keptProcess.ts';
import { freePorts, localNats } from './localNats.ts';

export interface ClusterPlace {
  readonly settings: Settings;
  /** What the nodes get, but for what makes them several. */
  readonly environment: Environment;
  /** How this program is started: Node, its options, the main file. */
  readonly program: readonly [command: string, ...args: string[]];
  readonly clock: Clock;
  readonly rng: Rng;
  readonly fetch: typeof fetch;
  readonly stopAsked: Promise<unknown>;
  say(line: string): void;
}

interface LocalNode {
  readonly name: string;
  readonly url: string;
  readonly process: KeptProcess;
}

const LOOK_EVERY_MS = 200;
const LOOK_LIMIT_MS = 2_000;
/** A node gives itself 9 s. */
const NODE_STOP_MS = 12_000;
const MOST_PORT = 65_535;

/** Exit code, once everything is stopped again. */
export async function runCluster(command: ClusterCommand, place: ClusterPlace): Promise<number> {
  const { settings, clock, rng, say } = place;
  const misfit = misfitOf(settings, command.nodes);
  if (misfit !== null) return refuse(misfit, say);
  const directory = resolve(settings.DATA_DIR, 'cluster');
  mkdirSync(directory, { recursive: true });
  const keysFile = settings.KEYS_FILE ?? join(directory, 'keys.json');
  // Before the nodes do: they would all make it at the same moment.
  readSecrets(directory, rng, keysFile);
  const nats = await localNats(join(directory, 'nats'), place);
  if (nats instanceof Failure) return refuse(nats.message, say);
  const over = Promise.withResolvers<number>();
  place.stopAsked.then(() => over.resolve(0));
  const giveUp = (why: string) => {
    say(`cluster: ${why}; everything stops`);
    over.resolve(1);
  };
  const shared = { natsUrl: nats.url, directory, keysFile };
  const isUp = { nodes: false };
  const nodes = await nodesOf(command, place, shared, isUp, giveUp);
  nats.begin(giveUp);
  for (const { process } of nodes) process.start();
  const ready = whenReady(nodes, place, over.promise).then((leader) => {
    if (leader === null) return;
    isUp.nodes = true;
    say(`cluster: ${summary(nodes, leader)}; NATS ${nats.url}; data in ${directory}`);
  });
  const code = await over.promise;
  await ready;
  await Promise.all(nodes.map(({ process }) => process.stop()));
  await nats.stop();
  say('cluster: all nodes and nats-server have stopped');
  return code;

  function refuse(why: string, complain: (line: string) => void): number {
    complain(`cluster: ${why}`);
    return 1;
  }
}

function misfitOf({ NATS_URL, NETWORK, PORT }: Settings, nodes: number): string | null {
  if (NATS_URL !== undefined) {
    return 'it starts a nats-server of its own: leave NATS_URL out, or start the nodes one by one';
  }
  if (NETWORK !== 'devnet') return `several nodes need a chain: NETWORK=${NETWORK} has none`;
  const last = PORT + nodes - 1;
  return last > MOST_PORT ? `there is no port ${last}: PORT is too high for ${nodes} nodes` : null;
}

async function nodesOf(
  { nodes }: ClusterCommand,
  place: ClusterPlace,
  shared: { readonly natsUrl: string; readonly directory: string; readonly keysFile: string },
  isUp: { readonly nodes: boolean },
  giveUp: (why: string) => void,
): Promise<readonly LocalNode[]> {
  const { settings, environment, program, clock, say } = place;
  const { PORT, HOST } = settings;
  const free = PORT === 0 ? await freePorts(nodes) : [];
  const [command, ...args] = program;
  return Array.from({ length: nodes }, (_, index) => {
    const name = `node-${index + 1}`;
    const port = free[index] ?? PORT + index;
    const own = {
      PORT: String(port),
      // Health and metrics are where the node is: one port each is enough to look at.
      ADMIN_PORT: '',
      DATA_DIR: join(shared.directory, name),
      KEYS_FILE: resolve(shared.keysFile),
      NATS_URL: shared.natsUrl,
      NATS_CREDS_FILE: '',
      NATS_REPLICAS: '1',
      NODE_NAME: name,
    };
    const process = new KeptProcess(
      {
        name,
        command,
        args: [...args, 'serve'],
        environment: { ...environment, ...own },
        stopLimitMs: NODE_STOP_MS,
        heard: (line) => say(`${name} | ${line}`),
        died(how) {
          if (!isUp.nodes) giveUp(`${name} did not start (${how})`);
          else say(`cluster: ${name} has died (${how}); it is started again in a second`);
          return isUp.nodes;
        },
      },
      clock,
    );
    return { name, url: `http://${reachable(HOST)}:${port}`, process };
  });
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** The leader's name once all nodes are ready; null: it is over before. */
async function whenReady(
  nodes: readonly LocalNode[],
  { clock, fetch }: ClusterPlace,
  over: Promise<unknown>,
): Promise<string | null> {
  const isOver = { yes: false };
  over.then(() => {
    isOver.yes = true;
  });
  while (!isOver.yes) {
    const roles = await Promise.all(nodes.map(({ url }) => roleAt(url, fetch)));
    const leader = nodes[roles.indexOf('leader')];
    if (leader !== undefined && !roles.includes(null)) return leader.name;
    await sleepUnless(clock, LOOK_EVERY_MS, over);
  }
  return null;
}

/** null: not ready. */
async function roleAt(url: string, ask: typeof fetch): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(LOOK_LIMIT_MS);
    const answer = await ask(`${url}/health/ready`, { signal });
    const body: unknown = await answer.json();
    const isReady = answer.ok && typeof body === 'object' && body !== null && 'role' in body;
    return isReady ? body.role : null;
  } catch {
    // It does not listen yet.
    return null;
  }
}

function summary(nodes: readonly LocalNode[], leader: string): string {
  const places = nodes.map(({ name, url }) => `${url}${name === leader ? ' (leads)' : ''}`);
  const count = nodes.length === 1 ? '1 node is' : `${nodes.length} nodes are`;
  return `${count} ready: ${places.join(', ')}`;
}
