/**
 * All wiring, in start order from top to bottom; stop runs in reverse. Tests start the same app in
 * another world: other settings, clock, randomness and log output, with or without a chain.
 */
import type { Readable } from 'node:stream';
import type { Registry } from 'prom-client';
import { Replay, type ReplayCounts, type ReplayOptions } from '../engine/ingest/replay.ts';
import type { Node } from '../engine/node/node.ts';
import { Fault } from '../engine/runtime/assert.ts';
import { type Clock, sleep } from '../engine/runtime/clock.ts';
import { createEvents, type Events } from '../engine/runtime/events.ts';
import { collectProcessMetrics, createRegistry } from '../engine/runtime/meters.ts';
import type { Reasons } from '../engine/runtime/reasons.ts';
import { runServices, type Service } from '../engine/runtime/service.ts';
import { tradersService } from '../traders/service.ts';
import { reachableHost } from './settings/table.ts';
import { loadApiKeys, reloadApiKeys } from './wiring/apiKeys.ts';
import { type AppDeps, followsChain } from './wiring/appDeps.ts';
import type { ChainFeatures } from './wiring/chain.ts';
import type { Cluster } from './wiring/cluster.ts';
import { checkNoOldLedger, makeDataDirectory } from './wiring/dataDirectory.ts';
import type { ChainUrls, RunningDevnet } from './wiring/devnet.ts';
import type { RoleState } from './wiring/election.ts';
import { detectFatal, trackReasons } from './wiring/health.ts';
import { openListeners, requireFreePorts } from './wiring/listeners.ts';
import { type OpenNode, openNode } from './wiring/openNode.ts';
import { whileLeading } from './wiring/whileLeading.ts';

export type { AppDeps } from './wiring/appDeps.ts';

export interface App {
  /** The port that was bound. */
  readonly port: number;
  readonly node: Node;
  /** null: the world has no chain. */
  readonly chain: ChainFeatures | null;
  /** Addresses of the devnet that this process runs; null: it runs none. */
  readonly devnet: ChainUrls | null;
  /** Feeds the lines of `input` until its end or until the app stops. One replay at a time. */
  replay(input: Readable, options: ReplayOptions): Promise<ReplayCounts>;
  /** Resolves with the reason when the process must be restarted. */
  readonly failed: Promise<string>;
  stop(reason: string): Promise<void>;
}

const STOP_DEADLINE_MS = 9_000;
/** After this time the server listens anyway and reports its progress. */
const MAX_CATCHING_UP_MS = 10_000;
const LOOK_MS = 10;
/** A start that is aborted has this time to end by itself; what hangs is abandoned. */
const ABORT_GRACE_MS = 1_000;

/**
 * `AppDeps.signal` aborts the start: it rejects with `interrupted` shortly after, and the process
 * should end.
 */
