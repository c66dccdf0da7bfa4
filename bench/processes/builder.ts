/** The builder as the app has it: a pool of one thread. Plans come from outside. */

import type { SlotConfig } from '../../src/cardano/codec/slots.ts';
import type { BuilderPool, BuilderState } from '../../src/cardano/transactions/builderThreads.ts';
import type { TransactionPlan } from '../../src/cardano/transactions/plan.ts';
import { offer } from '../support/offers.ts';
import { saturate, startBuilder } from '../support/saturate.ts';
import { type Done, lasting, measureWork } from '../support/work.ts';

export type BuilderProcess = typeof offers;

let pool: BuilderPool | null = null;

function started(): BuilderPool {
  if (pool === null) throw new Error('the builder was not started');
  return pool;
}

const offers = {
  async start(slots: SlotConfig): Promise<void> {
    pool = await startBuilder(slots);
  },
  build({ plan, seconds }: { readonly plan: TransactionPlan; readonly seconds: number }) {
    return measureWork(() => saturate(started(), [plan], lasting(seconds)));
  },
  /** Runs the given number of builds, the plans in turn. */
  buildMany({
    plans,
    count,
  }: {
    readonly plans: readonly TransactionPlan[];
    readonly count: number;
  }): Promise<Done> {
    let left = count;
    const more = () => {
      left -= 1;
      return left >= 0;
    };
    return measureWork(() => saturate(started(), plans, more));
  },
  /** CPU and memory of the whole process, without forcing a garbage collection. */
  state(): BuilderState & { readonly rssBytes: number } {
    return { ...started().state(), rssBytes: process.memoryUsage.rss() };
  },
};

offer(offers);
