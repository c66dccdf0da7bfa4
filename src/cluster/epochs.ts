/**
 * Which log a node follows, and which node starts one. A node compares its state with the log; when
 * they do not match, only a leader opens a new epoch, from its state, and the other nodes adopt
 * that epoch. While nodes start, the holder of the lease starts a log that is empty or lost, once
 * every living node had the time to announce its state.
 *
 * A leader also audits the stored log. It has the entries in memory and would not notice damage,
 * but a node that is behind could not get past a damaged entry.
 */

import type { MarketRecord } from '../engine/fold/marketRecord.ts';
import type { Log } from '../engine/log/port.ts';
import type { Node } from '../engine/node/node.ts';
import type { DataFiles } from '../engine/recovery/dataFiles.ts';
import { isInLog, restartLog } from '../engine/recovery/recovery.ts';
import { marketOfLog } from '../engine/recovery/sameMarket.ts';
import { Fault, isFault } from '../engine/runtime/assert.ts';
import { type Clock, pause } from '../engine/runtime/clock.ts';
import { isOtherMarket } from '../engine/runtime/marketIdentity.ts';
import { epochNumber, type Position } from '../engine/runtime/position.ts';
import type { Rng } from '../engine/runtime/rng.ts';
import type { Checkpoint } from '../engine/store/state.ts';
import type { JetstreamLog } from './log/jetstream.ts';
import { type Announcement, type Announcements, hasNewestState } from './nats/announcements.ts';
import type { Lease } from './nats/lease.ts';

interface EpochsDeps {
  readonly name: string;
  readonly log: Log &
    Pick<JetstreamLog, 'check'> &
    Partial<Pick<JetstreamLog, 'audit' | 'endsWith' | 'isDamaged'>>;
  readonly node: Node;
  readonly files: DataFiles;
  readonly rng: Rng;
  /** The market of the data directory. */
  readonly market: MarketRecord;
  /** Another market started the log, so this node cannot use it. */
  otherMarket(error: Error): void;
  /** Makes the log's stream where it is missing. */
  ensureStream(): Promise<unknown>;
  /** Announcements of the other living nodes. */
  others(): Promise<readonly Announcement[]>;
  /** The announcements that were heard, without a request to NATS. Absent: none. */
  heard?(): readonly Announcement[];
  /** Gives all nodes the state that an epoch starts from. */
  publishBase(epoch: string): Promise<void>;
  epochStarted(epoch: string, reason: string): void;
}

/** null: the node has no state yet. */
export function announcementOf(name: string, node: Node): Announcement | null {
  const { checkpoint } = node.fold.store;
  if (checkpoint === null) return null;
  const { epoch, term, seq } = checkpoint;
  return { node: name, epoch, term, seq };
}

/** Entries of one audit step; an entry may have 1 MB. */
const AUDIT_ENTRIES = 64;
/** Steps between two audits of the whole log, 100 s with the default lease. */
const AUDIT_RESTS = 60;

export class Epochs {
  readonly #deps: EpochsDeps;
  #auditFrom = 1;
  /** Steps until the whole log is audited again. */
  #rests = 0;
  /** Positions of the nodes that were behind at the last audit step, by name. */
  #positionsBefore: ReadonlyMap<string, number> = new Map();
  /** Position of the stalled node that was audited last. */
  #stalledAt = 0;
  /** An entry that could not be read, or is missing. */
  #damaged: { readonly epoch: string; readonly seq: number } | null = null;
  /** A node's position that the log did not have at the last look. That node may be silent now. */
  #lacking: Position | null = null;

  constructor(deps: EpochsDeps) {
    this.#deps = deps;
  }

