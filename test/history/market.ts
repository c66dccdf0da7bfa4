/**
 * Thirty hours of the simulated traders in virtual time, with real signatures and the real ledger:
 * what `scripts/recordHistory.ts` writes into config/.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { readTraderConfig, type TraderConfig } from '../../src/traders/config.ts';
import { SimMarket } from '../sim/chain/simMarket.ts';
import { SimDisk } from '../sim/machine/simDisk.ts';
import { VirtualTime } from '../sim/machine/virtualTime.ts';
import { SimNode } from '../sim/node/simNode.ts';

const HOUR_MS = 3_600_000;
/** A block, and a slot: the devnet that takes the history in has slots of a second. */
export const RECORDED_SLOT_MS = 20_000;
/** Locks and waiting orders are over before the end; where one is not, take another seed. */
const LOCKS_END_MS = 3 * HOUR_MS;

/** A part of the recording: how long, and how the crowd is meanwhile. */
interface Phase {
  readonly hours: number;
  /** Mean time between turns. */
  readonly everyMs: number;
  readonly sellSharePercent: number;
  readonly buyAda: [number, number];
  readonly launchEverySeconds: number;
  readonly mostTokens: number;
}

/**
 * The last day follows hours in which the market rises: its tokens are older than the window of 24
 * hours, so their change of a day falls as often as it rises. The change of a younger token counts
 * from its launch, where the price of a curve is lowest.
 */
const RISE: Phase = {
  hours: 6,
  everyMs: 16_000,
  sellSharePercent: 33,
  buyAda: [10, 1_300],
  launchEverySeconds: 3_600,
  mostTokens: 7,
};
const DAY: Phase = {
  hours: 24,
  everyMs: 60_000,
  sellSharePercent: 58,
  buyAda: [5, 400],
  launchEverySeconds: 9_000,
  mostTokens: 14,
};

function crowdOf(config: TraderConfig, phase: Phase): TraderConfig {
  const { launches, orders, others } = config;
  const { everyMs, sellSharePercent, buyAda, launchEverySeconds, mostTokens } = phase;
  return {
    ...config,
    launches: { ...launches, everySeconds: launchEverySeconds, mostTokens },
    orders: { ...orders, everyMs, sellSharePercent, buyAda, limitSeconds: [600, 5_400] },
    others: { ...others, lockSeconds: [600, 5_400] },
  };
}

function withoutWaiting(config: TraderConfig): TraderConfig {
  const { orders, others } = config;
  return {
    ...config,
    orders: { ...orders, limitPercent: 0 },
    others: { ...others, lockPercent: 0, withdrawPercent: 100 },
  };
}

interface DayOptions {
  readonly seed: number;
  readonly refundAfterMs: number;
  say(text: string): void;
}

/** `look` sees the market and the node at the end, before both are taken down. */
export async function playDay<T>(
  { seed, refundAfterMs, say }: DayOptions,
  look: (market: SimMarket, node: SimNode, images: string) => Promise<T>,
): Promise<T> {
  const time = new VirtualTime();
  const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = mkdtempSync(join(base, 'upcurve-history-'));
  const disk = new SimDisk(time);
  const restore = [time.install(seededRng(seed)), disk.install()];
  const traders = readTraderConfig();
  const market = new SimMarket({ time, seed, paceMs: RECORDED_SLOT_MS, refundAfterMs, traders });
  market.devnet.start();
  const node = new SimNode({
    ...{ time, disk, name: 'a', directory: join(directory, 'a'), seed, env: market.env },
    chain: market.devnet,
    devnet: { traders, pace: 0, seed },
  });
  try {
    await time.settle(node.start(), 60_000);
    const acts = new Map<string, number>();
    market.onReport = (report) => {
      const name =
        report.kind === 'acted'
          ? report.action
          : `${report.kind} ${JSON.stringify(report).slice(0, 160)}`;
      acts.set(name, (acts.get(name) ?? 0) + 1);
    };
    const startMs = time.nowMs;
    let crowds = 0;
    const trade = async (config: TraderConfig, untilMs: number) => {
      // The same seed once more would launch tokens of the same names.
      const end = market.startCrowd(1, [node], config, seed + 1_000 * crowds);
      crowds += 1;
      while (time.nowMs < untilMs) {
        await time.run(Math.min(untilMs, time.nowMs + HOUR_MS / 2));
        const { height } = market.devnet.tip ?? { height: 0 };
        say(`${((time.nowMs - startMs) / HOUR_MS).toFixed(1)} h, block ${height}`);
      }
      end();
      await time.run(time.nowMs + 3 * RECORDED_SLOT_MS);
    };
    const dayMs = startMs + RISE.hours * HOUR_MS;
    const endMs = dayMs + DAY.hours * HOUR_MS;
    const day = crowdOf(traders, DAY);
    await trade(crowdOf(traders, RISE), dayMs);
    await trade(day, endMs - LOCKS_END_MS);
    await trade(withoutWaiting(day), endMs);
    await time.run(time.nowMs + 3 * RECORDED_SLOT_MS);
    for (const [name, count] of [...acts].sort()) say(`${count} ${name}`);
    return await look(market, node, join(directory, 'a', 'images'));
  } finally {
    node.kill();
    market.close();
    for (const take of restore.splice(0).toReversed()) take();
    rmSync(directory, { recursive: true, force: true });
  }
}
