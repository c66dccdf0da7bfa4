/**
 * Which of several nodes leads. The lease says which node may try; the log makes it safe: a new
 * leader first appends a leader entry in a higher term behind the last entry that it has read, and
 * only then follows the chain, fills orders and serves what only a leader can.
 *
 * Assumes: an active role writes only with the writer that `lead` was given.
 * Never:   writes after the lease has ended by this machine's clock. A write that was in flight
 * then
 *          finds another leader's entry at its seq. Never waits longer than it leads: the entry
 *          that it waits for may be lost with the log.
 */
import type { MarketRecord } from '../engine/fold/marketRecord.ts';
import type { Log } from '../engine/log/port.ts';
import { LogWriter, type TimeGuard, type WriterObserver } from '../engine/log/writer.ts';
import type { Node } from '../engine/node/node.ts';
import { type Clock, pause, sleepUnless } from '../engine/runtime/clock.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';
import type { Checkpoint } from '../engine/store/state.ts';
import type { Epochs } from './epochs.ts';
import { candidacyMs, type Lease } from './nats/lease.ts';

/** The work of a role, until it is stopped. */
export interface ActiveRole {
  stop(): Promise<void>;
}

/** How this node works as leader and as follower. */
export interface Role {
  /** Called once the whole log is applied. Call `failed` when the leader cannot continue. */
  lead(writer: LogWriter, failed: (error: unknown) => void): Promise<ActiveRole>;
  follow(): Promise<ActiveRole>;
  /** Whether it could lead now; if not, it leaves the lease to other nodes. Absent: always. */
  isEligible?(): boolean;
}

/** Why a lead ends. */
interface LeadEnd {
  readonly reason: string;
  /** This node tries again with the lease that it has. Absent: it releases it. */
  readonly keepsLease?: boolean;
}

interface LeadershipObserver extends WriterObserver {
  leadBegun(term: number): void;
  leadEnded(reason: string): void;
  /** This node can neither lead nor follow any more. */
  leadershipFailed(error: unknown): void;
  /** Why this node must not lead, at every change; null: it may again. */
  mayNotLead?(reason: string | null): void;
}

interface LeadershipDeps {
  readonly name: string;
  readonly lease: Pick<Lease, 'held' | 'tryTake' | 'release'>;
  /** Calls back when a lease that was taken is over and was not released. */
  onLost(listener: () => void): void;
  readonly leaseMs: number;
  /** When NATS last came back after an outage, by the monotonic clock; null: never. */
  reconnectedMs(): number | null;
  readonly log: Log;
  readonly node: Node;
  readonly epochs: Epochs;
  readonly record: MarketRecord;
  readonly role: Role;
  readonly clock: Clock;
  /** Why this node must not lead: a full disk, a wrong clock. null or absent: it may. */
  obstacle?(): string | null;
  /** Entries that a leader must not write. Absent: there are none. */
  readonly isTooLate?: TimeGuard;
}

export class Leadership implements Service {
  readonly name = 'leadership';
  readonly #deps: LeadershipDeps;
  readonly #observer: LeadershipObserver;
  readonly #task: Task;
  #active: ActiveRole | null = null;
  #writer: LogWriter | null = null;
  #leads = false;
  /** The log was found to be ours, or this node started it. */
  #hasLog = false;
  #endLead: (end: LeadEnd) => void = () => {};
  /** When NATS last gave no answer, by the monotonic clock. */
  #unansweredMs = Number.NEGATIVE_INFINITY;
  /** As reported last. */
  #obstacle: string | null = null;
  readonly #listeners = new Set<(leads: boolean) => void>();

  constructor(deps: LeadershipDeps, observer: LeadershipObserver) {
    this.#deps = deps;
    this.#observer = observer;
    const failed = (error: unknown) => observer.leadershipFailed(error);
    this.#task = new Task({ clock: deps.clock, failed });
  }

  get leads(): boolean {
    return this.#leads && this.#deps.lease.held;
  }

