/**
 * The chain and everything that uses it: blocks, mempool and submission through Ogmios, outputs
 * from Kupo. The start does not wait for either: the server listens and reports a missing one.
 */

import type { TxBuildContext } from '../../api/builder/txBuildContext.ts';
import type { Devnet } from '../../api/devnet/routes.ts';
import type { Route } from '../../api/gateway/port.ts';
import { slotStartMs } from '../../cardano/codec/slots.ts';
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import type { Submitter, UtxoLookup } from '../../cardano/ledger/port.ts';
import { LiveBuilder, unknownParameters } from '../../cardano/transactions/liveBuilder.ts';
import type { Builder } from '../../cardano/transactions/port.ts';
import type { ChainAccess } from '../../chain/access.ts';
import { chainTip } from '../../chain/chainPoints.ts';
import { PoolBackoff, type StuckStep } from '../../chain/executor/poolBackoff.ts';
import { FoldUtxoLookup, unavailableLookup } from '../../chain/foldUtxoLookup.ts';
import { Follower, type FollowerDeps } from '../../chain/follower.ts';
import { KupoHealthWatch } from '../../chain/kupo/client.ts';
import { firstSlots, KupoLookup } from '../../chain/kupo/kupo.ts';
import { LocalMempoolFeed } from '../../chain/localMempoolFeed.ts';
import { MempoolOverlay, shownSubmitter } from '../../chain/mempoolOverlay.ts';
import { NodeLink } from '../../chain/nodeLink.ts';
import { OgmiosChain, type WatchSource } from '../../chain/ogmios/ogmios.ts';
import { chainClock } from '../../chain/policy.ts';
import { rulesOf } from '../../chain/recognise/rules.ts';
import { ServerVersions } from '../../chain/serverVersions.ts';
import { SyncMeter, type SyncProgress, silenceMessage } from '../../chain/syncMeter.ts';
import type { Node } from '../../engine/node/node.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Reasons } from '../../engine/runtime/reasons.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { MAX_POOLS } from '../../engine/store/records.ts';
import type { AppDeps } from './appDeps.ts';
import {
  type ChainRoleDeps,
  type ChainWork,
  clusterWork,
  singleNodeWork,
  startExecutorWhenReady,
} from './chainRoles.ts';
import type { Cluster } from './cluster.ts';
import { ScriptCheck } from './devnet.ts';
import { DevnetClient } from './devnetClient.ts';
import type { RoleState } from './election.ts';
import { imagesOf } from './images.ts';
import type { NetworkConfig } from './network.ts';
import type { OpenNode } from './openNode.ts';
import { txBuildContextOf } from './txBuildContext.ts';

export interface ChainFeatures {
  readonly txContext: TxBuildContext;
  /** null: the chain is not a devnet. */
  readonly devnet: Devnet | null;
  /** Steps of pools that fail again and again; empty if this node does not lead. */
  stuckSteps(): readonly StuckStep[];
  /** Up to when the chain's past was recorded, Unix ms; null: it has no such past. */
  readonly liveSinceMs: number | null;
  /** Wraps a chain route so that other nodes answer it; null: this node answers it. */
  readonly forward: ((route: Route) => Route) | null;
  /** Progress of following the chain; null: other nodes follow it. */
  readonly sync: ChainSync | null;
  /** The role among several nodes; null: this is the only node. */
  readonly roles: RoleState | null;
  /** The chain is no longer followed. */
  isStale(): boolean;
  /** The node has caught up with the chain and can build transactions. */
  isReady(): boolean;
  /** In start order; they start before the gateway listens. */
  readonly services: readonly Service[];
}

export interface ChainSync {
  /** This process has caught up with the Cardano node once. */
  isSynced(): boolean;
  /** True while the Cardano node does not answer: this node then serves its last state. */
  isNodeAway(): boolean;
  silentMs(): number;
  progress(): SyncProgress;
}

