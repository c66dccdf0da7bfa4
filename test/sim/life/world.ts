/** The world of a run: virtual time, a model of NATS, a devnet with its people, whole nodes. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { readTraderConfig } from '../../../src/traders/config.ts';
import { SimMarket } from '../chain/simMarket.ts';
import { SimDisk } from '../machine/simDisk.ts';
import { VirtualTime } from '../machine/virtualTime.ts';
import { NatsModel } from '../nats/model.ts';
import { SimNode } from '../node/simNode.ts';
import { Life } from './life.ts';
import { leadAs04 } from './olderLeader.ts';
import type { LifeNode } from './ports.ts';
import type { Schedule } from './schedule.ts';
import { MARKET } from './steps/nats.ts';
import type { Timeline } from './timeline.ts';

interface SimWorld {
  readonly time: VirtualTime;
  readonly life: Life;
  close(): Promise<void>;
}

/** Log lines that a reader of a failure wants: what nodes say of themselves and of NATS. */
const QUIET = /^(request|socket|block|batch|committed|traderActed|built|listening|snapshotTaken)/;

/**
 * A client that does not read for a while is slow, though the market sends little. Sockets are
 * looked at each second and not ten times a second, which would be a third of all events.
 */
const SMALL_BUFFERS = {
  connectionBytes: 4_096,
  gateway: { behindBytes: 4_096, wakeBytes: 1_024, bufferBytes: 16_384, sweepMs: 1_000 },
};

/** Events that no disturbance may cause. */
const FATAL = new Set(['handlerFailed', 'foldFailed', 'actorQuarantined']);

export function openWorld(
  { seed, settings }: Schedule,
  directory: string,
  timeline: Timeline,
  broken: (invariant: string, why: string) => void,
): SimWorld {
  const time = new VirtualTime();
  const restore = [time.install(seededRng(seed + 1))];
  const disk = new SimDisk(time);
  restore.push(disk.install());
  const market = new SimMarket({ time, seed, paceMs: settings.blockEveryMs });
  market.devnet.start();
  const nats = new NatsModel({
    clock: time.clock({}, time.process('NATS')),
    rng: seededRng(seed + 2),
    version: settings.natsVersion,
    servers: settings.natsServers,
  });
  const env = {
    ...market.env,
    NATS_URL: 'nats://nats.sim:4222',
    NATS_REPLICAS: String(settings.copies ?? settings.natsServers),
    MARKET_NAME: MARKET,
    LEASE_MS: String(settings.leaseMs),
    HORIZON_BLOCKS: String(settings.horizonBlocks),
    SNAPSHOT_EVERY: String(settings.snapshotEvery),
    TRADERS_PACE: '0',
  };
  const { NATS_URL: _, ...aloneEnv } = env;
  let made = 0;
  const newNode = (name: string, { isAlone = false } = {}): LifeNode => {
    made += 1;
    const own = join(directory, `${name}-${made}`);
    mkdirSync(own, { recursive: true });
    return new SimNode({
      ...{ time, disk, name, directory: own, seed: seed + 100 + made, chain: market.devnet },
      env: { ...(isAlone ? aloneEnv : env), NODE_NAME: name },
      ...(isAlone ? {} : { nats }),
      devnet: { traders: readTraderConfig(), pace: 0, seed: 1 },
      ...SMALL_BUFFERS,
      onLine: (line) => noteLine(timeline, name, line, broken),
    });
  };
  const nodes = Array.from({ length: settings.nodes }, (_, at) => newNode(`n${at + 1}`));
  const clock = time.clock({}, time.process('life'));
  const rng = seededRng(seed + 3);
  const deps = {
    settings,
    nats,
    chain: market,
    disks: disk,
    nodes,
    clock,
    rng,
    timeline,
    newNode,
    leadAs04,
    broken,
  };
  return {
    time,
    life: new Life(deps),
    async close() {
      for (const node of nodes) node.kill();
      market.close();
      for (const undo of restore.toReversed()) undo();
    },
  };
}

function noteLine(
  timeline: Timeline,
  name: string,
  line: string,
  broken: (invariant: string, why: string) => void,
): void {
  // trust: a line of our own logger
  const { event, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  if (typeof event !== 'string' || QUIET.test(event)) return;
  const { time: _, ...fields } = rest;
  const text = JSON.stringify(fields);
  if (FATAL.has(event)) broken('crash', `${name}: ${event} ${text.slice(0, 2_000)}`);
  timeline.note(name, `${level} ${event} ${text.slice(0, 300)} ${String(msg ?? '').slice(0, 200)}`);
}
