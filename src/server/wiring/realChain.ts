/**
 * A real chain and all that works on it: blocks, mempool and submits through Ogmios, outputs from
 * Kupo. Nothing of it is waited for: the doors open, and say what is missing, while it is reached.
 */

import { LiveBuilder } from '../../cardano/build/liveBuilder.ts';
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import type { Submitter, UtxoLookup } from '../../cardano/ledger/port.ts';
import { chainTip } from '../../chain/chainPoints.ts';
import { PoolBackoff } from '../../chain/executor/poolBackoff.ts';
import { Follower } from '../../chain/follower.ts';
import type { DistantChain } from '../../chain/followerPlace.ts';
import { KupoLookup } from '../../chain/kupo/kupo.ts';
import { MempoolView } from '../../chain/kupo/mempoolView.ts';
import { KupoWatch } from '../../chain/kupo/watch.ts';
import { NodeLink } from '../../chain/nodeLink.ts';
import { noLookup } from '../../chain/noLookup.ts';
import { OgmiosChain, type Seen } from '../../chain/ogmios/ogmios.ts';
import { Overhearing } from '../../chain/overhearing.ts';
import type { Point } from '../../chain/port.ts';
import { SyncMeter } from '../../chain/syncMeter.ts';
import { tokenPolicyId } from '../../chain/tokenPolicy.ts';
import type { Node } from '../../engine/actors/node.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { MOST_POOLS } from '../../engine/store/records.ts';
import { readDeployment } from '../settings/deployments.ts';
import { readStart } from '../settings/start.ts';
import type { Settings } from '../settings/table.ts';
import { type ChainKit, timed } from './chain.ts';
import type { Cluster } from './cluster.ts';
import { imagesOf } from './images.ts';
import type { Market } from './market.ts';
import { executorOnceReady } from './realExecutor.ts';
import { realKeys } from './realKeys.ts';
import { type RealParts, type RealWork, realAlone, realAmong } from './realRoles.ts';
import { realWorkshop } from './realWorkshop.ts';
import type { World } from './world.ts';

const FINAL_GRACE_MS = 10_000;
const MOST_OUTPUTS = 10_000_000;
/** The mempool is told within it, unless it cannot be read. */
const SHOWN_MS = 1_000;

export function openRealChain(
  world: World,
  market: Market,
  cluster: Cluster | null,
  events: Events,
): ChainKit {
  const { settings, clock } = world;
  const { node } = market;
  const network = networkOf(world);
  const isShared = cluster !== null;
  const { source, view, ...following } = followed(world, market, network, isShared, events);
  const { link, meter } = following;
  const live = new LiveBuilder({
    ask: async () => ({ parameters: await source.parameters(), slots: slotsOf(source) }),
    clock,
    limits: { threads: settings.BUILD_THREADS },
    observer: events,
  });
  const store = () => node.fold.store;
  const [utxos, index] = lookupOf(world, node, view, events);
  const builder = timed(live, clock, events);
  const images = imagesOf(world, node, cluster);
  const plain = { utxos, builder, images, clock, store, submitter: source };
  const keys = realKeys(world, network);
  if (keys.idleBecause !== null) events.executorIdle(keys.idleBecause);
  const backoff = new PoolBackoff(clock);
  const submitter = shownBy(view, source, clock);
  const place = () => {
    const { complete } = network;
    if (complete === null || live.terms === null || !meter.isSynced) return null;
    const { slots } = live.terms;
    return { deployment: complete, slots, ...plain, keys: keys.executing, backoff };
  };
  const execute = () =>
    keys.executing.length === 0 ? null : executorOnceReady(node, place, events);
  const work = workOf({ ...following, execute }, world, market, cluster, events);
  return {
    workshop: realWorkshop({ ...plain, submitter }, network, live, keys.collateral),
    devnet: null,
    stuckPools: () => backoff.stuck(),
    forward: null,
    roles: work.roles,
    sync: {
      isSynced: () => meter.isSynced,
      isAlone: () => !link.isUp && chainTip(store()) !== null,
      silentMs: () => link.silentMs,
      progress: () => meter.progress(),
    },
    stale: work.stale,
    services: [connecting(source), ...index, live, ...work.services],
  };
}

function workOf(
  parts: RealParts,
  world: World,
  { node, writer }: Market,
  cluster: Cluster | null,
  events: Events,
): RealWork {
  if (cluster !== null) return realAmong(parts, cluster, world, node, events);
  assert(writer !== null, 'the only node writes its log');
  return realAlone(parts, writer, world, events);
}

