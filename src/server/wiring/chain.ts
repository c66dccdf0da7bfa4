/**
 * The chain of this process and all that works on it: ledger, builder, follower, executor.
 *
 * The ledger is open when `openChain` returns, because routes need to know its deployment; it is
 * stopped as the last of these services.
 */
import { join } from 'node:path';
import type { Workshop } from '../../api/building/workshop.ts';
import type { Route } from '../../api/gateway/port.ts';
import { DEFAULT_PARAMETERS } from '../../cardano/build/parameters.ts';
import { BuilderPool } from '../../cardano/build/pool.ts';
import type { Builder } from '../../cardano/build/port.ts';
import type { Deployment } from '../../cardano/datums/deployment.ts';
import { keyOf } from '../../cardano/keys/keys.ts';
import { applyDataArgument } from '../../cardano/ledger/scalus.ts';
import type { Devnet } from '../../chain/devnet.ts';
import { Executor, type ExecutorPlace } from '../../chain/executor/executor.ts';
import { Floats } from '../../chain/executor/floats.ts';
import { PoolBackoff } from '../../chain/executor/poolBackoff.ts';
import { Follower } from '../../chain/follower.ts';
import type { FollowerPlace } from '../../chain/followerPlace.ts';
import type { SyncProgress } from '../../chain/syncMeter.ts';
import { tokenPolicyId } from '../../chain/tokenPolicy.ts';
import { type TraderConfig, traderFunds } from '../../client/traders/config.ts';
import { EmulatedChain } from '../../devnet/emulated.ts';
import type { GenesisPlan } from '../../devnet/genesis.ts';
import type { Node } from '../../engine/actors/node.ts';
import { type LogWriter, WriterConflict } from '../../engine/log/writer.ts';
import { DEFAULT_CURVE } from '../../engine/market/curve.ts';
import { DEFAULT_FEES } from '../../engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../engine/market/pool.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { readSecrets, type Secrets } from '../settings/secrets.ts';
import type { Cluster } from './cluster.ts';
import { imagesOf } from './images.ts';
import type { Market } from './market.ts';
import { alone, among, type Work } from './roles.ts';
import type { Roles } from './turns.ts';
import type { World } from './world.ts';

export interface ChainKit {
  readonly workshop: Workshop;
  /** null: the chain is made elsewhere. */
  readonly devnet: Devnet | null;
  /** Tokens whose pool the executor cannot serve; empty where this node does not lead. */
  stuckPools(): readonly string[];
  /** Makes a route of the chain one that other nodes answer; null: this node does it itself. */
  readonly forward: ((route: Route) => Route) | null;
  /** How far following has come, where the chain is made elsewhere; null: it is made here. */
  readonly sync: ChainSync | null;
  /** Among several nodes; null: this is the only one. */
  readonly roles: Roles | null;
  /** The chain is not followed any more. */
  stale(): boolean;
  /** In start order; they begin before the gateway opens. */
  readonly services: readonly Service[];
}

export interface ChainSync {
  /** Has caught up with the node since this process began. */
  isSynced(): boolean;
  /** The node cannot be asked: what there is, is served, however old. */
  isAlone(): boolean;
  silentMs(): number;
  progress(): SyncProgress;
}

/** The chain's thread, and what works on it in whatever role this node has. */
export interface ChainParts {
  readonly ledger: EmulatedChain;
  /** Follows the chain into the log; `failed` when it cannot go on. */
  follow(writer: LogWriter, failed: (error: unknown) => void): Follower;
  execute(): Executor;
}

/** null where the world has no chain. */
export async function openChain(
  world: World,
  market: Market,
  cluster: Cluster | null,
  events: Events,
): Promise<ChainKit | null> {
  const { settings, clock, rng, devnet } = world;
  if (devnet === undefined) return null;
  const secrets = readSecrets(settings.DATA_DIR, rng, settings.KEYS_FILE);
  const begun = (await cluster?.genesis()) ?? null;
  const ledger = new EmulatedChain({
    file: join(settings.DATA_DIR, 'ledger.sqlite'),
    genesis: genesisOf(secrets, settings.ORDER_REFUND_AFTER_MS, devnet.traders),
    faucetSecret: secrets.faucet.reveal(),
    blockPaceMs: settings.BLOCK_EVERY_MS,
    genesisTimeMs: clock.nowMs(),
    role: cluster === null ? 'leader' : 'replica',
    ...(begun === null ? {} : { begun }),
    died: events.ledgerFailed,
    stalled(message) {
      events.ledgerStalled(message);
      cluster?.disk.refused(message);
    },
  });
  await ledger.start();
  try {
    if (begun === null) await cluster?.publishGenesis(orThrow(await ledger.genesis()));
    return kitOn(ledger, secrets, world, market, cluster, events);
  } catch (error) {
    await ledger.stop();
    throw error;
  }
}

