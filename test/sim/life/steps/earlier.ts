/** Entries of the version before, and a directory of an epoch that is over. */
import { backUp, replaceDirectory } from '../disks.ts';
import type { Life, NodeChoice } from '../life.ts';
import type { LifeNode } from '../ports.ts';
import { type StepKind, stepKind } from './kind.ts';
import { MARKET } from './nats.ts';
import { startAgain } from './nodes.ts';

export const EARLIER_STEPS: Readonly<Record<string, StepKind>> = {
  /**
   * A node of the version before leads for a moment, as during an upgrade: its entries lie on other
   * subjects, and expect the id of the entry before them.
   */
  olderLeader: stepKind({
    weight: 2,
    alone: 2,
    draw: (draw) => ({
      version: draw.oneOf([3, 4]),
      entries: draw.between(1, 8),
      forMs: draw.between(5_000, 20_000),
    }),
    apply(life, { version, entries, forMs }) {
      const leader = life.pick('leader');
      if (leader.app === null || leader.isPaused) return;
      const led = leader.stop().then(() => life.deps.leadAs04(life, version, entries));
      const done = life.follow('a leader of the version before', led);
      // A calm may end this before the leader has stopped.
      life.hold(leader, forMs, () => {
        void done.then(() => startAgain(life, leader));
      });
    },
  }),
  /** A backup of a node, from before the log was lost, is put in the place of its directory. */
  restore: stepKind({
    weight: 1,
    alone: 3,
    draw: (draw) => ({
      node: draw.node(),
      losses: draw.oneOf([0, 1, 1, 2]),
      forMs: draw.between(70_000, 120_000),
    }),
    apply: restore,
  }),
};

function restore(
  life: Life,
  { node: choice, losses, forMs }: { node: NodeChoice; losses: number; forMs: number },
): void {
  const { nats, clock } = life.deps;
  const node = life.pick(choice);
  if (node.app === null || node.isPaused) return;
  void life.follow(`back up ${node.name}`, backedUp(node));
  for (let loss = 1; loss <= losses; loss += 1) {
    clock.after((loss * forMs) / (losses + 2), () => {
      nats.deleteStream(MARKET);
      life.lost();
    });
  }
  life.hold(node, forMs, () => {
    if (node.app !== null) node.kill();
    replaceDirectory(node.directory, `${node.directory}.older`);
    if (!life.isHeld(node)) void life.follow(`start ${node.name}`, node.start());
  });
}

async function backedUp(node: LifeNode): Promise<void> {
  await node.stop();
  backUp(node.directory);
  await node.start();
}
