/** The executor on a real network: it begins once the chain was caught up with. */

import { Executor, type ExecutorDeps } from '../../chain/executor/executor.ts';
import { FundingUtxos } from '../../chain/executor/fundingUtxos.ts';
import type { Node } from '../../engine/actors/node.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Service } from '../../engine/runtime/service.ts';

/** `place` is asked for when it begins; null: not yet. */
export function startExecutorWhenReady(
  node: Node,
  place: () => Omit<ExecutorDeps, 'funding' | 'onApplied'> | null,
  events: Events,
): Service {
  let executor: Executor | null = null;
  let unlisten = () => {};
  const begin = () => {
    const ready = place();
    if (ready === null || executor !== null) return;
    unlisten();
    const funding = new FundingUtxos(ready.utxos, ready.deployment);
    const onApplied = (listener: () => void) => node.onApplied(listener);
    executor = new Executor({ ...ready, funding, onApplied }, events);
    executor.start();
  };
  return {
    name: 'executor',
    start: () => {
      unlisten = node.onApplied(begin);
      begin();
    },
    stop: async () => {
      unlisten();
      await executor?.stop();
    },
  };
}