const MAX_OUTPUTS = 10_000_000;
const SHOWN_MS = 1_000;
/** A public chain makes a block every 20 s on average: so long without one in 3 million times. */
const PUBLIC_SILENCE_MS = 300_000;
const DEVNET_SILENCE_MS = 10_000;
const SILENT_BLOCKS = 10;

export function openChain(
  appDeps: AppDeps,
  market: OpenNode,
  cluster: Cluster | null,
  config: NetworkConfig,
  reasons: Reasons,
  events: Events,
): ChainFeatures {
  const { settings, clock } = appDeps;
  const { node } = market;
  const { network, keys, urls, policy } = config;
  const known = chainTip(node.fold.store);
  if (settings.START_POINT !== undefined && known !== null) events.startPointUnused(known.slot);
  const connected = connectFollower(appDeps, market, config, cluster !== null, events);
  const { source, overlay, ...following } = connected;
  const { meter, tip } = following;
  const live = builderOf(source, appDeps, policy.comparesUnits, events);
  const [utxos, watching] = openLookup(appDeps, node, config, overlay, events);
  const chainTime = chainClock(policy, clock, () => node.fold.marketMs);
  const submitter = shownSubmitter(source, overlay, utxos, clock);
  const store = () => node.fold.store;
  const plain = {
    utxos,
    builder: timed(live, clock, events),
    images: imagesOf(appDeps, node, cluster),
    clock: chainTime,
    store,
    submitter,
  };
  if (keys.idleBecause !== null) events.executorIdle(keys.idleBecause);
  const backoff = new PoolBackoff(clock);
  const executorDeps = () => {
    const { complete } = network;
    const { parameters: terms } = live;
    if (complete === null || terms === null || !meter.isSynced) return null;
    return { deployment: complete, slots: terms.slots, ...plain, keys: keys.executing, backoff };
  };
  const execute = () =>
    keys.executing.length === 0 ? null : startExecutorWhenReady(node, executorDeps, events);
  const fetching = fetchingOf(appDeps);
  const work = workOf({ ...following, policy, execute }, appDeps, market, cluster, reasons, events);
  const untilShown = async (txHash: string) => {
    await source.expect(txHash);
    await overlay.untilShown(txHash, clock, SHOWN_MS);
  };
  watchChain({ ...following, source, live, backoff }, appDeps, reasons);
  const offered = { ...plain, submitter: unlessHeld(submitter, reasons) };
  const calls = { node, tip, untilShown, reasons, clock, ...fetching };
  return {
    txContext: txBuildContextOf(offered, network, live, keys.collateral, settings),
    devnet: urls.devnet === null ? null : new DevnetClient({ ...calls, url: urls.devnet }),
    stuckSteps: () => backoff.stuck(),
    ...{ liveSinceMs: config.devnet?.liveSinceMs ?? null, forward: null, roles: work.roles },
    sync: syncOf(following, node),
    isStale: work.isStale,
    isReady: () => meter.isSynced && live.parameters !== null,
    services: [connecting(source), ...watching, live, ...work.services],
  };
}

/** A devnet is of this program's own version: there is nothing to ask. */
function versionsOf(appDeps: AppDeps, urls: NetworkConfig['urls'], events: Events): Service[] {
  if (urls.devnet !== null) return [];
  const { clock } = appDeps;
  const { untriedVersion } = events;
  return [new ServerVersions({ urls, clock, ...fetchingOf(appDeps), untriedVersion })];
}

/** Refuses submissions of clients while the server has a reason to wait; not the executor's. */
function unlessHeld(submitter: Submitter, reasons: Reasons): TxBuildContext['submitter'] {
  return { submit: async (bytes) => reasons.refusal() ?? submitter.submit(bytes) };
}

interface WatchedChain {
  readonly link: NodeLink;
  readonly meter: SyncMeter;
  readonly source: OgmiosChain;
  readonly live: LiveBuilder;
  readonly backoff: PoolBackoff;
}

