/**
 * Who begins a log that is empty or lost while nodes start: the one that holds the lease, once all
 * who live had the time to say what they have. A node without a state leaves it to those with one.
 */
import type { MarketRecord } from '../engine/actors/marketRecord.ts';
import type { Log } from '../engine/log/port.ts';
import { type Clock, pause } from '../engine/runtime/clock.ts';
import { type Announcement, type Announcements, hasNewestState } from './nats/announcements.ts';
import type { Lease } from './nats/lease.ts';

export interface LogStartDeps {
  readonly name: string;
  readonly log: Log;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly announcements: Announcements;
  readonly record: MarketRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Before it is asked again; throws when that is given up. */
  pauseBeforeRetry(): Promise<void>;
}

/** A node says what it has as soon as it is connected again, which takes less than half of this. */
const ANNOUNCE_MS = 1_000;

/** Throws `OtherMarket` where the nodes that live under this name are another market's. */
export async function checkLivingNodes(starting: LogStartDeps): Promise<void> {
  const { lease, record } = starting;
  for (const { node, market } of await otherNodes({ ...starting, name: '' })) {
    if (market !== undefined) record.compare(market, `node ${node}, which runs under this name,`);
  }
  const holder = await lease.holder();
  if (holder === null || holder === 'unreachable') return;
  const { node, market } = holder;
  if (market !== undefined) record.compare(market, `node ${node}, which leads under this name,`);
}

/** The log has a first entry, or this node may write it. */
export async function waitUntilLogStarts(starting: LogStartDeps, hasState: boolean): Promise<void> {
  const { log, lease, pauseBeforeRetry: again } = starting;
  while ((await log.last()).seq === 0) {
    // Those who have a state begin it: taking the lease would only hold them up.
    const isLeft = !hasState && (await hasOtherLeaders(starting));
    if (!isLeft && (await lease.tryTake()) === 'taken') {
      if (hasState || (await noOtherCanStart(starting))) return;
      await lease.release();
    }
    await again();
  }
}

/** For a reader, which never begins a log. */
export async function waitUntilOthersStartLog(
  { log, pauseBeforeRetry: again }: LogStartDeps,
  waits: (error: unknown) => void,
): Promise<void> {
  while ((await log.last()).seq === 0) {
    waits(new Error('no node that may lead has begun this market yet'));
    await again();
  }
}

/** For a reader, which opens no epoch: it takes what the node that leads has. */
export async function waitForLeader({
  lease,
  pauseBeforeRetry: again,
}: LogStartDeps): Promise<false> {
  for (;;) {
    const holder = await lease.holder();
    if (holder !== null && holder !== 'unreachable') return false;
    await again();
  }
}

/** This node holds the lease, and nobody who is alive has more; false: another one leads. */
export async function leadsWithNewestState(
  starting: LogStartDeps,
  own: Announcement,
): Promise<boolean> {
  const { lease, announcements, pauseBeforeRetry: again } = starting;
  for (;;) {
    if ((await lease.tryTake()) === 'taken') {
      await waitForAnnouncements(starting);
      const others = await announcements.others(own.node);
      if (others !== 'unreachable' && hasNewestState(own, others) && lease.held) return true;
      await lease.release();
    }
    const holder = await lease.holder();
    if (holder !== null && holder !== 'unreachable' && holder.node !== own.node) return false;
    await again();
  }
}

async function noOtherCanStart(starting: LogStartDeps): Promise<boolean> {
  await waitForAnnouncements(starting);
  return !(await hasOtherLeaders(starting)) && starting.lease.held;
}

/** Readers wait themselves. */
async function hasOtherLeaders(starting: LogStartDeps): Promise<boolean> {
  return (await otherNodes(starting)).some(({ reader }) => reader !== true);
}

function waitForAnnouncements({ clock, leaseMs, signal }: LogStartDeps): Promise<void> {
  return pause(clock, Math.min(ANNOUNCE_MS, leaseMs / 2), signal);
}

/** Asks until there is an answer. */
export async function otherNodes({
  announcements,
  name,
  pauseBeforeRetry: again,
}: LogStartDeps): Promise<readonly Announcement[]> {
  for (;;) {
    const others = await announcements.others(name);
    if (others !== 'unreachable') return others;
    await again();
  }
}