export async function startApp(deps: AppDeps): Promise<App> {
  const { signal, clock } = deps;
  const starting = start(deps);
  if (signal === undefined) return starting;
  const aborted = Promise.withResolvers<never>();
  const end = () => aborted.reject(new Fault('interrupted', 'stopped before it had started'));
  const abort = () => void clock.after(ABORT_GRACE_MS, end);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([starting, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function start(given: AppDeps): Promise<App> {
  const { clock, rng, logger } = given;
  const apiKeys = loadApiKeys(given.settings);
  const registry = createRegistry();
  await prepareProcess(given, registry);
  const deps = await withAnyHistory(given);
  const { NATS_URL } = deps.settings;
  const noted = trackReasons(createEvents(logger, registry, clock), NATS_URL !== undefined);
  const { events, failed } = detectFatal(noted.events);

  const joined = NATS_URL === undefined ? null : await joinNodes(deps, NATS_URL, events);
  const market = joined?.market ?? (await openNode(deps, events));
  const { node, log, writer } = market;
  const { reasons } = noted;
  noted.attach(node);
  const cluster = joined?.cluster ?? null;
  const opening = openAnyChain(deps, market, cluster, reasons, events);
  const { chain, devnet } = await opening.catch(async (error: unknown) => {
    // Open files and connections would keep the process alive and DATA_DIR locked.
    await node.stop();
    await cluster?.leave();
    throw error;
  });
  const listeners = openListeners(deps, node, chain, cluster, events, registry, reasons, apiKeys);
  reloadApiKeys(apiKeys, deps, events);

  let replay: Replay | null = null;
  let stopping = false;
  const ingest = serviceOf('ingest', () => {
    stopping = true;
    writer?.stop();
    replay?.stop();
  });
  const startNode = () => node.start(listeners.hub);
  const nodeService = serviceOf('node', () => node.stop(), startNode);
  const traders = tradersOf(deps, listeners.port, chain?.roles ?? null, events);
  const { first, following } = chainServices(chain, devnet, clock);
  const keeping = [nodeService, ...(market.snapshots === undefined ? [] : [market.snapshots])];
  const services = [...first, ...keeping, ...following, ...listeners.services, ...traders, ingest];
  const running = await runServices(services, { clock, stopDeadlineMs: STOP_DEADLINE_MS });

  return {
    port: listeners.port(),
    node,
    chain,
    devnet: devnet?.urls ?? null,
    failed,
    async replay(input, options) {
      // An error before the first read is thrown by the read; it must not end the process now.
      input.on('error', () => {});
      if (writer === null) throw new Error('a feed is replayed on a single node: unset NATS_URL');
      // A file continues after its last entry in the log, which the state may not have yet.
      await node.reached(writer.tail.seq);
      replay = new Replay({ node, log, writer, rng, clock }, events, options);
      if (stopping) replay.stop();
      return replay.run(input);
    },
    stop: (reason) => stopAll(running, reason, clock, events),
  };
}

/** A hosted node has no port, and no process whose metrics it could show. */
async function prepareProcess(deps: AppDeps, registry: Registry): Promise<void> {
  if (deps.host === undefined) {
    await requireFreePorts(deps.settings);
    await makeDataDirectory(deps.settings.DATA_DIR, deps);
    collectProcessMetrics(registry);
  }
  checkNoOldLedger(deps.settings);
}

/** Loads the scripts of a market only where a new devnet may begin. */
async function withAnyHistory(deps: AppDeps): Promise<AppDeps> {
  const { devnet } = deps;
  if (devnet?.beginsWithPast !== true) return deps;
  const { fittingHistory } = await import('./wiring/history.ts');
  const historyFile = fittingHistory(deps);
  return historyFile === null ? deps : { ...deps, devnet: { ...devnet, historyFile } };
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

/** Loads the NATS client only if there are several nodes. */
async function joinNodes(deps: AppDeps, url: string, events: Events) {
  const { joinCluster } = await import('./wiring/cluster.ts');
  return joinCluster(deps, url, events);
}

/** Loads the ledger's rules, which takes a while, only if there is a chain. */
async function openAnyChain(
  deps: AppDeps,
  market: OpenNode,
  cluster: Cluster | null,
  reasons: Reasons,
  events: Events,
): Promise<OpenedChain> {
  const { settings } = deps;
  if (settings.ROLE === 'reader' && cluster !== null) {
    const { openReader } = await import('./wiring/reader.ts');
    return { chain: openReader(deps, market, cluster, reasons, events), devnet: null };
  }
  if (!followsChain(deps)) return { chain: null, devnet: null };
  const { openNetwork } = await import('./wiring/network.ts');
  const { openChain } = await import('./wiring/chain.ts');
  const network = await openNetwork(deps, events);
  try {
    return {
      chain: openChain(deps, market, cluster, network, reasons, events),
      devnet: network.devnet,
    };
  } catch (error) {
    await network.devnet?.stop();
    throw error;
  }
}

interface OpenedChain {
  readonly chain: ChainFeatures | null;
  /** The devnet that this process runs. */
  readonly devnet: RunningDevnet | null;
}

/** `first` starts first and stops last. */
function chainServices(chain: ChainFeatures | null, devnet: RunningDevnet | null, clock: Clock) {
  const following = chain?.services ?? [];
  if (devnet === null || chain === null) return { first: [], following };
  const first = [serviceOf('devnet', () => devnet.stop())];
  return { first, following: [...following, untilReady(chain, clock)] };
}

/** Catching up with the own devnet takes a moment; after it clients find the market ready. */
function untilReady(chain: ChainFeatures, clock: Clock): Service {
  return serviceOf(
    'catching up',
    () => {},
    async () => {
      const endMs = clock.monotonicMs() + MAX_CATCHING_UP_MS;
      while (!chain.isReady() && clock.monotonicMs() < endMs) await sleep(clock, LOOK_MS);
    },
  );
}

/** Simulated traders are clients like any other: they start after the listeners. */
function tradersOf(
  { devnet, settings, clock }: AppDeps,
  port: () => number,
  roles: RoleState | null,
  observer: Events,
): Service[] {
  if (devnet === undefined || devnet.pace === 0 || settings.ROLE === 'reader') return [];
  const host = reachableHost(settings.HOST);
  const baseUrl = () => `http://${host}:${port()}`;
  const { traders: config, pace, seed } = devnet;
  const make = () => tradersService({ baseUrl, config, pace, seed, clock, observer });
  const failed = (error: unknown) => observer.handlerFailed('traders', error);
  return [roles === null ? make() : whileLeading('traders', make, roles, failed)];
}
