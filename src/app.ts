/**
 * All wiring, top to bottom in start order; stop is the reverse. Tests start the same app in
 * another world: other settings, clock, randomness, log output, with a chain or without.
 */
import type { Readable } from 'node:stream';
import type { Node } from './actors/node.ts';
import type { ChainKit } from './assembly/chain.ts';
import { openDoors } from './assembly/doors.ts';
import { type Market, openMarket } from './assembly/market.ts';
import type { World } from './assembly/world.ts';
import { Replay, type ReplayCounts, type ReplayOptions } from './ingest/replay.ts';
import { createEvents, type Events } from './runtime/events.ts';
import { collectProcessMetrics, createRegistry } from './runtime/metrics.ts';
import { runServices, type Service } from './runtime/service.ts';
import { tradersService } from './traders/service.ts';

export type { World } from './assembly/world.ts';

export interface App {
  /** What was bound. */
  readonly port: number;
  readonly node: Node;
  /** null where the world has no chain. */
  readonly chain: ChainKit | null;
  /** Feeds lines to the end of `input`, or until the app stops. One at a time. */
  replay(input: Readable, options: ReplayOptions): Promise<ReplayCounts>;
  stop(reason: string): Promise<void>;
}

const STOP_DEADLINE_MS = 9_000;

export async function startApp(world: World): Promise<App> {
  const { clock, rng, logger } = world;
  const registry = createRegistry();
  collectProcessMetrics(registry);
  const events = createEvents(logger, registry);

  const market = await openMarket(world, events);
  const { node, log, writer } = market;
  const chain = world.devnet === undefined ? null : await openDevnet(world, market, events);
  const doors = openDoors(world, node, chain, events, registry);

  let replay: Replay | null = null;
  let stopping = false;
  const ingest = serviceOf('ingest', () => {
    stopping = true;
    writer.stop();
    replay?.stop();
  });
  const folding = serviceOf(
    'node',
    () => node.stop(),
    () => node.start(doors.streams),
  );
  const traders = tradersOf(world, doors.port, events);
  const services = [folding, ...(chain?.services ?? []), ...doors.services, ...traders, ingest];
  const running = await runServices(services, { clock, stopDeadlineMs: STOP_DEADLINE_MS });

  return {
    port: doors.port(),
    node,
    chain,
    async replay(input, options) {
      // What goes wrong before it is read is thrown when it is; it must not end the process now.
      input.on('error', () => {});
      // A file continues behind its last entry in the log, which the state may not have yet.
      await node.reached(writer.tail.seq);
      replay = new Replay({ node, log, writer, rng, clock }, events, options);
      if (stopping) replay.stop();
      return replay.run(input);
    },
    async stop(reason) {
      const startMs = clock.monotonicMs();
      events.stopping(reason);
      for (const { service, error } of await running.stop()) {
        events.serviceStopFailed(service, error);
      }
      events.stopped((clock.monotonicMs() - startMs) / 1000);
    },
  };
}

function serviceOf(
  name: string,
  stop: Service['stop'],
  start: Service['start'] = () => {},
): Service {
  return { name, start, stop };
}

/** Loads the judge of transactions, which takes a while, only where there is a chain. */
async function openDevnet(world: World, market: Market, events: Events): Promise<ChainKit | null> {
  const { openChain } = await import('./assembly/chain.ts');
  return openChain(world, market, events);
}

/** Simulated traders are clients like any other: they come when the doors are open. */
function tradersOf(
  { devnet, settings, clock }: World,
  port: () => number,
  observer: Events,
): Service[] {
  if (devnet === undefined || devnet.pace === 0) return [];
  const { HOST } = settings;
  const isAny = HOST === '0.0.0.0' || HOST === '::';
  const host = isAny ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST;
  const baseUrl = () => `http://${host}:${port()}`;
  const { traders: config, pace, seed } = devnet;
  return [tradersService({ baseUrl, config, pace, seed, clock, observer })];
}
