/** Several disturbances at once, each in the moment in which it would hurt most. */
import type { Life } from '../life.ts';
import { type StepKind, stepKind } from './kind.ts';
import { cutOff, downOf, MARKET, slowDown } from './nats.ts';
import { startAgain } from './nodes.ts';

export const AIMED_STEPS: Readonly<Record<string, StepKind>> = {
  /**
   * A follower lags behind; then the leader dies, the log is lost or set back to the follower's
   * position, and only the third node has the later entries.
   */
  laggardAfterLoss: stepKind({
    weight: 2,
    alone: 3,
    draw: (draw) => ({
      lost: draw.oneOf(['all', 'the end', 'the end']),
      lagMs: draw.between(15_000, 60_000),
      forMs: draw.between(70_000, 120_000),
    }),
    apply: laggardAfterLoss,
  }),
  /** The log is lost, and who begins it again is slow, and frozen while it does. */
  frozenBegin: stepKind({
    weight: 2,
    alone: 3,
    draw: (draw) => ({
      slowMs: draw.oneOf([50, 300, 1_000]),
      delayMs: draw.between(500, 25_000),
      forMs: draw.between(40_000, 80_000),
    }),
    apply: frozenBegin,
  }),
  /** The bucket with the lease is lost while blocks come: for a moment two nodes may lead. */
  leaseLost: stepKind({
    weight: 2,
    alone: 2,
    draw: (draw) => ({
      everyMs: draw.oneOf([50, 100, 200]),
      blocks: draw.oneOf([1, 3]),
      slowMs: draw.oneOf([0, 50, 200, 600]),
    }),
    apply: leaseLost,
  }),
  /** Messages on their way to NATS are lost with the connection. */
  cutInFlight: stepKind({
    weight: 2,
    alone: 1,
    draw: (draw) => ({ afterMs: draw.between(50, 1_500), forMs: draw.between(300, 3_000) }),
    apply: cutInFlight,
  }),
  /** Orders wait for a block, and the leader hands over, or dies, before it comes. */
  handOver: stepKind({
    weight: 3,
    alone: 3,
    draw: (draw) => ({
      orders: draw.between(1, 4),
      seed: draw.between(1, 1_000_000),
      how: draw.oneOf<'stop' | 'kill'>(['stop', 'stop', 'kill']),
      afterMs: draw.between(500, 3_000),
      forMs: draw.between(20_000, 40_000),
    }),
    apply: handOver,
  }),
  /**
   * The leader's messages arrive nowhere, and blocks come. Another node leads; then the messages of
   * the first leader arrive, and lagging copies do not show the new leader yet.
   */
  lateWords: stepKind({
    weight: 2,
    alone: 3,
    draw: (draw) => ({
      way: draw.oneOf<'both' | 'in' | 'out'>(['out', 'out', 'both', 'in']),
      everyMs: draw.oneOf([200, 500]),
      leases: draw.oneOf([1, 1, 2]),
      lagMs: draw.oneOf([0, 10_000, 10_000]),
    }),
    apply: lateWords,
  }),
  /**
   * The leader alone has the newest entries, and is cut off; the log is lost, and another node
   * begins an epoch from less. Then the first one comes back.
   */
  furtherButCut: stepKind({
    weight: 1,
    alone: 3,
    draw: (draw) => ({ blocks: draw.between(1, 8), forMs: draw.between(50_000, 90_000) }),
    apply: furtherButCut,
  }),
  /** Clients ask again since positions that they had a while ago. */
  comeBack: stepKind({
    weight: 4,
    draw: () => ({}),
    apply: (life) => {
      for (const client of life.clients) client.goBack();
    },
  }),
  /** A client reads nothing for a while. */
  slowClient: stepKind({
    weight: 6,
    draw: (draw) => ({ client: draw.between(0, 9), forMs: draw.between(5_000, 60_000) }),
    apply(life, { client, forMs }) {
      const at = client % life.clients.length;
      const slow = life.clients[at];
      if (slow !== undefined) life.share(`client ${at} is slow`, forMs, slow.stopReading());
    },
  }),
};

/** Servers that come back with an older copy were down for so long. */
const DOWN_MS = 2_000;

function laggardAfterLoss(
  life: Life,
  { lost, lagMs, forMs }: { lost: string; lagMs: number; forMs: number },
): void {
  const [leader, follower] = [life.pick('leader'), life.pick('follower')];
  const areWell = leader.app !== null && follower.app !== null;
  if (!areWell || leader === follower || leader.isPaused || follower.isPaused) return;
  // If another step stops a node meanwhile, that node may be the only one that knows the end.
  if (life.isDisturbed) return;
  const { nats, clock, settings } = life.deps;
  const copy = nats.copy();
  follower.pause();
  const isWell = life.heldUp.add(follower.name);
  const servers = Array.from({ length: settings.natsServers }, (_, at) => at);
  let isLost = false;
  const lose = () => {
    if (isLost) return;
    isLost = true;
    if (leader.app !== null) leader.kill();
    if (lost === 'all') nats.deleteStream(MARKET);
    else {
      for (const server of servers) nats.killServer(server, 0);
      nats.restore(copy);
      for (const server of servers) {
        life.share(downOf(server), DOWN_MS, () => {
          nats.startServer(server);
          life.lost();
        });
      }
    }
    life.lost();
    follower.resume();
    isWell();
  };
  clock.after(Math.min(lagMs, forMs), lose);
  life.hold(leader, forMs, () => {
    lose();
    if (leader.app === null && !life.isHeld(leader)) {
      void life.follow(`start ${leader.name}`, leader.start());
    }
  });
}