  /**
   * The log holds the last entry that this node applied, or begins right behind it. Throws when
   * NATS gives no answer.
   */
  async logHasOurState(): Promise<boolean> {
    const { log, node } = this.#deps;
    const { checkpoint } = node.fold.store;
    if (checkpoint === null) return true;
    const { seq, entryHash: hash, epoch } = checkpoint;
    if (node.hasDiverged || (await this.#isStillDamaged(epoch))) return false;
    const found = await log.check({ seq, hash, epoch });
    if (found === 'unreachable') throw new Fault('natsSilent', 'the log gives no answer');
    return found === 'same' || (found === 'trimmed' && (await isInLog(checkpoint, log)));
  }

  /**
   * The seq of this node's last entry, where it is the log's last one as well: that takes one
   * request. null: `logHasOurState` has to look closer. Throws when NATS gives no answer.
   */
  async commonEnd(): Promise<number | null> {
    const { log, node } = this.#deps;
    const { checkpoint } = node.fold.store;
    if (checkpoint === null || node.hasDiverged) return null;
    const { seq, entryHash: hash, epoch } = checkpoint;
    if (this.#damaged?.epoch === epoch) return null;
    return (await log.endsWith?.({ seq, hash, epoch })) === true ? seq : null;
  }

  /**
   * The log ends before a position that another node has announced, in this epoch or a later one:
   * it was shortened, and appending to it would put other entries where those were.
   */
  async isLogShortened(): Promise<boolean> {
    const { log, node, others } = this.#deps;
    const { epoch } = node.applied();
    const known = await others();
    // Read after the announcements: every position in them was in the log before.
    const end = await log.last();
    const endNumber = epochNumber(end.epoch ?? epoch);
    const isLacking = (there: Position) =>
      there.epoch === epoch ? there.seq > end.seq : epochNumber(there.epoch) > endNumber;
    const before = this.#lacking === null ? [] : [this.#lacking];
    this.#lacking = [...known, ...before].find(isLacking) ?? null;
    return this.#lacking !== null;
  }

  /**
   * Audits the next piece of the log, and the next entries for one node that is behind and does not
   * move: another such node each time, so that a step costs the same for two and for fifty. Rests
   * between the end of the log and its beginning: damage there keeps only such nodes back. Answers
   * the seq of an entry that is damaged or missing. Call it again and again.
   */
  async auditNext(): Promise<number | null> {
    const { log, node } = this.#deps;
    if (log.audit === undefined) return null;
    const { epoch, seq } = node.applied();
    const stalled = this.#nextStalled(epoch, seq);
    const pieces = stalled === null ? [] : [stalled];
    if (this.#rests === 0) pieces.push(this.#auditFrom);
    else this.#rests -= 1;
    for (const from of pieces) {
      const found = await log.audit(from, AUDIT_ENTRIES);
      // A new epoch that started meanwhile is another log.
      if (node.applied().epoch !== epoch) return null;
      if (found.audited === 'damaged') {
        this.#damaged = { epoch, seq: found.seq };
        return found.seq;
      }
      if (from !== this.#auditFrom) continue;
      this.#auditFrom = found.atEnd ? 1 : found.nextSeq;
      if (found.atEnd) this.#rests = AUDIT_RESTS;
    }
    return null;
  }

  /** Position of a node that is behind and did not move since the last step; null: none. */
  #nextStalled(epoch: string, seq: number): number | null {
    const { heard = () => [] } = this.#deps;
    const behind = heard().filter((other) => other.epoch === epoch && other.seq < seq);
    const before = this.#positionsBefore;
    this.#positionsBefore = new Map(behind.map((other) => [other.node, other.seq]));
    const stalled = behind
      .filter((other) => before.get(other.node) === other.seq)
      .map((other) => Math.max(1, other.seq))
      .sort((a, b) => a - b);
    // The next stalled node behind the entries of the last step, then the lowest again.
    const next = stalled.find((at) => at >= this.#stalledAt + AUDIT_ENTRIES) ?? stalled[0] ?? null;
    if (next !== null) this.#stalledAt = next;
    return next;
  }

  /** Asks again about known damage, so that a repaired log is accepted. */
  async #isStillDamaged(epoch: string): Promise<boolean> {
    const known = this.#damaged;
    if (known?.epoch !== epoch) return false;
    if ((await this.#deps.log.isDamaged?.(known.seq)) === false) this.#damaged = null;
    return this.#damaged !== null;
  }

  /** The log is this market's, and neither it nor a living node has a newer state. */
  async mayOpenEpoch(): Promise<boolean> {
    const { node, name, others, log } = this.#deps;
    if (!(await this.#isOurMarket())) return false;
    const own = announcementOf(name, node);
    const { checkpoint } = node.fold.store;
    if (own === null || checkpoint === null) return true;
    const { seq, entryHash: hash, epoch } = checkpoint;
    // The log continued without this node and was trimmed: it needs a snapshot.
    if ((await log.check({ seq, hash, epoch })) === 'trimmed') return false;
    return hasNewestState(own, await others());
  }

  /** Starts the log again in a new epoch, right behind this node's state. */
  async openEpoch(givenUp?: AbortSignal): Promise<void> {
    const { node, log, files, rng, market, ensureStream, publishBase, epochStarted } = this.#deps;
    const { store } = node.fold;
    if (store.checkpoint === null) return;
    await ensureStream();
    const later = this.#lacking === null ? {} : { laterThan: this.#lacking.epoch };
    const options = { rng, market, publishBase, epochStarted, ...later };
    const first = await restartLog(store.checkpoint, store, log, files, options);
    this.#lacking = null;
    // A stranger may have written another epoch's first entry behind it.
    node.switchEpoch(first);
    await node.reached(first.entry.seq, givenUp);
  }

  /** Continues from another leader's epoch, or its snapshot, where there is one. */
  async recover(): Promise<void> {
    await this.#adoptNewest();
    if (this.#deps.node.hasDiverged) this.#deps.node.rejoin();
  }

  async #adoptNewest(): Promise<void> {
    const { log, node } = this.#deps;
    const newest = (await log.epochs()).at(-1);
    if (newest === undefined) return;
    const [sealed] = await log.read(newest, 1);
    if (sealed?.entry.payload.kind !== 'epoch' || !(await this.#isOurMarket())) return;
    const { epoch, payload } = sealed.entry;
    if (isOtherMarket(payload.market, node.fold.store.checkpoint?.market)) return;
    const own = node.applied().epoch;
    const ahead = epochNumber(epoch) - epochNumber(own);
    // Both epochs have the same number: other nodes continue the one in the log. The only copy of
    // ours was lost before any other node saw it.
    if (ahead > 0 || (ahead === 0 && epoch !== own)) node.switchEpoch(sealed);
  }

  /** A log of another market is neither followed nor started again. Throws without an answer. */
  async #isOurMarket(): Promise<boolean> {
    const { log, market, otherMarket } = this.#deps;
    try {
      const there = await marketOfLog(log);
      if (there !== null) market.compare(there, 'the log in NATS');
      return true;
    } catch (error) {
      if (isFault(error, 'streamMissing')) return true;
      if (!isFault(error, 'otherMarket')) throw error;
      otherMarket(error);
      return false;
    }
  }
}

export interface LogStartDeps {
  readonly name: string;
  readonly log: Log;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly announcements: Announcements;
  readonly record: MarketRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Throws when the start is given up. */
  pauseBeforeRetry(): Promise<void>;
}

/** Throws `otherMarket` when the living nodes under this market's name belong to another one. */
export async function checkLivingNodes(deps: LogStartDeps): Promise<void> {
  const { lease, record } = deps;
  for (const { node, market } of await otherNodes({ ...deps, name: '' })) {
    if (market !== undefined) record.compare(market, `node ${node}, which runs under this name,`);
  }
  const holder = await lease.holder();
  if (holder === null || holder === 'unreachable') return;
  const { node, market } = holder;
  if (market !== undefined) record.compare(market, `node ${node}, which leads under this name,`);
}

/**
 * Resolves when the log has a first entry, or this node may write it. `own`: the state in its
 * directory, or none.
 */
export async function waitUntilLogStarts(
  deps: LogStartDeps,
  own: Checkpoint | null,
): Promise<void> {
  const { log, lease, pauseBeforeRetry } = deps;
  while ((await log.last()).seq === 0) {
    // A node without a state, or with an older one, would only delay the others with the lease.
    const others = await otherLeaders(deps);
    const isLeftToOthers = own === null ? others.length > 0 : !hasNewestState(own, others);
    if (!isLeftToOthers && (await lease.tryTake()) === 'taken') {
      if (own !== null || (await noOtherCanStart(deps))) return;
      await lease.release();
    }
    await pauseBeforeRetry();
  }
}

/** For a reader, which never starts a log. */
export async function waitUntilOthersStartLog(
  { log, pauseBeforeRetry }: LogStartDeps,
  noAnswer: (error: unknown) => void,
): Promise<void> {
  while ((await log.last()).seq === 0) {
    noAnswer(new Error('no node that may lead has started this market yet'));
    await pauseBeforeRetry();
  }
}

/** For a reader, which opens no epoch: it adopts the leader's. */
export async function waitForLeader({ lease, pauseBeforeRetry }: LogStartDeps): Promise<false> {
  for (;;) {
    const holder = await lease.holder();
    if (holder !== null && holder !== 'unreachable') return false;
    await pauseBeforeRetry();
  }
}

/**
 * true: this node holds the lease and no living node has a newer state; false: another leads. The
 * log was lost, perhaps together with the announcements of the other nodes: while the servers of
 * NATS elect a leader, no node can announce that it is connected again, but each node does so
 * within a lease.
 */
export async function leadsWithNewestState(
  deps: LogStartDeps,
  own: Announcement,
): Promise<boolean> {
  const { lease, announcements, leaseMs, clock, signal, pauseBeforeRetry } = deps;
  const isNewest = async () => {
    const others = await announcements.others(own.node);
    return others !== 'unreachable' && hasNewestState(own, others);
  };
  for (;;) {
    // The lease would keep out a node that is known to have more.
    if ((await isNewest()) && (await lease.tryTake()) === 'taken') {
      await pause(clock, leaseMs, signal);
      if ((await isNewest()) && lease.held) return true;
    }
    await lease.release();
    const holder = await lease.holder();
    if (holder !== null && holder !== 'unreachable' && holder.node !== own.node) return false;
    await pauseBeforeRetry();
  }
}

/**
 * The log and the announcements may have been lost a moment ago, and living nodes have the market:
 * each announces three times within a lease. Another market under its name would end them all.
 */
async function noOtherCanStart(deps: LogStartDeps): Promise<boolean> {
  const { clock, leaseMs, signal } = deps;
  await pause(clock, leaseMs, signal);
  return (await otherLeaders(deps)).length === 0 && deps.lease.held;
}

/** Living nodes that may lead; readers wait for one themselves. */
async function otherLeaders(deps: LogStartDeps): Promise<readonly Announcement[]> {
  return (await otherNodes(deps)).filter(({ reader }) => reader !== true);
}

/** Retries until there is an answer. */
export async function otherNodes({
  announcements,
  name,
  pauseBeforeRetry,
}: LogStartDeps): Promise<readonly Announcement[]> {
  for (;;) {
    const others = await announcements.others(name);
    if (others !== 'unreachable') return others;
    await pauseBeforeRetry();
  }
}
