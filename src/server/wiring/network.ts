/** The network of a market: its addresses, policy, deployment and keys. */
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import type { ChainPolicy } from '../../chain/policy.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Events } from '../../engine/runtime/events.ts';
import { isPublicNetwork } from '../settings/chainChecks.ts';
import { readDeployment } from '../settings/deployments.ts';
import { NO_SECRETS } from '../settings/keyFiles.ts';
import { readSecrets } from '../settings/secrets.ts';
import { readStart } from '../settings/start.ts';
import type { NetworkConfig } from './chain.ts';
import { chainUrls, makeLaunchpad, type RunningDevnet, startDevnet } from './devnet.ts';
import { keysOf } from './keys.ts';
import type { World } from './world.ts';

export interface OpenedNetwork extends NetworkConfig {
  /** The devnet of this process, to be stopped last; null: the chain is made elsewhere. */
  readonly devnet: RunningDevnet | null;
}

const FINAL_GRACE_MS = 10_000;
/** A node gives a transaction that lost its block back to the mempool within this time. */
const RETURN_MS = 2_000;
const DEVNET_RETURN_MS = 500;

/** Starts the devnet where it is this process's own. */
export async function openNetwork(world: World, events: Events): Promise<OpenedNetwork> {
  return isPublicNetwork(world.settings) ? publicNetwork(world) : openDevnet(world, events);
}

function publicNetwork({ settings, deployment, secrets = NO_SECRETS }: World): OpenedNetwork {
  const { NETWORK, DEPLOYMENT_FILE } = settings;
  assert(NETWORK !== 'devnet' && NETWORK !== 'none', 'a public network');
  const network = deployment ?? readDeployment(NETWORK, DEPLOYMENT_FILE);
  const urls = chainUrls(settings);
  assert(urls !== null, 'settings are checked');
  const keys = keysOf(secrets, network);
  return { urls, network, keys, policy: publicPolicy(settings, network), devnet: null };
}

function publicPolicy(
  { START_POINT, FINAL_GRACE_MS: finalGraceMs = FINAL_GRACE_MS }: World['settings'],
  { start }: NetworkDeployment,
): ChainPolicy {
  const given = START_POINT === undefined ? start : readStart(START_POINT);
  assert(given !== 'malformed', 'settings are checked');
  const clock = 'wall';
  const [timeEntries, believesShorter, returnMs] = [true, false, RETURN_MS];
  return { start: given, finalGraceMs, timeEntries, clock, believesShorter, returnMs };
}

async function openDevnet(world: World, events: Events): Promise<OpenedNetwork> {
  const { settings, rng, devnet } = world;
  assert(devnet !== undefined, 'it has traders');
  const { DATA_DIR, KEYS_FILE, ORDER_REFUND_AFTER_MS, BLOCK_EVERY_MS } = settings;
  const secrets = readSecrets(DATA_DIR, rng, KEYS_FILE);
  const launchpad = makeLaunchpad(secrets, devnet.traders, ORDER_REFUND_AFTER_MS);
  const network = launchpad.deployment;
  const keys = keysOf(secrets, network);
  const policy: ChainPolicy = {
    start: null,
    finalGraceMs: 0,
    timeEntries: false,
    clock: BLOCK_EVERY_MS === 0 ? 'newest block' : 'wall',
    believesShorter: true,
    returnMs: DEVNET_RETURN_MS,
  };
  const given = chainUrls(settings);
  if (given !== null) return { urls: given, network, keys, policy, devnet: null };
  const own = await startDevnet(world, launchpad, secrets, events);
  return { urls: own.urls, network, keys, policy, devnet: own };
}
