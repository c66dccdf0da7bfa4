/** Nodes of one market as processes of this machine, and when they are ready. */
import { join } from 'node:path';
import { type Clock, sleepUnless } from '../../engine/runtime/clock.ts';
import { reachableHost } from '../settings/reachableHost.ts';
import type { Environment } from '../settings/settings.ts';
import type { Settings } from '../settings/table.ts';
import type { ClusterCommand } from './commands.ts';
import type { LocalChain } from './localDevnet.ts';
import { freePorts } from './localServers.ts';
import { SupervisedProcess } from './supervisedProcess.ts';

export interface NodesDeps {
  readonly settings: Settings;
  /** What the nodes get, but for what makes them several. */
  readonly environment: Environment;
  /** How this program is started: Node, its options, the main file. */
  readonly program: readonly [command: string, ...args: string[]];
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  say(line: string): void;
}

export interface LocalNode {
  readonly name: string;
  readonly url: string;
  /** Where it says how it is. */
  readonly healthUrl: string;
  readonly isReader: boolean;
  readonly process: SupervisedProcess;
}

export interface Shared {
  readonly directory: string;
  readonly keysFile: string;
  readonly natsUrl: string;
  /** The devnet that all of them follow. */
  readonly chain: LocalChain;
}

export interface NodesObserver {
  /** True: start it again. */
  died(name: string, how: string): boolean;
}

const LOOK_EVERY_MS = 200;
const LOOK_LIMIT_MS = 2_000;
/** A node gives itself 9 s. */
const STOP_LIMIT_MS = 12_000;

interface OwnPorts {
  readonly port: number;
  /** null: on `port` as well. */
  readonly adminPort: number | null;
}

/** On PORT and those after it; on free ports where PORT is 0. Not started yet. */
export async function localNodes(
  { nodes, readers, onePort }: Pick<ClusterCommand, 'nodes' | 'readers' | 'onePort'>,
  shared: Shared,
  place: NodesDeps,
  observer: NodesObserver,
): Promise<readonly LocalNode[]> {
  const { PORT, HOST } = place.settings;
  const free = PORT === 0 ? await freePorts(nodes + 1) : [];
  const portAt = (index: number) => free[index] ?? PORT + index;
  const urlOf = (port: number) => `http://${reachableHost(HOST)}:${port}`;
  return Array.from({ length: nodes }, (_, index) => {
    const name = `node-${index + 1}`;
    // The first ones may lead: the lowest ports are theirs.
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
    // Health and metrics on the same port, unless that is everybody's.
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
  const plan = {
    command,
    args: [...args, 'serve'],
    environment: { ...environment, ...own },
    stopLimitMs: STOP_LIMIT_MS,
    heard: (line: string) => say(`${name} | ${line}`),
    died: (how: string) => died(name, how),
  };
  return new SupervisedProcess(plan, clock);
}

/** The leader once all nodes are ready; null: it is over before. */
export async function leaderOnceReady(
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