/** Reasons that are asked for when the list is read. */
function watchChain(
  { link, meter, source, live, backoff }: WatchedChain,
  { settings, clock }: AppDeps,
  reasons: Reasons,
): void {
  let tipMs = clock.monotonicMs();
  let newestSlot: number | null = null;
  source.onTip((tip) => {
    tipMs = clock.monotonicMs();
    newestSlot = tip?.slot ?? null;
  });
  const longMs = longestWithoutBlockMs(settings);
  reasons.watch('NODE_AWAY', () =>
    link.isUp ? null : `the Cardano node sends no blocks: ${link.why}: see OGMIOS_URL and its log`,
  );
  reasons.watch('NO_BLOCKS', () => {
    const silentMs = clock.monotonicMs() - tipMs;
    if (!link.isUp || !meter.isSynced || silentMs <= longMs) return null;
    const aheadMs =
      newestSlot === null ? 0 : slotStartMs(slotsOf(source), newestSlot) - clock.nowMs();
    return silenceMessage(silentMs, aheadMs);
  });
  reasons.watch('PARAMETERS_UNKNOWN', () =>
    live.parameters === null ? unknownParameters().message : null,
  );
  reasons.watch('SCRIPTS_NOT_EVALUATED', () => {
    const why = live.cannotRunScripts;
    return why === null ? null : `no order, launch, cancel, withdrawal or fill is built: ${why}`;
  });
  reasons.watch('STEPS_STUCK', () => stuckMessage(backoff.stuck()));
}

/** Steps that a reason names with their cause; the log has all. */
const MAX_LISTED = 5;

function stuckMessage(steps: readonly StuckStep[]): string | null {
  if (steps.length === 0) return null;
  const listed = steps.slice(0, MAX_LISTED).map((step) => {
    return `${step.kind} of ${step.token}: ${step.message}`;
  });
  const more = steps.length > MAX_LISTED ? [`${steps.length - MAX_LISTED} more`] : [];
  return (
    `the executor cannot do these steps (${[...listed, ...more].join('; ')}); the others go on, ` +
    'these are tried again at least each minute: see poolStuck in the log'
  );
}

function longestWithoutBlockMs({ NETWORK, BLOCK_EVERY_MS }: AppDeps['settings']): number {
  if (NETWORK !== 'devnet') return PUBLIC_SILENCE_MS;
  if (BLOCK_EVERY_MS === 0) return Number.POSITIVE_INFINITY;
  return Math.max(DEVNET_SILENCE_MS, SILENT_BLOCKS * BLOCK_EVERY_MS);
}

function syncOf({ meter, link }: Pick<ChainRoleDeps, 'meter' | 'link'>, node: Node): ChainSync {
  return {
    isSynced: () => meter.isSynced,
    isNodeAway: () => !link.isUp && chainTip(node.fold.store) !== null,
    silentMs: () => link.silentMs,
    progress: () => meter.progress(),
  };
}

function workOf(
  deps: ChainRoleDeps,
  appDeps: AppDeps,
  { node, writer }: OpenNode,
  cluster: Cluster | null,
  reasons: Reasons,
  events: Events,
): ChainWork {
  if (cluster !== null) return clusterWork(deps, cluster, appDeps, node, reasons, events);
  assert(writer !== null, 'the only node writes its log');
  return singleNodeWork(deps, writer, appDeps, reasons, events);
}

/** The Cardano node, and how its chain enters the log. */
function connectFollower(
  appDeps: AppDeps,
  { node, log }: OpenNode,
  { urls, policy, network }: NetworkConfig,
  isShared: boolean,
  events: Events,
) {
  const { clock, rng } = appDeps;
  const deployment = network.partial ?? notDeployed(network);
  const link = new NodeLink(clock, events);
  const source = new OgmiosChain({
    url: urls.ogmios,
    deployment,
    watched: () => seenBy(node),
    clock,
    rng,
    observer: link.observer,
    limits: { returnMs: policy.returnMs },
    startThread: appDeps.host?.nodeReader,
  });
  const overlay = new MempoolOverlay();
  const tip = () => (link.isUp ? source.tip() : null);
  const rules = rulesOf(deployment);
  const place: Omit<FollowerDeps, 'writer'> = {
    ...{ source, rules, clock, node, log, rng, policy, tip, overlay, isShared },
    ...(urls.kupo === null
      ? {}
      : {
          firstSlotOf: firstSlots({
            url: urls.kupo,
            clock,
            observer: events,
            ...fetchingOf(appDeps),
          }),
        }),
  };
  const follow: ChainRoleDeps['follow'] = (writer, followerFailed) =>
    new Follower({ ...place, writer }, { ...events, followerFailed });
  const feedMempool: ChainRoleDeps['feedMempool'] = (ended) =>
    new LocalMempoolFeed({ source, node, overlay, rules, policy, clock }, ended);
  const store = () => node.fold.store;
  const isEmpty = () => link.isUp && source.isEmpty;
  const startSlot = policy.start?.slot ?? 0;
  const meter = new SyncMeter({ store, tip, isEmpty, clock, startSlot });
  return { source, overlay, link, tip, meter, follow, feedMempool };
}