  /** Calls `listener` now and at every change. */
  onRole(listener: (leads: boolean) => void): void {
    this.#listeners.add(listener);
    listener(this.leads);
  }

  /**
   * The log is no longer this node's log: a leader, or a candidate, starts again. A leader keeps
   * the lease. It has the newest state, and it may be the only node that knows: another node would
   * lead in that log until it found the same damage.
   */
  stepDown(reason: string): void {
    if (this.#leads || this.#hasLog) this.#endLead({ reason, keepsLease: this.#leads });
  }

  async start(): Promise<void> {
    this.#active = await this.#deps.role.follow();
    this.#task.start(() => this.#run());
  }

  /** Hands over: another node may take the lease at once. */
  async stop(): Promise<void> {
    const ended = this.#task.stop();
    this.#endLead({ reason: 'stopping' });
    await ended;
    // Where it was kept after a lead. An unreleased lease expires.
    await this.#deps.lease.release().catch(() => {});
    await this.#active?.stop();
  }

  async #run(): Promise<void> {
    let retryMs = 0;
    do retryMs = await this.#tryToLead();
    while (await this.#task.pause(retryMs));
  }

  /** Leads, if it can, until that ends; answers when to try again. */
  async #tryToLead(): Promise<number> {
    const { lease, leaseMs, role, clock } = this.#deps;
    if (this.#findObstacle() !== null || role.isEligible?.() === false) {
      // The start may have taken the lease to start the log. An unreleased lease expires.
      await lease.release().catch(() => {});
    } else {
      const outcome = await lease.tryTake();
      if (outcome === 'unreachable') this.#unansweredMs = clock.monotonicMs();
      if (outcome === 'taken') return this.#lead();
    }
    return candidacyMs(leaseMs);
  }

  #findObstacle(): string | null {
    const obstacle = this.#deps.obstacle?.() ?? null;
    if ((obstacle === null) !== (this.#obstacle === null)) this.#observer.mayNotLead?.(obstacle);
    this.#obstacle = obstacle;
    return obstacle;
  }

  /** Ends the lead as soon as this node must not lead. */
  async #watchObstacles(ended: AbortSignal): Promise<void> {
    const { clock, leaseMs } = this.#deps;
    while (!ended.aborted) {
      const obstacle = this.#findObstacle();
      if (obstacle !== null) this.#endLead({ reason: obstacle });
      await pause(clock, candidacyMs(leaseMs), ended);
    }
  }

  /** Resolves when the lead has ended, for any reason, with when to try again. */
  async #lead(): Promise<number> {
    const { onLost, role, leaseMs, node } = this.#deps;
    const over = Promise.withResolvers<LeadEnd>();
    onLost(() => over.resolve({ reason: 'the lease is over' }));
    this.#endLead = over.resolve;
    const failed = (error: unknown) => over.resolve({ reason: String(error) });
    const ended = new AbortController();
    void this.#watchObstacles(ended.signal);
    if (this.#task.isStopping) over.resolve({ reason: 'stopping' });
    const lead = async () => {
      const writer = await this.#startTerm(ended.signal);
      if (writer === null) return over.resolve({ reason: 'another node knows more' });
      if (ended.signal.aborted) return;
      const look = () => this.#endIfOvertaken(writer);
      const unlisten = node.onApplied(look);
      ended.signal.addEventListener('abort', unlisten, { once: true });
      look();
      await this.#active?.stop();
      const active = await role.lead(writer, failed);
      // The lead may have ended before it was complete.
      if (ended.signal.aborted) return active.stop();
      this.#active = active;
      this.#changeRole(true);
      this.#observer.leadBegun(writer.term);
    };
    // A request in it that gets no answer must not delay the end.
    const leading = lead().catch(failed);
    const { reason, keepsLease = false } = await over.promise;
    ended.abort();
    this.#hasLog = false;
    this.#writer?.stop();
    const hasLed = this.#leads;
    this.#observer.leadEnded(reason);
    if (!this.#task.isStopping) await leading;
    await this.#followAgain(keepsLease);
    // A candidate that failed lets the others try first.
    return hasLed ? candidacyMs(leaseMs) : leaseMs;
  }

  /**
   * Another one wrote into the log, and the state may be another: the writer can add nothing any
   * more, and the role works with the state of before. This node keeps the lease as it has applied
   * that entry.
   */
  #endIfOvertaken(writer: LogWriter): void {
    const { checkpoint } = this.#deps.node.fold.store;
    if (checkpoint === null || !writer.isOvertaken(checkpoint.seq, checkpoint.entryHash)) return;
    this.#endLead({ reason: 'another writer appended to the log', keepsLease: this.#leads });
  }

