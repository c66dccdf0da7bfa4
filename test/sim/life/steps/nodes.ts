/** Faults of nodes and of their machines. */
import { backUp, replaceDirectory, restoreDirectory } from '../disks.ts';
import type { Life, NodeChoice } from '../life.ts';
import type { LifeNode, NodeThread } from '../ports.ts';
import { type Draw, type StepKind, stepKind } from './kind.ts';

export const NODE_STEPS: Readonly<Record<string, StepKind>> = {
  kill: stepKind({
    weight: 8,
    draw: (draw) => ({
      node: draw.node(),
      forMs: draw.duration(),
      disk: draw.oneOf(['kept', 'kept', 'unsynced lost', 'torn']),
    }),
    apply(life, { node: choice, forMs, disk }) {
      const node = life.pick(choice);
      if (node.app === null) return;
      node.kill();
      const { disks, rng } = life.deps;
      if (disk !== 'kept') disks.loseUnsynced(node.directory, rng, disk === 'torn');
      life.hold(node, forMs, () => startAgain(life, node));
    },
  }),
  stop: stepKind({
    weight: 4,
    draw: (draw) => ({ node: draw.node(), forMs: draw.duration() }),
    apply(life, { node: choice, forMs }) {
      const node = life.pick(choice);
      if (node.app === null) return;
      const stopped = life.follow(`stop ${node.name}`, node.stop());
      life.hold(node, forMs, () => void stopped.then(() => startAgain(life, node)));
    },
  }),
  pause: stepKind({
    weight: 6,
    draw: (draw) => ({ node: draw.node(), forMs: draw.duration() }),
    apply(life, { node: choice, forMs }) {
      const node = life.pick(choice);
      if (node.app === null || node.isPaused) return;
      node.pause();
      const isWell = life.heldUp.add(node.name);
      // Killed meanwhile, it may have been paused again by another step.
      life.share(`${node.name} is paused`, forMs, () => {
        node.resume();
        isWell();
      });
    },
  }),
  killAll: stepKind({
    weight: 1,
    draw: (draw) => ({ forMs: draw.duration() }),
    apply(life, { forMs }) {
      for (const node of life.living) {
        node.kill();
        life.hold(node, forMs, () => startAgain(life, node));
      }
    },
  }),
  rolling: stepKind({
    weight: 2,
    alone: 3,
    draw: (draw) => ({
      forMs: 60_000,
      env: draw.oneOf<Readonly<Record<string, string>>>([
        { LEASE_MS: '2000' },
        { LEASE_MS: '5000' },
        { LEASE_MS: '10000' },
        { NATS_REPLICAS: '3' },
        { HORIZON_BLOCKS: '20' },
        { HORIZON_BLOCKS: '60' },
        { SNAPSHOT_EVERY: '100' },
        {},
      ]),
    }),
    apply: (life, { env, forMs }) => life.roll(env, forMs),
  }),
  directory: stepKind({
    weight: 2,
    draw: (draw) => ({
      node: draw.node(),
      what: draw.oneOf<Replacement>(['lost', 'older', 'other market']),
      forMs: draw.between(2_000, 30_000),
    }),
    apply: replace,
  }),
  /** As docs/backup.md says: while it is stopped. */
  backUp: stepKind({
    weight: 2,
    draw: (draw) => ({ node: draw.node() }),
    apply(life, { node: choice }) {
      const node = life.pick(choice);
      if (node.app === null) return;
      const copied = node.stop().then(() => backUp(node.directory));
      void life.follow(
        `back up ${node.name}`,
        copied.then(() => node.start()),
      );
    },
  }),
  join: stepKind({
    weight: 2,
    draw: (draw) => ({
      role: draw.oneOf(['any', 'reader', 'reader']),
      forMs: draw.between(20_000, 90_000),
    }),
    apply: (life, { role, forMs }) => void join(life, role, forMs),
  }),
  /** Another market on the same NATS, whose directory may be given to a node later. */
  secondMarket: stepKind({
    weight: 2,
    draw: (draw) => ({ forMs: draw.between(20_000, 60_000) }),
    apply: (life, { forMs }) => secondMarket(life, forMs, () => {}),
  }),
  /** A directory of another market, which was on the same NATS a moment ago, is given to a node. */
  foreignDirectory: stepKind({
    weight: 1,
    alone: 3,
    draw: (draw) => ({
      node: draw.node(),
      marketMs: draw.between(15_000, 30_000),
      forMs: draw.between(50_000, 80_000),
    }),
    apply(life, { node, marketMs, forMs }) {
      secondMarket(life, marketMs, () => {
        replace(life, { node, what: 'other market', forMs: forMs - marketMs });
      });
    },
  }),
  fullDisk: stepKind({
    weight: 3,
    alone: 3,
    draw: (draw) => ({ node: draw.node(), forMs: longer(draw) }),
    apply(life, { node: choice, forMs }) {
      const node = life.pick(choice);
      if (node.app === null) return;
      const { disks } = life.deps;
      disks.fill(node.directory);
      life.unfit(() => {
        life.share(`the disk of ${node.name} is full`, forMs, () => disks.free(node.directory));
      });
    },
  }),
  clockJump: stepKind({
    weight: 3,
    alone: 3,
    draw: (draw) => ({
      node: draw.node(),
      ms: draw.oneOf([-1, 1]) * draw.oneOf([500, 3_000, 60_000, 3_600_000]),
      forMs: longer(draw),
    }),
    apply(life, { node: choice, ms, forMs }) {
      const node = life.pick(choice);
      const { clocksAhead } = life;
      const setClock = (byMs: number) => {
        node.jumpClock(byMs);
        const aheadMs = (clocksAhead.get(node.name) ?? 0) + byMs;
        if (aheadMs === 0) clocksAhead.delete(node.name);
        else clocksAhead.set(node.name, aheadMs);
      };
      setClock(ms);
      life.unfit(() => life.during(forMs, () => setClock(-ms)));
    },
  }),
  clockDrift: stepKind({
    weight: 2,
    draw: (draw) => ({
      node: draw.node(),
      ppm: draw.oneOf([-1, 1]) * draw.between(50, 5_000),
      forMs: draw.duration(),
    }),
    apply(life, { node: choice, ppm, forMs }) {
      const node = life.pick(choice);
      node.driftClock(ppm);
      life.share(`the clock of ${node.name} drifts`, forMs, () => node.driftClock(0));
    },
  }),
  threadDies: stepKind({
    weight: 2,
    draw: (draw) => ({
      node: draw.node(),
      thread: draw.oneOf<NodeThread>(['ogmios', 'writer', 'builder']),
      forMs: draw.duration(),
    }),
    apply(life, { node: choice, thread, forMs }) {
      const node = life.pick(choice);
      if (node.app === null) return;
      node.killThread(thread);
      life.during(forMs, () => restart(life, node));
    },
  }),
  twin: stepKind({
    weight: 1,
    alone: 2,
    draw: (draw) => ({ node: draw.node(), forMs: draw.between(5_000, 30_000) }),
    apply(life, { node: choice, forMs }) {
      twin(life, choice, forMs);
    },
  }),
};

