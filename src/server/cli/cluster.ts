/**
 * `cluster`: a nats-server, a devnet and several nodes of one market on this machine. Each node is
 * a separate process with the same program as `serve`.
 *
 * Not for production: one machine, one copy of the log. Everything is under DATA_DIR/cluster.
 */

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Clock, sleepUnless } from '../../engine/runtime/clock.ts';
import { counted } from '../../engine/runtime/counted.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { readSecrets } from '../settings/secrets.ts';
import type { Environment } from '../settings/settings.ts';
import { reachableHost, type Settings } from '../settings/table.ts';
import type { ClusterCommand } from './commands/cluster.ts';
import {
  freePorts,
  type LocalChain,
  type LocalNats,
  localDevnet,
  localNats,
} from './localServers.ts';
import { SupervisedProcess } from './supervisedProcess.ts';

interface ClusterDeps extends NodesDeps {
  readonly stopAsked: Promise<unknown>;
}

const MAX_PORT = 65_535;

/** Returns the exit code after everything has stopped. */
export async function runCluster(command: ClusterCommand, place: ClusterDeps): Promise<number> {
  const { settings, rng, say } = place;
  const directory = resolve(settings.DATA_DIR, 'cluster');
  const misfit = configurationFailure(settings, command);
  const nats = misfit ?? (await localNats(join(directory, 'nats'), place));
  if (nats instanceof Failure) {
    say(`cluster: ${nats.message}`);
    return 1;
  }
  mkdirSync(directory, { recursive: true });
  const keysFile = resolve(settings.KEYS_FILE ?? join(directory, 'keys.json'));
  // Created here: otherwise all nodes would create it at the same time.
  readSecrets(directory, rng, keysFile);
  return serveAll(command, nats, { directory, keysFile }, place);
}

function configurationFailure(
  { NATS_URL, OGMIOS_URL, NETWORK, PORT }: Settings,
  { nodes, onePort }: ClusterCommand,
): Failure | null {
  const last = PORT + nodes - (onePort ? 0 : 1);
  if (NATS_URL !== undefined) {
    return new Failure('NOT_READY', 'it starts a separate nats-server: leave NATS_URL out');
  }
  if (OGMIOS_URL !== undefined) {
    const help = 'leave OGMIOS_URL and KUPO_URL out';
    return new Failure('NOT_READY', `it starts a separate devnet: ${help}`);
  }
  if (NETWORK !== 'devnet') {
    return new Failure('NOT_READY', 'a cluster needs a chain: set NETWORK=devnet');
  }
  if (last <= MAX_PORT) return null;
  return new Failure('NOT_READY', `there is no port ${last}: PORT is too high for ${nodes} nodes`);
}

async function serveAll(
  command: ClusterCommand,
  nats: LocalNats,
  { directory, keysFile }: { readonly directory: string; readonly keysFile: string },
  place: ClusterDeps,
): Promise<number> {
  const { say } = place;
  const end = Promise.withResolvers<number>();
  const over = end.promise;
  place.stopAsked.then(() => end.resolve(0));
  let isUp = false;
  const giveUp = (why: string) => {
    say(`cluster: ${why}; everything stops`);
    end.resolve(1);
  };
  const devnet = await localDevnet({ directory, keysFile }, place);
  const shared = { directory, keysFile, natsUrl: nats.url, chain: devnet.chain };
  const nodes = await localNodes(command, shared, place, {
    died(name, how) {
      if (isUp) say(`cluster: ${name} has died (${how}); it is started again in a second`);
      else giveUp(`${name} did not start (${how})`);
      return isUp;
    },
  });
  const begin = async () => {
    if (!(await nats.start(giveUp))) return;
    if (!(await devnet.start(giveUp))) return;
    for (const { process } of nodes) process.start();
    const leader = await leaderOnceReady(nodes, place, over);
    if (leader === null) return;
    isUp = true;
    const { ogmiosUrl, kupoUrl } = devnet.chain;
    const beside = `NATS ${nats.url}, Ogmios ${ogmiosUrl}, Kupo ${kupoUrl}`;
    say(`cluster: ${summary(nodes, leader, command)}; ${beside}; data in ${directory}`);
  };
  const [code] = await Promise.all([over, begin()]);
  await Promise.all(nodes.map(({ process }) => process.stop()));
  await devnet.stop();
  await nats.stop();
  say('cluster: all nodes, the devnet and nats-server have stopped');
  return code;
}

function summary(
  nodes: readonly LocalNode[],
  leader: LocalNode,
  { onePort }: ClusterCommand,
): string {
  const roleOf = (node: LocalNode) => {
    if (node.isReader) return ' (reader)';
    return node === leader ? ' (leads)' : '';
  };
  const count = counted(nodes.length, 'node is', 'nodes are');
  const places = nodes.map((node) => `${node.healthUrl}${roleOf(node)}`).join(', ');
  if (!onePort) return `${count} ready: ${places}`;
  return `${count} ready: ${leader.url} is all of them; their health: ${places}`;
}

