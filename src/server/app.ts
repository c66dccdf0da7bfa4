/**
 * All wiring, top to bottom in start order; stop is the reverse. Tests start the same app in
 * another world: other settings, clock, randomness, log output, with a chain or without.
 */
import type { Readable } from 'node:stream';
import { tradersService } from '../client/traders/service.ts';
import type { Node } from '../engine/actors/node.ts';
import { Replay, type ReplayCounts, type ReplayOptions } from '../engine/ingest/replay.ts';
import { type Clock, sleep } from '../engine/runtime/clock.ts';
import { createEvents, type Events } from '../engine/runtime/events.ts';
import { collectProcessMetrics, createRegistry } from '../engine/runtime/metrics.ts';
import { runServices, type Service } from '../engine/runtime/service.ts';
import { reachableHost } from './settings/reachableHost.ts';
import type { ChainFeatures } from './wiring/chain.ts';
import type { Cluster } from './wiring/cluster.ts';
import { checkNoOldLedger, makeDataDirectory } from './wiring/dataDirectory.ts';
import type { ChainUrls, RunningDevnet } from './wiring/devnet.ts';
import type { RoleState } from './wiring/election.ts';
import { detectFatal, rejectWhenAborted } from './wiring/givingUp.ts';
import { trackTroubles } from './wiring/health.ts';
import { openListeners } from './wiring/listeners.ts';
import { type Market, openMarket } from './wiring/market.ts';
import { requireFreePorts } from './wiring/ports.ts';
import { followsChain, type World } from './wiring/world.ts';

export type { World } from './wiring/world.ts';

export interface App {
  /** What was bound. */
  readonly port: number;
  readonly node: Node;
  /** null where the world has no chain. */
  readonly chain: ChainFeatures | null;
  /** Where the devnet of this process is served; null: it has none. */
  readonly devnet: ChainUrls | null;
  /** Feeds lines to the end of `input`, or until the app stops. One at a time. */
  replay(input: Readable, options: ReplayOptions): Promise<ReplayCounts>;
  /** Why the process should stop and be started again; pending as long as all is well. */
  readonly failed: Promise<string>;
  stop(reason: string): Promise<void>;
}

const STOP_DEADLINE_MS = 9_000;
/** After it the server listens all the same, and says how far it is. */
const MOST_CATCHING_UP_MS = 10_000;
const LOOK_MS = 10;

/** `World.signal` gives it up: it rejects with `Interrupted` then, and the process should end. */
export function startApp(world: World): Promise<App> {
  return rejectWhenAborted(start(world), world);
}

async function start(world: World): Promise<App> {
  const { clock, rng, logger } = world;
  await requireFreePorts(world.settings);
  await makeDataDirectory(world.settings.DATA_DIR, world);
  checkNoOldLedger(world.settings);
  const registry = createRegistry();
  collectProcessMetrics(registry);
  const noted = trackTroubles(createEvents(logger, registry));
  const { events, failed } = detectFatal(noted.events);

  const { NATS_URL } = world.settings;
  const joined = NATS_URL === undefined ? null : await joinNodes(world, NATS_URL, events);
  const market = joined?.market ?? (await openMarket(world, events));
  const { node, log, writer } = market;
  noted.attach(node);
  const cluster = joined?.cluster ?? null;
  const opening = openAnyChain(world, market, cluster, events);
  const { chain, devnet } = await opening.catch(async (error: unknown) => {
    // What is open would keep a start alive that was given up.
    await cluster?.leave();
    throw error;
  });
  const doors = openListeners(world, node, chain, cluster, events, registry, noted.troubles);

  let replay: Replay | null = null;
  let stopping = false;
  const ingest = serviceOf('ingest', () => {
    stopping = true;
    writer?.stop();
    replay?.stop();
  });
  const startNode = () => node.start(doors.streams);
  const folding = serviceOf('node', () => node.stop(), startNode);
  const traders = tradersOf(world, doors.port, chain?.roles ?? null, events);
  const { first, following } = chainServices(chain, devnet, clock);
  const keeping = [folding, ...(market.snapshots === undefined ? [] : [market.snapshots])];
  const services = [...first, ...keeping, ...following, ...doors.services, ...traders, ingest];
  const running = await runServices(services, { clock, stopDeadlineMs: STOP_DEADLINE_MS });

  return {
    port: doors.port(),
    node,
    chain,
    devnet: devnet?.urls ?? null,
    failed,
    async replay(input, options) {
      // What goes wrong before it is read is thrown when it is; it must not end the process now.
      input.on('error', () => {});
      if (writer === null) throw new Error('a feed is replayed on a single node: unset NATS_URL');
      // A file continues behind its last entry in the log, which the state may not have yet.
      await node.reached(writer.tail.seq);
      replay = new Replay({ node, log, writer, rng, clock }, events, options);
      if (stopping) replay.stop();
      return replay.run(input);
    },
    stop: (reason) => stopAll(running, reason, clock, events),
  };
}

