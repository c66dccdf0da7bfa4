/**
 * The devnet of a market: the launchpad that its chain starts with, the devnet itself where it runs
 * in this process, and what can be asked of it beside Ogmios and Kupo.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputPlan } from '../../cardano/codec/encode.ts';
import type { Deployment, NetworkDeployment } from '../../cardano/datums/deployment.ts';
import { keyOf } from '../../cardano/keys/keys.ts';
import { makeGenesis } from '../../cardano/validators/genesis.ts';
import { readTraderConfig, type TraderConfig, traderFunds } from '../../client/traders/config.ts';
import { Devnet } from '../../devnet/devnet.ts';
import { startDevnetThread } from '../../devnet/thread.ts';
import { DEFAULT_CURVE } from '../../engine/market/curve.ts';
import { DEFAULT_FEES } from '../../engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../engine/market/pool.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { readSecrets, type Secrets } from '../settings/secrets.ts';
import type { Settings } from '../settings/table.ts';
import type { World } from './world.ts';

/** Where a chain is followed. */
export interface ChainUrls {
  readonly ogmios: string;
  /** null: no index of outputs. */
  readonly kupo: string | null;
  /** Faucet, forks and blocks; null: not a devnet. */
  readonly devnet: string | null;
}

export interface RunningDevnet {
  readonly urls: ChainUrls;
  stop(): Promise<void>;
}

export interface Launchpad {
  readonly deployment: NetworkDeployment;
  /** What a devnet needs in its genesis. */
  readonly outputs: readonly OutputPlan[];
}

const OTHER_GENESIS_HELP =
  'continue it with the traders of config/devnet.json and the version of upcurve that it began ' +
  'with, or begin another: npm start -- reset';

/** The same keys, traders and settings give the same launchpad on every node. */
export function makeLaunchpad(
  secrets: Secrets,
  traders: TraderConfig,
  refundAfterMs: number,
): Launchpad {
  const hashOf = (name: keyof Secrets) => keyOf(secrets[name].reveal()).hash;
  const { deployment, outputs } = makeGenesis({
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
    refundAfterMs,
    executorKeyHash: hashOf('executor'),
    feeKeyHash: hashOf('fee'),
    collateralKeyHash: hashOf('collateral'),
    wallets: traderFunds(traders).map(({ keyHash, lovelace, outputs }) => ({
      keyHash,
      lovelace: lovelace / BigInt(outputs),
      outputs,
    })),
  });
  return { deployment: asNetworkDeployment(deployment), outputs };
}

/** The same of the settings, with the traders that ship with the program. Makes missing keys. */
export function launchpadFromSettings(
  { DATA_DIR, KEYS_FILE, ORDER_REFUND_AFTER_MS }: Settings,
  rng: Rng,
): Launchpad {
  const secrets = readSecrets(DATA_DIR, rng, KEYS_FILE);
  return makeLaunchpad(secrets, readTraderConfig(), ORDER_REFUND_AFTER_MS);
}

/** A deployment of which everything is known. */
function asNetworkDeployment(complete: Deployment): NetworkDeployment {
  const { network } = complete;
  return { network, start: null, partial: complete, complete, missing: [], mismatch: null };
}

/** The addresses that the settings name; null: they name none. */
export function chainUrls({
  NETWORK,
  OGMIOS_URL,
  KUPO_URL,
  DEVNET_URL,
}: Pick<Settings, 'NETWORK' | 'OGMIOS_URL' | 'KUPO_URL' | 'DEVNET_URL'>): ChainUrls | null {
  if (OGMIOS_URL === undefined) return null;
  const kupo = KUPO_URL ?? null;
  if (NETWORK !== 'devnet') return { ogmios: OGMIOS_URL, kupo, devnet: null };
  // A devnet has its routes on the port of Ogmios.
  return { ogmios: OGMIOS_URL, kupo, devnet: DEVNET_URL ?? OGMIOS_URL.replace(/^ws/, 'http') };
}

/** Resolves once its ports are open. The caller stops it after everything that uses it. */
export async function startDevnet(
  { settings, clock, version, devnet }: World,
  { outputs }: Launchpad,
  secrets: Secrets,
  events: Events,
): Promise<RunningDevnet> {
  const directory = join(settings.DATA_DIR, 'devnet');
  mkdirSync(directory, { recursive: true });
  const options = {
    file: join(directory, 'chain.sqlite'),
    genesis: outputs,
    faucetSecret: secrets.faucet.reveal(),
    paceMs: settings.BLOCK_EVERY_MS,
    otherGenesisHelp: OTHER_GENESIS_HELP,
    version,
  };
  const { devnetStalled: stalled, devnetFailed: died } = events;
  const running =
    devnet?.inThread === false
      ? await Devnet.open({ ...options, clock, stalled })
      : await startDevnetThread(options, { died, stalled });
  const { ogmiosUrl, kupoUrl, devnetUrl } = running;
  return {
    urls: { ogmios: ogmiosUrl, kupo: kupoUrl, devnet: devnetUrl },
    stop: () => running.stop(),
  };
}
