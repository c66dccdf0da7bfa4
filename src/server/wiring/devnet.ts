/**
 * The devnet of a market: its addresses, the launchpad in its genesis, the devnet itself when it
 * runs in this process, and a check that a separate devnet holds the scripts of this market.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { NewOutput } from '../../cardano/codec/encode.ts';
import type { Deployment, NetworkDeployment } from '../../cardano/datums/deployment.ts';
import { Key } from '../../cardano/keys/keys.ts';
import type { UtxoLookup } from '../../cardano/ledger/port.ts';
import { makeGenesis } from '../../cardano/validators/genesis.ts';
import { checkChainFile } from '../../devnet/chainFile.ts';
import { startDevnetThread } from '../../devnet/thread.ts';
import { DEFAULT_CURVE } from '../../engine/market/curve.ts';
import { DEFAULT_FEES } from '../../engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../engine/market/pool.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Unavailable } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';
import { readTraderConfig, type TraderConfig } from '../../traders/config.ts';
import { traderFunds } from '../../traders/wallets.ts';
import { readSecrets, type Secrets } from '../settings/secrets.ts';
import type { Settings } from '../settings/table.ts';
import type { AppDeps } from './appDeps.ts';

/** Where this node reaches its chain. */
export interface ChainUrls {
  readonly ogmios: string;
  /** null: no index of outputs is available. */
  readonly kupo: string | null;
  /** Faucet, forks and blocks on demand; null: not a devnet. */
  readonly devnet: string | null;
}

export interface RunningDevnet {
  readonly urls: ChainUrls;
  /** Up to when its past is a recorded one; null: it has none. */
  readonly liveSinceMs: number | null;
  stop(): Promise<void>;
}

export interface Launchpad {
  readonly deployment: NetworkDeployment;
  /** Outputs that the genesis must contain. */
  readonly outputs: readonly NewOutput[];
  /** Outputs that chains of earlier versions lack. */
  readonly aside: readonly NewOutput[];
}

/** Keys of a devnet that may change its settings. */
export const SIGNERS = ['executor', 'fee', 'faucet'] as const;

const OTHER_GENESIS_HELP =
  'continue it with the traders of config/devnet.json and the version of upcurve that it began ' +
  'with, or begin another: npm start -- reset';

/** The same keys, traders and settings give the same launchpad on every node. */
export function makeLaunchpad(
  secrets: Secrets,
  traders: TraderConfig,
  refundAfterMs: number,
): Launchpad {
  const hashOf = (name: keyof Secrets) => new Key(secrets[name].reveal()).hash;
  const { deployment, outputs, aside } = makeGenesis({
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
    refundAfterMs,
    executorKeyHash: hashOf('executor'),
    feeKeyHash: hashOf('fee'),
    collateralKeyHash: hashOf('collateral'),
    // Two of three, so that a lost key can be replaced.
    signers: { required: 2, keyHashes: SIGNERS.map(hashOf) },
    wallets: traderFunds(traders).map(({ keyHash, lovelace, outputs }) => ({
      keyHash,
      lovelace: lovelace / BigInt(outputs),
      outputs,
    })),
  });
  return { deployment: asNetworkDeployment(deployment), outputs, aside };
}

/** The launchpad for these settings and the traders in config/. Creates missing keys. */
export function launchpadFromSettings(
  { DATA_DIR, KEYS_FILE, ORDER_REFUND_AFTER_MS }: Settings,
  rng: Rng,
): Launchpad {
  const secrets = readSecrets(DATA_DIR, rng, KEYS_FILE);
  return makeLaunchpad(secrets, readTraderConfig(), ORDER_REFUND_AFTER_MS);
}

function asNetworkDeployment(complete: Deployment): NetworkDeployment {
  const { network } = complete;
  return { network, start: null, partial: complete, complete, missing: [], mismatch: null };
}

