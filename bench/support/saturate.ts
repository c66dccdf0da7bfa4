/** Keeps a builder of one thread busy: one build runs, the next ones wait. */

import type { SlotConfig } from '../../src/cardano/codec/slots.ts';
import { ThreadedBuilder } from '../../src/cardano/transactions/builderThreads.ts';
import type { TransactionPlan } from '../../src/cardano/transactions/plan.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { PARAMETERS } from '../../test/support/parameters.ts';

const AT_ONCE = 4;

export async function startBuilder(slots: SlotConfig): Promise<ThreadedBuilder> {
  const limits = { threads: 1 };
  const parameters = PARAMETERS;
  const builder = new ThreadedBuilder({ clock: systemClock, parameters, slots, limits });
  await builder.start();
  return builder;
}

/** Builds the plans in turn as long as `more` says; answers how many were built. */
export async function saturate(
  builder: ThreadedBuilder,
  plans: readonly TransactionPlan[],
  more: () => boolean,
): Promise<number> {
  let started = 0;
  const lane = async () => {
    while (more()) {
      const plan = plans[started % plans.length];
      started += 1;
      if (plan === undefined) throw new Error('no plan to build');
      const outcome = await builder.build(plan);
      if (outcome instanceof Failure || outcome.outcome === 'refused') {
        throw new Error(outcome.message);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return started;
}