async function stopAll(
  running: Awaited<ReturnType<typeof runServices>>,
  reason: string,
  clock: Clock,
  events: Events,
): Promise<void> {
  const startMs = clock.monotonicMs();
  events.stopping(reason);
  for (const { service, error } of await running.stop()) {
    events.serviceStopFailed(service, error);
  }
  events.stopped((clock.monotonicMs() - startMs) / 1000);
}

function serviceOf(
  name: string,
  stop: Service['stop'],
  start: Service['start'] = () => {},
): Service {
  return { name, start, stop };
}

/** Loads the client of NATS only where there are several nodes. */
async function joinNodes(world: World, url: string, events: Events) {
  const { joinMarket } = await import('./wiring/cluster.ts');
  return joinMarket(world, url, events);
}

/** Loads the judge of transactions, which takes a while, only where there is a chain. */
async function openAnyChain(
  world: World,
  market: Market,
  cluster: Cluster | null,
  events: Events,
): Promise<OpenedChain> {
  const { settings } = world;
  if (settings.ROLE === 'reader' && cluster !== null) {
    const { openReader } = await import('./wiring/reader.ts');
    return { chain: openReader(world, market, cluster, events), devnet: null };
  }
  if (!followsChain(world)) return { chain: null, devnet: null };
  const { openNetwork } = await import('./wiring/network.ts');
  const { openChain } = await import('./wiring/chain.ts');
  const network = await openNetwork(world, events);
  try {
    return { chain: openChain(world, market, cluster, network, events), devnet: network.devnet };
  } catch (error) {
    await network.devnet?.stop();
    throw error;
  }
}

interface OpenedChain {
  readonly chain: ChainFeatures | null;
  /** Of this process. */
  readonly devnet: RunningDevnet | null;
}

/** `first`: what stops last. */
function chainServices(chain: ChainFeatures | null, devnet: RunningDevnet | null, clock: Clock) {
  const following = chain?.services ?? [];
  if (devnet === null || chain === null) return { first: [], following };
  const first = [serviceOf('devnet', () => devnet.stop())];
  return { first, following: [...following, untilReady(chain, clock)] };
}

/** A devnet of one's own is caught up with in a moment: clients find the market ready. */
function untilReady(chain: ChainFeatures, clock: Clock): Service {
  return serviceOf(
    'catching up',
    () => {},
    async () => {
      const endMs = clock.monotonicMs() + MOST_CATCHING_UP_MS;
      while (!chain.isReady() && clock.monotonicMs() < endMs) await sleep(clock, LOOK_MS);
    },
  );
}

/** Simulated traders are clients like any other: they come when the doors are open. */
function tradersOf(
  { devnet, settings, clock }: World,
  port: () => number,
  roles: RoleState | null,
  observer: Events,
): Service[] {
  if (devnet === undefined || devnet.pace === 0 || settings.ROLE === 'reader') return [];
  const host = reachableHost(settings.HOST);
  const baseUrl = () => `http://${host}:${port()}`;
  const { traders: config, pace, seed } = devnet;
  const make = () => tradersService({ baseUrl, config, pace, seed, clock, observer });
  return [roles === null ? make() : whileLeading(make, roles)];
}

/** Of several nodes, the one that leads sends the traders. */
function whileLeading(make: () => Service, roles: RoleState): Service {
  let here: Service | null = null;
  let changing = Promise.resolve();
  let isOpen = false;
  const change = (wanted: boolean) => {
    changing = changing.then(async () => {
      if (wanted === (here !== null)) return;
      const [old, next] = [here, wanted ? make() : null];
      here = next;
      await old?.stop();
      await next?.start();
    });
  };
  roles.onRole((leads) => change(isOpen && leads));
  return {
    name: 'traders',
    start: () => {
      isOpen = true;
      change(roles.leads());
    },
    stop: () => {
      isOpen = false;
      change(false);
      return changing;
    },
  };
}