/** The addresses in the settings; null: OGMIOS_URL is not set. */
export function chainUrls({
  NETWORK,
  OGMIOS_URL,
  KUPO_URL,
  DEVNET_URL,
}: Pick<Settings, 'NETWORK' | 'OGMIOS_URL' | 'KUPO_URL' | 'DEVNET_URL'>): ChainUrls | null {
  if (OGMIOS_URL === undefined) return null;
  const kupo = KUPO_URL ?? null;
  if (NETWORK !== 'devnet') return { ogmios: OGMIOS_URL, kupo, devnet: null };
  // A devnet serves its routes on the port of Ogmios.
  return { ogmios: OGMIOS_URL, kupo, devnet: DEVNET_URL ?? OGMIOS_URL.replace(/^ws/, 'http') };
}

export function chainFileOf({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>): string {
  return join(DATA_DIR, 'devnet', 'chain.sqlite');
}

function chainOptions(settings: Settings, launchpad: Launchpad, keys: Secrets) {
  return {
    file: chainFileOf(settings),
    genesis: launchpad.outputs,
    aside: launchpad.aside,
    faucetSecret: keys.faucet.reveal(),
    paceMs: settings.BLOCK_EVERY_MS,
    otherGenesisHelp: OTHER_GENESIS_HELP,
  };
}

/** Throws where the chain in DATA_DIR cannot be continued, before anything is made from it. */
export function checkDevnetFile(settings: Settings, launchpad: Launchpad, keys: Secrets): void {
  const options = chainOptions(settings, launchpad, keys);
  if (existsSync(options.file)) checkChainFile(options);
}

/** Resolves when its ports are open. Stop it after everything that uses it. */
export async function startDevnet(
  { settings, clock, version, devnet }: AppDeps,
  launchpad: Launchpad,
  secrets: Secrets,
  events: Events,
): Promise<RunningDevnet> {
  const past = devnet?.historyFile === undefined ? {} : { historyFile: devnet.historyFile };
  const options = { ...chainOptions(settings, launchpad, secrets), ...past, version };
  mkdirSync(dirname(options.file), { recursive: true });
  const { devnetStalled: stalled, devnetFailed: died } = events;
  const running =
    devnet?.inThread === false
      ? // Loaded when needed: it brings the ledger's rules, which are large.
        await (await import('../../devnet/devnet.ts')).Devnet.open({ ...options, clock, stalled })
      : await startDevnetThread(options, { died, stalled });
  const { ogmiosUrl, kupoUrl, devnetUrl, liveSinceMs } = running;
  return {
    liveSinceMs,
    urls: { ogmios: ogmiosUrl, kupo: kupoUrl, devnet: devnetUrl },
    stop: () => running.stop(),
  };
}

interface ScriptCheckDeps {
  readonly utxos: UtxoLookup;
  readonly network: NetworkDeployment;
  /** URL of its Ogmios, for the message. */
  readonly url: string;
  readonly clock: Clock;
}

interface ScriptCheckObserver {
  otherDevnet(message: string): void;
}

const CHECK_AGAIN_MS = 1_000;

/**
 * Checks once that a devnet holds the scripts of this market. A node that follows a devnet with
 * other keys, or without a launchpad, would never see a pool.
 */
export class ScriptCheck implements Service {
  readonly name = 'script check';
  readonly #options: ScriptCheckDeps;
  readonly #observer: ScriptCheckObserver;
  readonly #task: Task;

  constructor(options: ScriptCheckDeps, observer: ScriptCheckObserver) {
    this.#options = options;
    this.#observer = observer;
    this.#task = new Task({ clock: options.clock });
  }

  start(): void {
    this.#task.start(async () => {
      do {
        const holds = await this.#holdsScripts();
        if (holds === null) continue;
        if (!holds) this.#observer.otherDevnet(this.#message());
        return;
      } while (await this.#task.pause(CHECK_AGAIN_MS));
    });
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  /** null: the devnet does not answer. */
  async #holdsScripts(): Promise<boolean | null> {
    const { utxos, network } = this.#options;
    const refs = Object.values(network.complete?.scripts ?? {}).map(({ ref }) => ref);
    try {
      const states = await utxos.byRefs(refs);
      return states.every(({ state }) => state === 'unspent');
    } catch (error) {
      if (error instanceof Unavailable) return null;
      throw error;
    }
  }

  #message(): string {
    return (
      `the devnet at ${this.#options.url} does not hold the scripts of this market: start one ` +
      'with npm start -- devnet --launchpad and the same KEYS_FILE'
    );
  }
}