/** The node, and what brings its chain into the log. */
function followed(
  world: World,
  { node, log }: Market,
  network: NetworkDeployment,
  isShared: boolean,
  events: Events,
) {
  const { settings, clock, rng } = world;
  const deployment = network.landmarks ?? notDeployed(network);
  const link = new NodeLink(clock, events);
  const source = new OgmiosChain({
    url: settings.OGMIOS_URL ?? '',
    deployment,
    seen: () => seenBy(node),
    clock,
    rng,
    observer: link.observer,
  });
  const view = new MempoolView();
  const tip = () => (link.isUp ? source.tip() : null);
  const start = startOf(settings, network, node, events);
  const { FINAL_GRACE_MS: finalGraceMs = FINAL_GRACE_MS } = settings;
  const shared = isShared ? { shared: { nodeBehind: events.nodeBehind } } : {};
  const distant: DistantChain = { clock, tip, start, finalGraceMs, view, ...shared };
  const rules = { deployment, tokenPolicyId: tokenPolicyId(deployment) };
  const place = { source, rules, clock, node, log, rng, distant };
  const follow: RealParts['follow'] = (writer, followerFailed) =>
    new Follower({ ...place, writer }, { ...events, followerFailed });
  const overhear: RealParts['overhear'] = (ended) =>
    new Overhearing({ source, node, view, start }, ended);
  const store = () => node.fold.store;
  const meter = new SyncMeter({ store, tip, clock, startSlot: start?.slot ?? 0 });
  return { source, view, link, tip, meter, follow, overhear };
}

function networkOf({ settings, deployment }: World): NetworkDeployment {
  const { NETWORK, DEPLOYMENT_FILE } = settings;
  assert(NETWORK !== 'devnet' && NETWORK !== 'none', 'a real network');
  return deployment ?? readDeployment(NETWORK, DEPLOYMENT_FILE);
}

function notDeployed({ network, missing }: NetworkDeployment): never {
  throw new Error(
    `there is no launchpad on ${network} yet (${missing.join(', ')} unknown): ` +
      `npm start -- deploy --network ${network} makes one, and DEPLOYMENT_FILE names its file`,
  );
}

/** Where following begins when there is no state. */
function startOf(
  { START_POINT }: Settings,
  { start }: NetworkDeployment,
  node: Node,
  events: Events,
): Point | null {
  const given = START_POINT === undefined ? start : readStart(START_POINT);
  assert(given !== 'malformed', 'settings are checked');
  const known = chainTip(node.fold.store);
  if (START_POINT !== undefined && known !== null) events.startPointUnused(known.slot);
  return given;
}

/** The node may be away for long: it is tried behind the doors. */
function connecting(source: OgmiosChain): Service {
  return {
    name: source.name,
    start: () => {
      // That it ended is told by its observer.
      source.start().catch(() => {});
    },
    stop: () => source.stop(),
  };
}

function lookupOf(
  { settings, clock }: World,
  node: Node,
  waiting: MempoolView,
  observer: Events,
): [UtxoLookup, readonly Service[]] {
  const { KUPO_URL: url } = settings;
  if (url === undefined) return [noLookup(), []];
  const tip = () => chainTip(node.fold.store);
  const lookup = new KupoLookup({ url, tip, waiting, clock, observer });
  return [lookup, [new KupoWatch({ url, clock, observer })]];
}

/** Tokens and unspent outputs that the market knows: what else is not looked for in blocks. */
function seenBy({ fold }: Node): Seen {
  const keys = (table: 'pools' | 'outputs', most: number) =>
    fold.store.withPrefix(table, '', most).map(({ key }) => key);
  return { tokens: keys('pools', MOST_POOLS), watched: keys('outputs', MOST_OUTPUTS) };
}

/** Answers once what was accepted is laid over wallets: they build with other outputs then. */
function shownBy(view: MempoolView, source: Submitter, clock: Clock): Submitter {
  return {
    async submit(bytes) {
      const outcome = await source.submit(bytes);
      if (outcome.outcome === 'accepted') await view.known(outcome.txHash, clock, SHOWN_MS);
      return outcome;
    },
  };
}

function slotsOf(source: OgmiosChain) {
  const { zeroTimeMs, zeroSlot, slotLengthMs } = source.slots();
  return { zeroTimeMs, zeroSlot, slotLengthMs };
}
