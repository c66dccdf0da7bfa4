/**
 * Our server with a chain, whole: doors, builder, ledger, follower, executor; no traders. Notes
 * when the market saw an order open and when it saw it closed.
 */

import { readTraderConfig } from '../../src/client/traders/config.ts';
import { type OrderRecord, readRecord } from '../../src/engine/store/records.ts';
import { machineMs } from '../support/machineClock.ts';
import { startBenchApp } from '../support/marketApp.ts';
import { offer } from '../support/offers.ts';
import { threadTimes } from '../support/threadNames.ts';

export type Devnet = typeof offers;

export interface Closed {
  /** `<tx>:<index>` of the order's output. */
  readonly id: string;
  readonly state: OrderRecord['state'];
  /** Transaction that closed it. */
  readonly by: string | null;
  readonly atMs: number;
}

/** CPU and memory of the process in a window. */
export interface Taken {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly threadMs: Readonly<Record<string, number>>;
}

const MOST_OPEN = 100_000;

const [, , blockEveryMs = '100'] = process.argv;
const quiet = { ...readTraderConfig(), wallets: 1, adaEach: 10, outputsEach: 1 };
const settings = { BLOCK_EVERY_MS: blockEveryMs, TRADERS_PACE: '0' };
const app = await startBenchApp(settings, { traders: quiet, pace: 0, seed: 1 });

let open = new Set<string>();
let closed: Closed[] = [];
let newest = 0;

app.node.onApplied(() => {
  const { store, marketMs } = app.node.fold;
  if (marketMs === newest) return;
  newest = marketMs;
  const atMs = machineMs();
  const rows = store.withPrefix('open_orders', '', MOST_OPEN);
  const now = new Set(rows.map(({ value }) => value));
  for (const id of open) {
    const text = now.has(id) ? null : store.get('orders', id);
    if (text === null) continue;
    const { state, closedTx } = readRecord<OrderRecord>(text);
    closed.push({ id, state, by: closedTx, atMs });
  }
  open = now;
});

let startMs = 0;
let startCpu = process.cpuUsage();
let startThreads: Readonly<Record<string, number>> = {};

const offers = {
  port: () => app.port,
  begin(): void {
    startMs = machineMs();
    startCpu = process.cpuUsage();
    startThreads = threadTimes();
  },
  end(): Taken {
    const { user, system } = process.cpuUsage(startCpu);
    const threads = Object.entries(threadTimes());
    const threadMs = threads.map(([name, ms]) => [name, ms - (startThreads[name] ?? 0)] as const);
    return {
      wallMs: machineMs() - startMs,
      cpuMs: (user + system) / 1000,
      threadMs: Object.fromEntries(threadMs),
    };
  },
  openOrders: () => open.size,
  /** Orders that ended since the last call. */
  take(): readonly Closed[] {
    const all = closed;
    closed = [];
    return all;
  },
};

offer(offers);