/** The leader appends meanwhile. */
const AHEAD_MS = 1_500;

function furtherButCut(life: Life, { blocks, forMs }: { blocks: number; forMs: number }): void {
  const leader = life.pick('leader');
  // A node that something else holds up may be the only one that the others do not hear.
  if (leader.app === null || leader.isPaused || life.isDisturbed) return;
  const { nats, chain, clock } = life.deps;
  const others = life.living.filter((node) => node !== leader);
  for (const node of others) node.kill();
  chain.mine(blocks);
  let isOver = false;
  const lose = () => {
    if (isOver) return;
    isOver = true;
    cutOff(life, leader.name, 'both', forMs);
    nats.deleteStream(MARKET);
    life.lost();
  };
  clock.after(AHEAD_MS, lose);
  for (const node of others) {
    life.hold(node, AHEAD_MS + 1, () => {
      lose();
      if (node.app === null) void life.follow(`start ${node.name}`, node.start());
    });
  }
}

/** The leader stays away longer than any lease. */
function handOver(
  life: Life,
  {
    orders,
    seed,
    how,
    afterMs,
    forMs,
  }: { orders: number; seed: number; how: 'stop' | 'kill'; afterMs: number; forMs: number },
): void {
  const { chain, clock } = life.deps;
  const [leader, follower] = [life.pick('leader'), life.pick('follower')];
  if (leader.app === null || leader.isPaused || chain.tokens.length === 0) return;
  for (let at = 0; at < orders; at += 1) {
    const choice = { trader: seed + at, token: seed + at, amount: 5 + at, kind: 'buy' } as const;
    void chain.trade(choice, follower);
  }
  let ended = Promise.resolve();
  const stop = clock.after(afterMs, () => {
    if (leader.app === null) return;
    if (how === 'kill') leader.kill();
    else ended = life.follow(`stop ${leader.name}`, leader.stop());
    life.disturbed();
  });
  // A calm may end this before the leader stops, or before it has stopped.
  life.hold(leader, afterMs + forMs, () => {
    stop.cancel();
    void ended.then(() => startAgain(life, leader));
  });
}

interface LateWords {
  readonly [field: string]: string | number;
  readonly way: 'both' | 'in' | 'out';
  /** Between blocks. */
  readonly everyMs: number;
  readonly leases: number;
  readonly lagMs: number;
}

function lateWords(life: Life, { way, everyMs, leases, lagMs }: LateWords): void {
  const { nats, chain, clock, settings } = life.deps;
  const { name } = life.pick('leader');
  const forMs = Math.round(1.5 * leases * life.leaseMs);
  cutOff(life, name, way, forMs);
  for (let at = 0; at < settings.natsServers; at += 1) {
    nats.lagServer(at, lagMs);
    life.share(`server ${at} lags`, forMs + lagMs, () => nats.lagServer(at, 0));
  }
  const untilMs = clock.monotonicMs() + forMs;
  const mine = () => {
    if (clock.monotonicMs() > untilMs) return;
    chain.mine(1);
    clock.after(everyMs, mine);
  };
  mine();
}

const BURST_MS = 5_000;

function leaseLost(
  life: Life,
  { everyMs, blocks, slowMs }: { everyMs: number; blocks: number; slowMs: number },
): void {
  const { nats, clock, chain } = life.deps;
  const { name } = life.pick('leader');
  // Blocks wait for the ones before, and are sent several at a time.
  if (slowMs > 0) slowDown(life, name, slowMs, 2 * BURST_MS);
  const lose = () => {
    nats.deleteStream(`KV_${MARKET}-nodes`);
    life.lost();
  };
  clock.after(BURST_MS / 2, lose);
  const untilMs = clock.monotonicMs() + BURST_MS;
  const mine = () => {
    if (clock.monotonicMs() > untilMs) return;
    chain.mine(blocks);
    clock.after(everyMs, mine);
  };
  mine();
}

/** No acknowledged message is lost. */
function cutInFlight(life: Life, { afterMs, forMs }: { afterMs: number; forMs: number }): void {
  const { nats, clock, chain, settings } = life.deps;
  const servers = Array.from({ length: settings.natsServers }, (_, at) => at);
  for (const server of servers) nats.freezeServer(server);
  chain.mine(1);
  let isCut = false;
  const cut = () => {
    if (isCut) return;
    isCut = true;
    for (const server of servers) {
      nats.killServer(server, 0);
      nats.thawServer(server);
    }
  };
  clock.after(afterMs, cut);
  for (const server of servers) {
    life.share(downOf(server), afterMs + forMs, () => {
      cut();
      nats.startServer(server);
    });
  }
}

function frozenBegin(
  life: Life,
  { slowMs, delayMs, forMs }: { slowMs: number; delayMs: number; forMs: number },
): void {
  const leader = life.pick('leader');
  if (leader.app === null || leader.isPaused) return;
  const { nats, clock } = life.deps;
  slowDown(life, leader.name, slowMs, forMs);
  nats.deleteStream(MARKET);
  const isWell = life.heldUp.add(leader.name);
  life.lost();
  let isOver = false;
  clock.after(delayMs, () => {
    if (leader.app !== null && !leader.isPaused && !isOver) leader.pause();
  });
  life.share(`${leader.name} is paused`, forMs, () => {
    isOver = true;
    isWell();
    leader.resume();
    life.lost();
  });
}
