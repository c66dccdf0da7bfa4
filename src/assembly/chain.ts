/**
 * The chain of this process and all that works on it: ledger, builder, follower, executor.
 *
 * The ledger is open when `openChain` returns, because routes need to know its deployment; it is
 * stopped as the last of these services.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Node } from '../actors/node.ts';
import type { Deployment } from '../cardano/deployment.ts';
import { keyOf } from '../cardano/keys.ts';
import type { Devnet } from '../chain/devnet.ts';
import { EmulatedChain } from '../chain/emulated.ts';
import { Follower } from '../chain/follower.ts';
import { tokenPolicyId } from '../chain/tokenPolicy.ts';
import { readSecrets, type Secrets } from '../config/secrets.ts';
import { Executor } from '../executor/executor.ts';
import { Floats } from '../executor/floats.ts';
import { ImageFolder } from '../images/folder.ts';
import { KuboImages } from '../images/kubo.ts';
import type { ImageStore } from '../images/port.ts';
import type { GenesisPlan } from '../ledger/genesis.ts';
import { applyDataArgument } from '../ledger/scalus.ts';
import { DEFAULT_CURVE } from '../market/curve.ts';
import { DEFAULT_FEES } from '../market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../market/pool.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure } from '../runtime/errors.ts';
import type { Events } from '../runtime/events.ts';
import type { Service } from '../runtime/service.ts';
import { MOST_POOLS, type PoolRecord, readRecord } from '../store/records.ts';
import { type TraderConfig, traderFunds } from '../traders/config.ts';
import { DEFAULT_PARAMETERS } from '../transactions/parameters.ts';
import { BuilderPool } from '../transactions/pool.ts';
import type { Builder } from '../transactions/port.ts';
import type { Workshop } from '../workshop/workshop.ts';
import type { Market } from './market.ts';
import type { World } from './world.ts';

export interface ChainKit {
  readonly workshop: Workshop;
  readonly devnet: Devnet;
  /** The chain is not followed any more. */
  stale(): boolean;
  /** In start order; they begin before the gateway opens. */
  readonly services: readonly Service[];
}

const KUBO_TIMEOUT_MS = 10_000;

/** null where the world has no chain. */
export async function openChain(
  world: World,
  market: Market,
  events: Events,
): Promise<ChainKit | null> {
  const { settings, clock, rng, devnet } = world;
  if (devnet === undefined) return null;
  const secrets = readSecrets(settings.DATA_DIR, rng, settings.KEYS_FILE);
  const ledger = new EmulatedChain({
    file: join(settings.DATA_DIR, 'ledger.sqlite'),
    genesis: genesisOf(secrets, settings.ORDER_REFUND_AFTER_MS, devnet.traders),
    faucetSecret: secrets.faucet.reveal(),
    blockPaceMs: settings.BLOCK_EVERY_MS,
    genesisTimeMs: clock.nowMs(),
    died: events.ledgerFailed,
    stalled: events.ledgerStalled,
  });
  await ledger.start();
  try {
    return kitOn(ledger, secrets, world, market, events);
  } catch (error) {
    await ledger.stop();
    throw error;
  }
}

