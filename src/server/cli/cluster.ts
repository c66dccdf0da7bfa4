/**
 * `cluster`: a nats-server, a devnet and several nodes of one market on this machine. Each node is
 * the same program as `serve`, in a process of its own.
 *
 * Not for production: one machine, one copy of the log. Everything is under DATA_DIR/cluster.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { readSecrets } from '../settings/secrets.ts';
import type { Settings } from '../settings/table.ts';
import type { ClusterCommand } from './commands.ts';
import { localDevnet } from './localDevnet.ts';
import { type LocalNode, leaderOnceReady, localNodes, type NodesDeps } from './localNodes.ts';
import { type LocalNats, localNats } from './localServers.ts';

export interface ClusterDeps extends NodesDeps {
  readonly rng: Rng;
  readonly stopAsked: Promise<unknown>;
}

const MOST_PORT = 65_535;

/** Exit code, once everything is stopped again. */
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
  // Here, because the nodes would all make it at the same moment.
  readSecrets(directory, rng, keysFile);
  return serveAll(command, nats, { directory, keysFile }, place);
}

function configurationFailure(
  { NATS_URL, OGMIOS_URL, NETWORK, PORT }: Settings,
  { nodes, onePort }: ClusterCommand,
): Failure | null {
  const last = PORT + nodes - (onePort ? 0 : 1);
  if (NATS_URL !== undefined) {
    return new Failure('NOT_READY', 'it starts a nats-server of its own: leave NATS_URL out');
  }
  if (OGMIOS_URL !== undefined) {
    const help = 'leave OGMIOS_URL and KUPO_URL out';
    return new Failure('NOT_READY', `it starts a devnet of its own: ${help}`);
  }
  if (NETWORK !== 'devnet') {
    return new Failure('NOT_READY', 'what is replayed is served by a single node: NETWORK=devnet');
  }
  if (last <= MOST_PORT) return null;
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
    if (!(await nats.begin(giveUp))) return;
    if (!(await devnet.begin(giveUp))) return;
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
  const count = nodes.length === 1 ? '1 node is' : `${nodes.length} nodes are`;
  const places = nodes.map((node) => `${node.healthUrl}${roleOf(node)}`).join(', ');
  if (!onePort) return `${count} ready: ${places}`;
  return `${count} ready: ${leader.url} is all of them; their health: ${places}`;
}