  async #followAgain(keepsLease: boolean): Promise<void> {
    const { lease, role, clock, leaseMs } = this.#deps;
    this.#changeRole(false);
    const active = this.#active;
    this.#active = null;
    const stopped = active?.stop().catch((error) => this.#observer.leadershipFailed(error));
    // A build or a copy that is under way may take longer than the lease. The next leader does not
    // wait for it: the writer is stopped, and the log takes no entry of an old term.
    if (stopped !== undefined) await sleepUnless(clock, candidacyMs(leaseMs), stopped);
    // An unreleased lease expires.
    if (!keepsLease) await lease.release().catch(() => {});
    await stopped;
    if (!this.#task.isStopping) this.#active = await role.follow();
  }

  #changeRole(leads: boolean): void {
    if (this.#leads === leads) return;
    this.#leads = leads;
    for (const listener of this.#listeners) listener(leads);
  }

  /** Applies the whole log, then appends the leader entry. null: another node should lead. */
  async #startTerm(ended: AbortSignal): Promise<LogWriter | null> {
    const { name, node, log, epochs, record, clock, lease, leaseMs, reconnectedMs } = this.#deps;
    // A log may be shortened while NATS is away; a node that has more of it announces that within
    // a lease. NATS is back once it answers: after the connection it may still elect a leader.
    const backMs = Math.max(reconnectedMs() ?? Number.NEGATIVE_INFINITY, this.#unansweredMs);
    const waitMs = backMs + leaseMs - clock.monotonicMs();
    if (waitMs > 0) await pause(clock, waitMs, ended);
    const isLost = async () => !(await epochs.logHasOurState()) || (await epochs.isLogShortened());
    if (await isLost()) {
      // Every living node announces within a lease how far it is.
      await pause(clock, leaseMs, ended);
      // Another node may have opened an epoch meanwhile, if this process was held up.
      if (await isLost()) {
        if (!(await epochs.mayOpenEpoch()) || !lease.held) return null;
        await epochs.openEpoch(ended);
      }
    }
    this.#hasLog = !ended.aborted;
    const tail = await log.last();
    await node.reached(tail.seq, ended);
    const { fold } = node;
    const { checkpoint } = fold.store;
    const isOurEnd = checkpoint?.seq === tail.seq && checkpoint.entryHash === tail.hash;
    // Its stream may have been deleted and made again meanwhile.
    if (!isOurEnd) throw new Error('the log does not end with what this node has');
    const term = checkpoint.term + 1;
    const { isTooLate = () => false } = this.#deps;
    const guard = { fromMs: fold.marketMs, isTooLate };
    const writer = new LogWriter(log, tail, term, clock, this.#observer, () => lease.held, guard);
    this.#writer = writer;
    const market = newIdentity(fold.store.checkpoint, record);
    const payload = { kind: 'leader', node: name, ...market } as const;
    await node.reached(await writer.append([{ timeMs: fold.marketMs, payload }]), ended);
    return writer;
  }
}

/** For a log of an older version, whose entries do not say which market it is. */
function newIdentity(checkpoint: Checkpoint | null, record: MarketRecord) {
  if (checkpoint === null || checkpoint.market !== undefined) return {};
  const market = record.identity(checkpoint.epoch);
  return market === null ? {} : { market };
}
