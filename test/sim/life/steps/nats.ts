/** Faults between nodes and NATS, and inside NATS. */
import type { Life } from '../life.ts';
import { type StepKind, stepKind } from './kind.ts';

/** Name of the market in all runs; see `MARKET` in nodes' settings. */
export const MARKET = 'sim';
export const LEASE_STREAM = `KV_${MARKET}-nodes`;
export const STREAMS = [MARKET, LEASE_STREAM, `OBJ_${MARKET}-files`] as const;

export const NATS_STEPS: Readonly<Record<string, StepKind>> = {
  partition: stepKind({
    weight: 8,
    draw: (draw) => ({
      node: draw.node(),
      way: draw.oneOf<'both' | 'in' | 'out'>(['both', 'both', 'in', 'out']),
      forMs: draw.duration(),
    }),
    apply(life, { node: choice, way, forMs }) {
      cutOff(life, life.pick(choice).name, way, forMs);
    },
  }),
  slow: stepKind({
    weight: 3,
    draw: (draw) => ({ node: draw.node(), ms: draw.between(20, 1_500), forMs: draw.duration() }),
    apply(life, { node: choice, ms, forMs }) {
      slowDown(life, life.pick(choice).name, ms, forMs);
    },
  }),
  duplicate: stepKind({
    weight: 2,
    draw: (draw) => ({ node: draw.node(), percent: draw.between(5, 50), forMs: draw.duration() }),
    apply(life, { node: choice, percent, forMs }) {
      const { name } = life.pick(choice);
      const { nats } = life.deps;
      nats.duplicate(name, percent / 100);
      const isWell = life.heldUp.add(name);
      life.share(`${name} hears twice`, forMs, () => {
        nats.duplicate(name, 0);
        isWell();
      });
    },
  }),
  drop: stepKind({
    weight: 3,
    draw: (draw) => ({ node: draw.node(), percent: draw.between(5, 50), forMs: draw.duration() }),
    apply(life, { node: choice, percent, forMs }) {
      const { name } = life.pick(choice);
      const { nats } = life.deps;
      nats.drop(name, percent / 100);
      const isWell = life.heldUp.add(name);
      life.share(`${name} misses messages`, forMs, () => {
        nats.drop(name, 0);
        isWell();
      });
    },
  }),
  killNats: stepKind({
    weight: 4,
    draw: (draw) => ({
      server: draw.between(0, 2),
      loseLastMs: draw.oneOf([0, 0, 100, 2_000, 20_000]),
      forMs: draw.duration(),
    }),
    apply(life, { server, loseLastMs, forMs }) {
      const at = server % life.deps.settings.natsServers;
      life.deps.nats.killServer(at, loseLastMs);
      life.share(downOf(at), forMs, () => {
        life.deps.nats.startServer(at);
        if (loseLastMs > 0) life.lost();
      });
    },
  }),
  freezeNats: stepKind({
    weight: 3,
    draw: (draw) => ({ server: draw.between(0, 2), forMs: draw.duration() }),
    apply(life, { server, forMs }) {
      const at = server % life.deps.settings.natsServers;
      life.deps.nats.freezeServer(at);
      life.share(`server ${at} is frozen`, forMs, () => life.deps.nats.thawServer(at));
    },
  }),
  lag: stepKind({
    weight: 3,
    alone: 3,
    draw: (draw) => ({
      server: draw.between(0, 2),
      ms: draw.oneOf([draw.between(200, 20_000), 600_000]),
      forMs: draw.oneOf([draw.duration(), draw.between(40_000, 90_000)]),
    }),
    apply(life, { server, ms, forMs }) {
      const at = server % life.deps.settings.natsServers;
      const isAlone = !life.isDisturbed;
      life.deps.nats.lagServer(at, ms);
      life.share(`server ${at} lags`, forMs, () => life.deps.nats.lagServer(at, 0));
      if (isAlone) life.onlyLagsSinceMs = life.deps.clock.monotonicMs();
    },
  }),
  consumers: stepKind({
    weight: 3,
    draw: (draw) => ({ how: draw.oneOf<'vanish' | 'mute'>(['vanish', 'mute']) }),
    apply(life, { how }) {
      life.deps.nats.loseConsumers(how);
      life.disturbed();
    },
  }),
  stranger: stepKind({
    weight: 1,
    draw: (draw) => ({ text: draw.oneOf(['no entry', '{}', '']) }),
    apply(life, { text }) {
      life.deps.nats.publish(`${MARKET}.entry.time`, text);
      life.lost();
    },
  }),
  damage: stepKind({
    weight: 1,
    draw: (draw) => ({ back: draw.between(1, 200) }),
    apply(life, { back }) {
      const { nats } = life.deps;
      nats.damage(MARKET, Math.max(1, nats.lastSeq(MARKET) - back));
      life.lost();
    },
  }),
  deleteStream: stepKind({
    weight: 1,
    draw: (draw) => ({ stream: draw.oneOf(STREAMS) }),
    apply(life, { stream }) {
      life.deps.nats.deleteStream(stream);
      life.lost();
    },
  }),
  purge: stepKind({
    weight: 1,
    draw: (draw) => ({ stream: draw.oneOf(STREAMS), keep: draw.oneOf([0, 1, 10]) }),
    apply(life, { stream, keep }) {
      const { nats } = life.deps;
      nats.purge(stream, Math.max(0, nats.lastSeq(stream) - keep));
      life.lost();
    },
  }),
  olderNats: stepKind({
    weight: 1,
    draw: (draw) => ({ forMs: draw.between(2_000, 60_000), downMs: draw.between(100, 15_000) }),
    apply: olderNats,
  }),
};

/** The server is down until the last step that shares this name is over; see `Life.share`. */
export function downOf(server: number): string {
  return `server ${server} is down`;
}

export function cutOff(life: Life, name: string, way: 'both' | 'in' | 'out', forMs: number): void {
  const { nats } = life.deps;
  nats.partition(name, way);
  for (const each of way === 'both' ? (['in', 'out'] as const) : [way]) {
    const reached = life.cut.add(name);
    life.share(`${name} is cut off, ${each}`, forMs, () => {
      nats.endPartition(name, each);
      reached();
    });
  }
}

/** All messages of a node take this much longer. */
export function slowDown(life: Life, name: string, ms: number, forMs: number): void {
  const { nats } = life.deps;
  nats.slow(name, ms);
  const isWell = life.heldUp.add(name);
  life.share(`${name} is slow`, forMs, () => {
    nats.slow(name, 0);
    isWell();
  });
}

/** All servers come back with their content of `forMs` before. */
function olderNats(life: Life, { forMs, downMs }: { forMs: number; downMs: number }): void {
  const { nats, settings } = life.deps;
  const copy = nats.copy();
  const servers = Array.from({ length: settings.natsServers }, (_, at) => at);
  life.during(forMs, () => {
    for (const server of servers) nats.killServer(server, 0);
    nats.restore(copy);
    for (const server of servers) {
      life.share(downOf(server), downMs, () => {
        nats.startServer(server);
        life.lost();
      });
    }
  });
}