function orThrow<T>(result: T | Failure): T {
  if (result instanceof Failure) throw new Error(result.message);
  return result;
}

function kitOn(
  ledger: EmulatedChain,
  secrets: Secrets,
  world: World,
  market: Market,
  cluster: Cluster | null,
  events: Events,
): ChainKit {
  const { settings, clock } = world;
  const { node, writer } = market;
  const refundAfterMs = settings.ORDER_REFUND_AFTER_MS;
  const deployment: Deployment = { ...ledger.deployment, refundAfterMs };
  const slots = ledger.slotConfig;
  const limits = { threads: settings.BUILD_THREADS };
  const threads = new BuilderPool({ clock, parameters: DEFAULT_PARAMETERS, slots, limits });
  const builder = timed(threads, clock, events);
  const keys = (['executor', 'fee', 'collateral'] as const).map((name) => {
    return keyOf(secrets[name].reveal());
  });
  const isOnDemand = settings.BLOCK_EVERY_MS === 0;
  const chainClock = { nowMs: () => (isOnDemand ? node.fold.marketMs : clock.nowMs()) };
  const store = () => node.fold.store;
  const common = { deployment, slots, utxos: ledger, builder, clock: chainClock, store };
  const backoff = new PoolBackoff(clock);
  const executor = { ...common, submitter: ledger, keys, backoff };
  const execute = executing(executor, ledger, node, events);
  const place = { source: ledger, ...market, rng: world.rng, clock: chainClock };
  const follow = following({ ...place, withRaw: cluster !== null }, deployment, events);
  const parts: ChainParts = { ledger, follow, execute };
  const work = workOf(parts, world, node, writer, cluster, events);
  const workshop: Workshop = {
    ...common,
    landmarks: deployment,
    submitter: work.submitter,
    parameters: () => DEFAULT_PARAMETERS,
    images: imagesOf(world, node, cluster),
    collateralKey: keyOf(secrets.collateral.reveal()),
    applyDataArgument,
  };
  return {
    workshop,
    devnet: work.devnet,
    stuckPools: () => backoff.stuck(),
    forward: null,
    sync: null,
    roles: work.roles,
    stale: work.stale,
    services: [
      { name: 'ledger', start: () => {}, stop: () => ledger.stop() },
      threads,
      ...work.services,
    ],
  };
}

/** Makes a follower for each time that this node leads. */
function following(
  place: Omit<FollowerPlace, 'writer' | 'rules'>,
  deployment: Deployment,
  events: Events,
): ChainParts['follow'] {
  const rules = { deployment, tokenPolicyId: tokenPolicyId(deployment) };
  return (writer, failed) => {
    const followerFailed = (error: unknown) => {
      // Among several nodes that is how one hears that it leads no more.
      const isOrdinary = place.withRaw === true && error instanceof WriterConflict;
      if (!isOrdinary) events.followerFailed(error);
      failed(error);
    };
    return new Follower({ ...place, rules, writer }, { ...events, followerFailed });
  };
}

/** Makes an executor for each time that this node leads. */
function executing(
  place: Omit<ExecutorPlace, 'floats' | 'onApplied'>,
  ledger: EmulatedChain,
  node: Node,
  events: Events,
): ChainParts['execute'] {
  const onApplied = (listener: () => void) => node.onApplied(listener);
  return () => {
    const floats = new Floats(ledger, place.deployment);
    return new Executor({ ...place, floats, onApplied }, events);
  };
}

function workOf(
  parts: ChainParts,
  world: World,
  node: Node,
  writer: LogWriter | null,
  cluster: Cluster | null,
  events: Events,
): Work {
  if (cluster !== null) return among(parts, cluster, world, node, events);
  assert(writer !== null, 'the only node writes its log');
  return alone(parts, writer, node, world.clock);
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

export function timed(builder: Builder, clock: Clock, events: Events): Builder {
  return {
    async build(plan, options) {
      const startMs = clock.monotonicMs();
      const outcome = await builder.build(plan, options);
      events.built((clock.monotonicMs() - startMs) / 1000);
      return outcome;
    },
  };
}
