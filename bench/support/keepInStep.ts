import type { MovingMarket } from '../processes/movingMarket.ts';
import type { SyncingNode } from '../processes/syncingNode.ts';
import { pause } from './pause.ts';
import type { Process } from './processes.ts';

const STEP_MS = 100;

/** Tells the market how far its server is, until `stop`; a late report only slows it down. */
export function keepInStep(market: Process<MovingMarket>, node: Process<SyncingNode>) {
  let isOver = false;
  const run = async () => {
    while (!isOver) {
      await market.ask('followed', await node.ask('height'));
      await pause(STEP_MS);
    }
  };
  const running = run();
  return {
    stop(): Promise<void> {
      isOver = true;
      return running;
    },
  };
}