interface NodesDeps {
  readonly settings: Settings;
  /** Environment of the nodes, without the settings that differ between them. */
  readonly environment: Environment;
  /** How this program is started: Node, its options, the main file. */
  readonly program: readonly [command: string, ...args: string[]];
  readonly clock: Clock;
  readonly rng: Rng;
  readonly fetch: typeof fetch;
  say(line: string): void;
}

interface LocalNode {
  readonly name: string;
  readonly url: string;
  /** Address of its health routes. */
  readonly healthUrl: string;
  readonly isReader: boolean;
  readonly process: SupervisedProcess;
}

interface Shared {
  readonly directory: string;
  readonly keysFile: string;
  readonly natsUrl: string;
  /** The devnet that all nodes follow. */
  readonly chain: LocalChain;
}

interface NodesObserver {
  /** True: start it again. */
  died(name: string, how: string): boolean;
}

const LOOK_EVERY_MS = 200;
const LOOK_LIMIT_MS = 2_000;
/** A node stops within 9 s. */
const STOP_LIMIT_MS = 12_000;

interface OwnPorts {
  readonly port: number;
  /** null: health and metrics are on `port`. */
  readonly adminPort: number | null;
}

/** On PORT and the ports after it, or on free ports if PORT is 0. They are not started yet. */
async function localNodes(
  { nodes, readers, onePort }: Pick<ClusterCommand, 'nodes' | 'readers' | 'onePort'>,
  shared: Shared,
  place: NodesDeps,
  observer: NodesObserver,
): Promise<readonly LocalNode[]> {
  const { PORT, HOST } = place.settings;
  const free = PORT === 0 ? await freePorts(nodes + 1, place.rng) : [];
  const portAt = (index: number) => free[index] ?? PORT + index;
  const urlOf = (port: number) => `http://${reachableHost(HOST)}:${port}`;
  return Array.from({ length: nodes }, (_, index) => {
    const name = `node-${index + 1}`;
    // The first nodes may lead, so they have the lowest ports.
    const isReader = index >= nodes - readers;
    const ports: OwnPorts = onePort
      ? { port: portAt(0), adminPort: portAt(index + 1) }
      : { port: portAt(index), adminPort: null };
    const role = isReader ? 'reader' : 'any';
    return {
      name,
      isReader,
      url: urlOf(ports.port),
      healthUrl: urlOf(ports.adminPort ?? ports.port),
      process: nodeProcess(name, role, ports, shared, place, observer),
    };
  });
}

function nodeProcess(
  name: string,
  role: Settings['ROLE'],
  { port, adminPort }: OwnPorts,
  { directory, keysFile, natsUrl, chain }: Shared,
  { program: [command, ...args], environment, clock, say }: NodesDeps,
  { died }: NodesObserver,
): SupervisedProcess {
  const own = {
    PORT: String(port),
    PORT_SHARED: String(adminPort !== null),
    // Health and metrics share the port unless all nodes share it.
    ADMIN_PORT: String(adminPort ?? ''),
    ROLE: role,
    DATA_DIR: join(directory, name),
    KEYS_FILE: keysFile,
    NATS_URL: natsUrl,
    OGMIOS_URL: chain.ogmiosUrl,
    KUPO_URL: chain.kupoUrl,
    DEVNET_URL: '',
    NATS_CREDS_FILE: '',
    NATS_NKEY_FILE: '',
    NATS_CA_FILE: '',
    NATS_CERT_FILE: '',
    NATS_KEY_FILE: '',
    NATS_REPLICAS: '1',
    NODE_NAME: name,
  };
  const options = {
    command,
    args: [...args, 'serve'],
    environment: { ...environment, ...own },
    stopLimitMs: STOP_LIMIT_MS,
    onLine: (line: string) => say(`${name} | ${line}`),
    onExit: (how: string) => died(name, how),
  };
  return new SupervisedProcess(options, clock);
}

/** Resolves with the leader when all nodes are ready; null: `over` resolved first. */
async function leaderOnceReady(
  nodes: readonly LocalNode[],
  { clock, fetch: ask }: NodesDeps,
  over: Promise<unknown>,
): Promise<LocalNode | null> {
  const isOver = over.then(() => null);
  for (;;) {
    const asked = Promise.all(nodes.map(({ healthUrl }) => roleAt(healthUrl, ask)));
    const roles = await Promise.race([asked, isOver]);
    if (roles === null) return null;
    const leader = nodes[roles.indexOf('leader')];
    if (leader !== undefined && !roles.includes(null)) return leader;
    await sleepUnless(clock, LOOK_EVERY_MS, over);
  }
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
