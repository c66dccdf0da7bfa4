/** Several disturbances at once, each in the moment in which it would hurt most. */
import type { Life } from '../life.ts';
import { type StepKind, stepKind } from './kind.ts';
import { MARKET } from './nats.ts';

export const AIMED_STEPS: Readonly<Record<string, StepKind>> = {
  /**
   * A follower lags behind; then the leader dies, the log is lost, or is again as the follower knew
   * it, and the third node alone knows what came after.
   */
  laggardAfterLoss: stepKind({
    weight: 2,
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
    draw: (draw) => ({
      slowMs: draw.oneOf([50, 300, 1_000]),
      delayMs: draw.between(500, 25_000),
      forMs: draw.between(40_000, 80_000),
    }),
    apply: frozenBegin,
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
      const slow = life.clients[client % life.clients.length];
      if (slow !== undefined) life.during(forMs, slow.stopReading());
    },
  }),
};

function laggardAfterLoss(
  life: Life,
  { lost, lagMs, forMs }: { lost: string; lagMs: number; forMs: number },
): void {
  const [leader, follower] = [life.pick('leader'), life.pick('follower')];
  const areWell = leader.app !== null && follower.app !== null;
  if (!areWell || leader === follower || leader.isPaused || follower.isPaused) return;
  const { nats, clock, settings } = life.deps;
  const copy = nats.copy();
  follower.pause();
  life.heldUp.add(follower.name);
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
      for (const server of servers) nats.startServer(server);
    }
    life.lost();
    follower.resume();
    life.heldUp.delete(follower.name);
  };
  clock.after(Math.min(lagMs, forMs), lose);
  life.hold(leader, forMs, () => {
    lose();
    if (leader.app === null && !life.isHeld(leader)) {
      void life.follow(`start ${leader.name}`, leader.start());
    }
  });
}

function frozenBegin(
  life: Life,
  { slowMs, delayMs, forMs }: { slowMs: number; delayMs: number; forMs: number },
): void {
  const leader = life.pick('leader');
  if (leader.app === null || leader.isPaused) return;
  const { nats, clock } = life.deps;
  nats.slow(leader.name, slowMs);
  nats.deleteStream(MARKET);
  life.heldUp.add(leader.name);
  life.lost();
  clock.after(delayMs, () => {
    if (leader.app !== null && !leader.isPaused && life.heldUp.has(leader.name)) leader.pause();
  });
  life.during(forMs, () => {
    life.heldUp.delete(leader.name);
    nats.heal(leader.name);
    if (leader.isPaused) leader.resume();
    life.lost();
  });
}