/** A node that joins for a while. Resolves when it serves, or cannot start. */
export async function join(life: Life, role: string, forMs: number): Promise<LifeNode> {
  const node = life.deps.newNode(life.newName());
  life.nodes.push(node);
  const started = life.follow(`start ${node.name}`, node.start({ ROLE: role }));
  life.during(forMs, () => {
    life.nodes.splice(life.nodes.indexOf(node), 1);
    if (node.app !== null) void life.follow(`stop ${node.name}`, node.stop());
    else node.kill();
  });
  await started;
  return node;
}

/** A disturbance longer than two leases has to end the lead. */
function longer(draw: Draw): number {
  return draw.oneOf([draw.duration(), draw.between(40_000, 70_000)]);
}

type Replacement = 'lost' | 'older' | 'other market';

function secondMarket(life: Life, forMs: number, stopped: () => void): void {
  const other = life.deps.newNode('other');
  void life.follow('start another market', other.start({ MARKET_NAME: 'second' }));
  life.during(forMs, () => {
    if (other.app === null) {
      other.kill();
      return;
    }
    const done = other.stop().then(() => {
      life.foreign = other.directory;
      stopped();
    });
    void life.follow('stop the other market', done);
  });
}

/** A directory of another market is refused; then the node gets its own back. */
function replace(
  life: Life,
  { node: choice, what, forMs }: { node: NodeChoice; what: Replacement; forMs: number },
): void {
  const node = life.pick(choice);
  const sources = { lost: null, older: `${node.directory}.older`, 'other market': life.foreign };
  const source = sources[what];
  if (node.app === null || (source === null && what !== 'lost')) return;
  node.kill();
  if (!replaceDirectory(node.directory, source) || what !== 'other market') {
    life.hold(node, forMs, () => startAgain(life, node));
    return;
  }
  const tried = life.follow(`start ${node.name}`, node.start());
  life.hold(node, forMs, () => {
    void tried.then(() => {
      if (node.app !== null) life.deps.broken('identity', `${node.name} took another market`);
      restoreDirectory(node.directory);
      startAgain(life, node);
    });
  });
}

/** A second process with the name of a living one does not start. */
function twin(life: Life, choice: NodeChoice, forMs: number): void {
  const node = life.pick(choice);
  if (node.app === null || node.isPaused) return;
  const { app } = node;
  // On another machine: faults of its connections leave the first node's connections alone.
  const other = life.deps.newNode(`${node.name}-twin`);
  void life.follow(`start ${other.name}`, other.start({ NODE_NAME: node.name }));
  life.during(forMs, () => {
    const isSecond = other.app !== null && node.app === app && node.ended === null;
    // Where something else held the first one up, the name may have been free for a while.
    if (isSecond && !life.isDisturbed) {
      life.deps.broken('identity', `two processes are ${node.name}`);
    }
    // It may still wait for its start, and would take the name later.
    other.kill();
  });
}

export function startAgain(life: Life, node: LifeNode): void {
  if (node.app !== null || life.isHeld(node)) return;
  void life.follow(`start ${node.name}`, node.start());
}

async function stopAndStart(node: LifeNode): Promise<void> {
  if (node.app !== null) await node.stop();
  await node.start();
}

function restart(life: Life, node: LifeNode): void {
  void life.follow(`restart ${node.name}`, stopAndStart(node));
}
