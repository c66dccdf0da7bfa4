/**
 * Our server with a feed of trades and, in the same process, a thread that works: the builder, or a
 * thread that only spins. Notes when each entry was applied, and how long the main loop was held.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import type { SlotConfig } from '../../src/cardano/codec/slots.ts';
import type { ThreadedBuilder } from '../../src/cardano/transactions/builderThreads.ts';
import type { TransactionPlan } from '../../src/cardano/transactions/plan.ts';
import { machineMs } from '../support/machineClock.ts';
import { type Due, Feed, type FeedOptions, startBenchApp } from '../support/marketApp.ts';
import { offer } from '../support/offers.ts';
import { pause } from '../support/pause.ts';
import { saturate, startBuilder } from '../support/saturate.ts';

export type BusyMarket = typeof offers;

/** The other work of the process. */
export type Strain = 'idle' | 'spin' | 'builder';

export interface Applied {
  readonly atMs: number;
  readonly seq: number;
  readonly marketMs: number;
}

export interface StrainWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly first: Due;
  readonly applied: readonly Applied[];
  readonly loop: LoopDelay;
  readonly builds: number;
}

export interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const app = await startBenchApp();
const trades = new Feed(app);
let applied: Applied[] = [];
app.node.onApplied(() => {
  applied.push({ atMs: machineMs(), ...at() });
});

function at() {
  return { seq: app.node.applied().seq, marketMs: app.node.fold.marketMs };
}

let builder: ThreadedBuilder | null = null;
let plans: readonly TransactionPlan[] = [];

/** Answers what ends the strain and tells how many builds it was. */
function strain(kind: Strain): () => Promise<number> {
  if (kind === 'idle') return async () => 0;
  if (kind === 'spin') {
    const spinning = new Worker('for (;;);', { eval: true });
    return async () => {
      await spinning.terminate();
      return 0;
    };
  }
  if (builder === null) throw new Error('no builder was started');
  let more = true;
  const building = saturate(builder, plans, () => more);
  return () => {
    more = false;
    return building;
  };
}

const offers = {
  port: () => app.port,
  feed: (options: FeedOptions) => trades.begin(options),
  rest: () => trades.rest(),
  async startBuilder(options: {
    readonly slots: SlotConfig;
    readonly plans: readonly TransactionPlan[];
  }): Promise<void> {
    plans = options.plans;
    builder = await startBuilder(options.slots);
  },
  /** A window under a strain, which lasts already `settleMs` when it begins. */
  async window(options: {
    readonly kind: Strain;
    readonly settleMs: number;
    readonly seconds: number;
  }): Promise<StrainWindow> {
    const release = strain(options.kind);
    await pause(options.settleMs);
    const { first } = trades;
    if (first === null) throw new Error('no feed runs');
    applied = [];
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const fromMs = machineMs();
    await pause(options.seconds * 1000);
    const toMs = machineMs();
    delay.disable();
    const builds = await release();
    const ms = (ns: number) => ns / 1e6;
    const [p50Ms, p99Ms] = [ms(delay.percentile(50)), ms(delay.percentile(99))];
    const loop = { p50Ms, p99Ms, maxMs: ms(delay.max) };
    return { fromMs, toMs, first, applied, loop, builds };
  },
};

offer(offers);
