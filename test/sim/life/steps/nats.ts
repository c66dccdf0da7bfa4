/** What happens between nodes and NATS, and inside it. */
import type { Life } from '../life.ts';
import { type StepKind, stepKind } from './kind.ts';

/** Of the market that all runs have; see `MARKET` in nodes' settings. */
export const MARKET = 'sim';
export const STREAMS = [MARKET, `KV_${MARKET}-nodes`, `OBJ_${MARKET}-files`] as const;

export const NATS_STEPS: Readonly<Record<string, StepKind>> = {
  partition: stepKind({
    weight: 8,
    draw: (draw) => ({
      node: draw.node(),
      way: draw.oneOf<'both' | 'in' | 'out'>(['both', 'both', 'in', 'out']),
      forMs: draw.duration(),
    }),
    apply(life, { node: choice, way, forMs }) {
      const { name } = life.pick(choice);
      life.deps.nats.partition(name, way);
      life.cutSince.set(name, life.deps.clock.monotonicMs());
      life.during(forMs, () => {
        life.deps.nats.heal(name);
        life.cutSince.delete(name);
      });
    },
  }),
  slow: stepKind({
    weight: 3,
    draw: (draw) => ({ node: draw.node(), ms: draw.between(20, 1_500), forMs: draw.duration() }),
    apply(life, { node: choice, ms, forMs }) {
      const { name } = life.pick(choice);
      life.deps.nats.slow(name, ms);
      life.heldUp.add(name);
      life.during(forMs, () => {
        life.deps.nats.heal(name);
        life.heldUp.delete(name);
      });
    },
  }),
  duplicate: stepKind({
    weight: 2,
    draw: (draw) => ({ node: draw.node(), percent: draw.between(5, 50), forMs: draw.duration() }),
    apply(life, { node: choice, percent, forMs }) {
      const { name } = life.pick(choice);
      life.deps.nats.duplicate(name, percent / 100);
      life.heldUp.add(name);
      life.during(forMs, () => {
        life.deps.nats.heal(name);
        life.heldUp.delete(name);
      });
    },
  }),
  drop: stepKind({
    weight: 3,
    draw: (draw) => ({ node: draw.node(), percent: draw.between(5, 50), forMs: draw.duration() }),
    apply(life, { node: choice, percent, forMs }) {
      const { name } = life.pick(choice);
      life.deps.nats.drop(name, percent / 100);
      life.heldUp.add(name);
      life.during(forMs, () => {
        life.deps.nats.heal(name);
        life.heldUp.delete(name);
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
      life.during(forMs, () => {
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
      life.during(forMs, () => life.deps.nats.thawServer(at));
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
      life.during(forMs, () => life.deps.nats.lagServer(at, 0));
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

/** All servers come back with what they stored `forMs` before. */
function olderNats(life: Life, { forMs, downMs }: { forMs: number; downMs: number }): void {
  const { nats, settings } = life.deps;
  const copy = nats.copy();
  const servers = Array.from({ length: settings.natsServers }, (_, at) => at);
  life.during(forMs, () => {
    for (const server of servers) nats.killServer(server, 0);
    nats.restore(copy);
    life.during(downMs, () => {
      for (const server of servers) nats.startServer(server);
      life.lost();
    });
  });
}