function kitOn(
  ledger: EmulatedChain,
  secrets: Secrets,
  world: World,
  { node, writer, log }: Market,
  events: Events,
): ChainKit {
  const { settings, clock, rng } = world;
  const refundAfterMs = settings.ORDER_REFUND_AFTER_MS;
  const deployment: Deployment = { ...ledger.deployment, refundAfterMs };
  const slots = ledger.slotConfig;
  const limits = { threads: settings.BUILD_THREADS };
  const threads = new BuilderPool({ clock, parameters: DEFAULT_PARAMETERS, slots, limits });
  const builder = timed(threads, clock, events);
  const executorKey = keyOf(secrets.executor.reveal());
  const feeKey = keyOf(secrets.fee.reveal());
  const collateralKey = keyOf(secrets.collateral.reveal());
  const store = () => node.fold.store;
  const isOnDemand = settings.BLOCK_EVERY_MS === 0;
  const chainClock = { nowMs: () => (isOnDemand ? node.fold.marketMs : clock.nowMs()) };
  const ports = { utxos: ledger, submitter: ledger, builder };
  const common = { deployment, slots, ...ports, clock: chainClock, store };
  const rules = { deployment, tokenPolicyId: tokenPolicyId(deployment) };
  const follower = new Follower(
    { source: ledger, node, writer, log, rules, rng, clock: chainClock },
    events,
  );
  const executor = new Executor(
    {
      ...common,
      floats: new Floats(ledger, deployment),
      keys: [executorKey, feeKey, collateralKey],
      onApplied: (listener) => node.onApplied(listener),
    },
    events,
  );
  const workshop: Workshop = {
    ...common,
    images: imagesOf(world, node),
    collateralKey,
    applyDataArgument,
  };
  return {
    workshop,
    devnet: devnetOf(ledger),
    stale: () => follower.failed,
    services: [
      { name: 'ledger', start: () => {}, stop: () => ledger.stop() },
      threads,
      { name: 'follower', start: () => follower.start(), stop: () => follower.stop() },
      { name: 'executor', start: () => executor.start(), stop: () => executor.stop() },
    ],
  };
}

function genesisOf(secrets: Secrets, refundAfterMs: number, traders: TraderConfig): GenesisPlan {
  const hashOf = (name: keyof Secrets) => keyOf(secrets[name].reveal()).hash;
  return {
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
    refundAfterMs,
    executorKeyHash: hashOf('executor'),
    feeKeyHash: hashOf('fee'),
    collateralKeyHash: hashOf('collateral'),
    faucetKeyHash: hashOf('faucet'),
    wallets: traderFunds(traders).map(({ keyHash, lovelace, outputs }) => ({
      keyHash,
      lovelace: lovelace / BigInt(outputs),
      outputs,
    })),
  };
}

function timed(builder: Builder, clock: Clock, events: Events): Builder {
  return {
    async build(plan, options) {
      const startMs = clock.monotonicMs();
      const outcome = await builder.build(plan, options);
      events.built((clock.monotonicMs() - startMs) / 1000);
      return outcome;
    },
  };
}

function imagesOf({ settings, clock }: World, node: Node): ImageStore {
  if (settings.KUBO_URL !== undefined) {
    return new KuboImages({ url: settings.KUBO_URL, clock, timeoutMs: KUBO_TIMEOUT_MS });
  }
  const folder = join(settings.DATA_DIR, 'images');
  mkdirSync(folder, { recursive: true });
  return new ImageFolder(folder, { isClaimed: claimedLogos(node) });
}

/** Whether a launch names the logo; read anew once per position that is asked about. */
function claimedLogos(node: Node): (cid: string) => boolean {
  let checkpoint: unknown;
  let logos: ReadonlySet<string> = new Set();
  return (cid) => {
    const { store } = node.fold;
    if (store.checkpoint !== checkpoint) {
      const pools = store.withPrefix('pools', '', MOST_POOLS);
      logos = new Set(pools.map(({ value }) => readRecord<PoolRecord>(value).logoCID));
      checkpoint = store.checkpoint;
    }
    return logos.has(cid);
  };
}

function devnetOf(ledger: EmulatedChain): Devnet {
  const height = async () => (await ledger.tip()).tip?.height ?? 0;
  return {
    faucet: (address, lovelace) => ledger.faucet(address, lovelace),
    async fork(depth, resubmit) {
      const result = await ledger.fork(Math.min(depth, await height()), { resubmit });
      return result instanceof Failure ? result : (result.tip?.height ?? 0);
    },
    async mine(blocks) {
      const newest = await ledger.mine(blocks);
      return newest instanceof Failure ? newest : (newest?.height ?? 0);
    },
  };
}