function notDeployed({ network, missing }: NetworkDeployment): never {
  throw new Error(
    `there is no launchpad on ${network} yet (${missing.join(', ')} unknown): ` +
      `npm start -- deploy --network ${network} makes one, and DEPLOYMENT_FILE names its file`,
  );
}

/** The Cardano node may be away for long: connecting does not delay the start. */
function connecting(source: OgmiosChain): Service {
  return {
    name: source.name,
    start: () => {
      // Its observer reports that it ended.
      source.start().catch(() => {});
    },
    stop: () => source.stop(),
  };
}

function openLookup(
  appDeps: AppDeps,
  node: Node,
  { urls, network }: NetworkConfig,
  overlay: MempoolOverlay,
  observer: Events,
): [UtxoLookup, readonly Service[]] {
  const { kupo: url } = urls;
  const { complete, partial } = network;
  const versions = versionsOf(appDeps, urls, observer);
  if (url === null) return [unavailableLookup(), versions];
  const { clock } = appDeps;
  const fetching = fetchingOf(appDeps);
  const tip = () => chainTip(node.fold.store);
  const index = new KupoLookup({ url, tip, overlay, clock, observer, ...fetching });
  const health = new KupoHealthWatch({ url, clock, observer, ...fetching });
  const watching: readonly Service[] = [...versions, health];
  const deployment = complete ?? partial;
  if (deployment === null) return [index, watching];
  const store = () => node.fold.store;
  const utxos = new FoldUtxoLookup({ index, store, overlay, deployment, clock });
  if (urls.devnet === null) return [utxos, watching];
  const check = new ScriptCheck({ utxos, network, url: urls.ogmios, clock }, observer);
  return [utxos, [...watching, check]];
}

/** The world's `fetch`; empty if it is the network's own. */
function fetchingOf({ chainAccess }: AppDeps): Partial<Pick<ChainAccess, 'fetch'>> {
  return chainAccess === undefined ? {} : { fetch: chainAccess.fetch };
}

/** The tokens and unspent outputs that blocks are searched for. */
function seenBy({ fold }: Node): WatchSource {
  const keys = (table: 'pools' | 'outputs', most: number) =>
    fold.store.withPrefix(table, '', most).map(({ key }) => key);
  return { tokens: keys('pools', MAX_POOLS), watched: keys('outputs', MAX_OUTPUTS) };
}

/** Builds with the protocol parameters of the Cardano node. */
function builderOf(
  source: OgmiosChain,
  { settings, clock, host }: AppDeps,
  comparesUnits: boolean,
  observer: Events,
) {
  return new LiveBuilder({
    evaluate: (bytes, utxos) => source.evaluate(bytes, utxos),
    comparesUnits,
    ask: async () => ({ parameters: await source.parameters(), slots: slotsOf(source) }),
    clock,
    limits: { threads: settings.BUILD_THREADS },
    startThreads: host?.builderThreads,
    observer,
  });
}

function slotsOf(source: OgmiosChain) {
  const { zeroTimeMs, zeroSlot, slotLengthMs } = source.slots();
  return { zeroTimeMs, zeroSlot, slotLengthMs };
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
