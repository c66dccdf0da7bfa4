/** The network of a market: its addresses, policy, deployment, and the keys of this node. */
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import { Key } from '../../cardano/keys/keys.ts';
import type { ChainPolicy } from '../../chain/policy.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Events } from '../../engine/runtime/events.ts';
import { readDeployment } from '../settings/deployments.ts';
import { type KeySecrets, NO_SECRETS } from '../settings/keyFiles.ts';
import { readSecrets, type Secret } from '../settings/secrets.ts';
import { isPublicNetwork, readStart } from '../settings/table.ts';
import type { AppDeps } from './appDeps.ts';
import {
  type ChainUrls,
  chainUrls,
  checkDevnetFile,
  makeLaunchpad,
  type RunningDevnet,
  startDevnet,
} from './devnet.ts';

export interface NetworkConfig {
  readonly urls: ChainUrls;
  readonly policy: ChainPolicy;
  readonly network: NetworkDeployment;
  readonly keys: ChainKeys;
  /** The devnet of this process, to be stopped last; null: the chain runs elsewhere. */
  readonly devnet: RunningDevnet | null;
}

const FINAL_GRACE_MS = 10_000;
/** A Cardano node puts a rolled-back transaction back into its mempool within this time. */
const RETURN_MS = 2_000;
const DEVNET_RETURN_MS = 500;

/** Starts the devnet when this process runs it. */
export async function openNetwork(appDeps: AppDeps, events: Events): Promise<NetworkConfig> {
  return isPublicNetwork(appDeps.settings) ? publicNetwork(appDeps) : openDevnet(appDeps, events);
}

function publicNetwork({ settings, deployment, secrets = NO_SECRETS }: AppDeps): NetworkConfig {
  const { NETWORK, DEPLOYMENT_FILE } = settings;
  assert(NETWORK !== 'devnet' && NETWORK !== 'none', 'a public network');
  const network = deployment ?? readDeployment(NETWORK, DEPLOYMENT_FILE);
  const urls = chainUrls(settings);
  assert(urls !== null, 'settings are checked');
  const keys = keysOf(secrets, network);
  return { urls, network, keys, policy: publicPolicy(settings, network), devnet: null };
}

function publicPolicy(
  { START_POINT, FINAL_GRACE_MS: finalGraceMs = FINAL_GRACE_MS }: AppDeps['settings'],
  { start }: NetworkDeployment,
): ChainPolicy {
  const startPoint = START_POINT === undefined ? start : readStart(START_POINT);
  assert(startPoint !== 'malformed', 'settings are checked');
  return {
    start: startPoint,
    finalGraceMs,
    timeEntries: true,
    clock: 'wall',
    believesShorter: false,
    comparesUnits: true,
    returnMs: RETURN_MS,
  };
}

/** Throws where this process would run a devnet and cannot continue its chain. */
export function checkNetwork(appDeps: AppDeps): void {
  const { settings } = appDeps;
  if (isPublicNetwork(settings) || chainUrls(settings) !== null) return;
  const { secrets, launchpad } = launchpadOf(appDeps);
  checkDevnetFile(settings, launchpad, secrets);
}

function launchpadOf({ settings, rng, devnet }: AppDeps) {
  assert(devnet !== undefined, 'a appDeps that follows a devnet has its traders');
  const { DATA_DIR, KEYS_FILE, ORDER_REFUND_AFTER_MS } = settings;
  const secrets = readSecrets(DATA_DIR, rng, KEYS_FILE);
  return { secrets, launchpad: makeLaunchpad(secrets, devnet.traders, ORDER_REFUND_AFTER_MS) };
}

async function openDevnet(appDeps: AppDeps, events: Events): Promise<NetworkConfig> {
  const { settings } = appDeps;
  const { BLOCK_EVERY_MS } = settings;
  const { secrets, launchpad } = launchpadOf(appDeps);
  const network = launchpad.deployment;
  const keys = keysOf(secrets, network);
  const policy: ChainPolicy = {
    start: null,
    finalGraceMs: 0,
    timeEntries: false,
    clock: BLOCK_EVERY_MS === 0 ? 'newest block' : 'wall',
    believesShorter: true,
    comparesUnits: false,
    returnMs: DEVNET_RETURN_MS,
  };
  const urls = chainUrls(settings);
  if (urls !== null) return { urls, network, keys, policy, devnet: null };
  const running = await startDevnet(appDeps, launchpad, secrets, events);
  return { urls: running.urls, network, keys, policy, devnet: running };
}

interface ChainKeys {
  /** Executor, fee and collateral key; empty: this node fills no orders. */
  readonly executing: readonly Key[];
  /** null: callers bring their own collateral. */
  readonly collateral: Key | null;
  /** Why this node fills no orders although it has the executor's key; null: it fills them. */
  readonly idleBecause: string | null;
}

const NO_COLLATERAL = 'it needs a collateral key as well: set COLLATERAL_KEY_FILE';

/** Throws if a key differs from the deployment's. */
export function keysOf(secrets: KeySecrets, network: NetworkDeployment): ChainKeys {
  const [executor, fee, collateral] = (['executor', 'fee', 'collateral'] as const).map((name) =>
    checked(name, secrets[name], network),
  );
  if (!executor || !fee)
    return { executing: [], collateral: collateral ?? null, idleBecause: null };
  if (!collateral) return { executing: [], collateral: null, idleBecause: NO_COLLATERAL };
  const { complete, missing } = network;
  const idleBecause =
    complete !== null ? null : `not enough is known of the launchpad (${missing.join(', ')})`;
  return { executing: [executor, fee, collateral], collateral, idleBecause };
}

function checked(
  name: 'executor' | 'fee' | 'collateral',
  secret: Secret | null,
  { network, complete }: NetworkDeployment,
): Key | null {
  if (secret === null) return null;
  const key = new Key(secret.reveal());
  // Settings may name another executor and fee address by now: the executor says so where it runs.
  if (complete?.settings !== undefined && name !== 'collateral') return key;
  const expected = complete?.[`${name}KeyHash`] ?? key.hash;
  if (key.hash === expected) return key;
  throw new Error(
    `the ${name} key that was given has the hash ${key.hash}, the deployment on ${network} names ` +
      `${expected}: give the key that it was deployed with, or leave it out`,
  );
}
