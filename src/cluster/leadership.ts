/**
 * Which of several nodes leads. The lease says who may try; what makes it safe is the log: whoever
 * begins to lead writes so under the sequence number it has read up to, in a higher term, and only
 * then follows the chain, fills orders and serves what only a leader can.
 *
 * Assumes: what `lead` starts writes with the writer that it is given, and with no other.
 * Never:   writes after the lease is over by this machine's own clock; a write that was on its way
 *          then finds another's entry in its place. Waits longer than it leads: what it waits for
 *          may be lost with the log.
 */
import type { MarketRecord } from '../engine/actors/marketRecord.ts';
import type { Node } from '../engine/actors/node.ts';
import type { Log } from '../engine/log/port.ts';
import { LogWriter, type TimeGuard, type WriterObserver } from '../engine/log/writer.ts';
import { type Clock, pause, sleepUnless } from '../engine/runtime/clock.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';
import type { Checkpoint } from '../engine/store/state.ts';
import type { Epochs } from './epochs.ts';
import { candidacyMs, type Lease } from './nats/lease.ts';

/** What a node does in a role, until it is stopped. */
export interface Duty {
  stop(): Promise<void>;
}

export interface Crew {
  /** All that is in the log is applied. `failed` is called when it cannot go on. */
  lead(writer: LogWriter, failed: (error: unknown) => void): Promise<Duty>;
  follow(): Promise<Duty>;
  /** Whether it could lead now: one that could not, leaves that to others. Absent: always. */
  isFit?(): boolean;
}

export interface LeadershipObserver extends WriterObserver {
  leadBegun(term: number): void;
  leadEnded(reason: string): void;
  /** This node can neither lead nor follow any more. */
  leadershipFailed(error: unknown): void;
  /** Why this node must not lead, at every change; null: it may again. */
  mayNotLead?(reason: string | null): void;
}

export interface LeadershipPlace {
  readonly name: string;
  readonly lease: Pick<Lease, 'held' | 'tryTake' | 'release'>;
  /** Calls back when the lease, once taken, is over and was not released. */
  onLost(listener: () => void): void;
  readonly leaseMs: number;
  /** When NATS was last there again after a silence, by the monotonic clock; null: never. */
  backMs(): number | null;
  readonly log: Log;
  readonly node: Node;
  readonly epochs: Epochs;
  readonly record: MarketRecord;
  readonly crew: Crew;
  readonly clock: Clock;
  /** Why this node must not lead: a full disk, a wrong clock. null or absent: it may. */
  obstacle?(): string | null;
  /** Entries that a leader must not write. Absent: there are none. */
  readonly isTooLate?: TimeGuard;
}

export class Leadership implements Service {
  readonly name = 'leadership';
  readonly #place: LeadershipPlace;
  readonly #observer: LeadershipObserver;
  readonly #task: Task;
  #duty: Duty | null = null;
  #writer: LogWriter | null = null;
  #leads = false;
  /** The log was found to be ours, or was begun by us. */
  #hasLog = false;
  #endLead: (reason: string) => void = () => {};
  /** As the observer was told last. */
  #obstacle: string | null = null;
  readonly #listeners = new Set<(leads: boolean) => void>();

  constructor(place: LeadershipPlace, observer: LeadershipObserver) {
    this.#place = place;
    this.#observer = observer;
    const failed = (error: unknown) => observer.leadershipFailed(error);
    this.#task = new Task({ clock: place.clock, failed });
  }

  get leads(): boolean {
    return this.#leads && this.#place.lease.held;
  }

  /** Now and at every change. */
  onRole(listener: (leads: boolean) => void): void {
    this.#listeners.add(listener);
    listener(this.leads);
  }

  /** The log is not what this node has, any more: whoever leads, or begins to, must begin anew. */
  stepDown(reason: string): void {
    if (this.#leads || this.#hasLog) this.#endLead(reason);
  }

  async start(): Promise<void> {
    this.#duty = await this.#place.crew.follow();
    this.#task.start(() => this.#run());
  }

  /** Hands over: whoever waits may take the lease at once. */
  async stop(): Promise<void> {
    const ended = this.#task.stop();
    this.#endLead('stopping');
    await ended;
    await this.#duty?.stop();
  }

  async #run(): Promise<void> {
    let againMs = 0;
    do againMs = await this.#tryToLead();
    while (await this.#task.pause(againMs));
  }

  /** Leads, if it can, until that ends; answers when to try again. */
  async #tryToLead(): Promise<number> {
    const { lease, leaseMs, crew } = this.#place;
    if (this.#findObstacle() !== null || crew.isFit?.() === false) {
      // A start may have taken it, to begin the log.
      await lease.release().catch(() => {});
    } else if ((await lease.tryTake()) === 'taken') {
      // One that could not begin lets others try first.
      if (!(await this.#serve())) return leaseMs;
    }
    return candidacyMs(leaseMs);
  }

  /** Asked at every try to lead, and as often while this node leads. */
  #findObstacle(): string | null {
    const obstacle = this.#place.obstacle?.() ?? null;
    if ((obstacle === null) !== (this.#obstacle === null)) this.#observer.mayNotLead?.(obstacle);
    this.#obstacle = obstacle;
    return obstacle;
  }

  /** Ends the lead as soon as this node must not lead. */
  async #untilObstacle(ended: AbortSignal): Promise<void> {
    const { clock, leaseMs } = this.#place;
    while (!ended.aborted) {
      const obstacle = this.#findObstacle();
      if (obstacle !== null) this.#endLead(obstacle);
      await pause(clock, candidacyMs(leaseMs), ended);
    }
  }

  /** Until it ends, for whatever reason; false: it did not begin. */
  async #serve(): Promise<boolean> {
    const { onLost, crew } = this.#place;
    const over = Promise.withResolvers<string>();
    onLost(() => over.resolve('the lease is over'));
    this.#endLead = (reason) => over.resolve(reason);
    const failed = (error: unknown) => over.resolve(String(error));
    const ended = new AbortController();
    void this.#untilObstacle(ended.signal);
    if (this.#task.isStopping) over.resolve('stopping');
    const lead = async () => {
      const writer = await this.#takeOver(ended.signal);
      if (writer === null) return over.resolve('another node knows more');
      await this.#duty?.stop();
      const duty = await crew.lead(writer, failed);
      // The lead may have ended while it began.
      if (ended.signal.aborted) return duty.stop();
      this.#duty = duty;
      this.#changeRole(true);
      this.#observer.leadBegun(writer.term);
    };
    // What hangs in it, because nothing answers, must not hold up the end.
    const leading = lead().catch(failed);
    const reason = await over.promise;
    ended.abort();
    this.#hasLog = false;
    this.#writer?.stop();
    const hasLed = this.#leads;
    this.#observer.leadEnded(reason);
    if (!this.#task.isStopping) await leading;
    await this.#rest();
    return hasLed;
  }

  async #rest(): Promise<void> {
    const { lease, crew, clock, leaseMs } = this.#place;
    this.#changeRole(false);
    const duty = this.#duty;
    this.#duty = null;
    const stopped = duty?.stop().catch((error: unknown) => this.#observer.leadershipFailed(error));
    // A build or a copy that is under way may take longer than the lease. The next leader does not
    // wait for it: the writer is stopped, and the log takes no entry of an old term.
    if (stopped !== undefined) await sleepUnless(clock, candidacyMs(leaseMs), stopped);
    await lease.release().catch(() => {});
    await stopped;
    if (!this.#task.isStopping) this.#duty = await crew.follow();
  }

  #changeRole(leads: boolean): void {
    if (this.#leads === leads) return;
    this.#leads = leads;
    for (const listener of this.#listeners) listener(leads);
  }

  /** Everything there is, applied; then our own first entry. null: another one should lead. */
  async #takeOver(ended: AbortSignal): Promise<LogWriter | null> {
    const { name, node, log, epochs, record, clock, lease, leaseMs, backMs } = this.#place;
    // A log is shortened while NATS is away; whoever has more of it says so within a lease.
    const restMs = (backMs() ?? Number.NEGATIVE_INFINITY) + leaseMs - clock.monotonicMs();
    if (restMs > 0) await pause(clock, restMs, ended);
    if (!(await epochs.hasOurs()) || (await epochs.isShort())) {
      // Whoever is alive says within a lease how far it is.
      await pause(clock, leaseMs, ended);
      // Meanwhile another one may have opened it, if this process was held up.
      const isLost = !(await epochs.hasOurs()) || (await epochs.isShort());
      if (isLost) {
        if (!(await epochs.mayOpen()) || !lease.held) return null;
        await epochs.open(ended);
      }
    }
    this.#hasLog = !ended.aborted;
    const tail = await log.last();
    await node.reached(tail.seq, ended);
    const { fold } = node;
    const term = (fold.store.checkpoint?.term ?? 0) + 1;
    const { isTooLate = () => false } = this.#place;
    const guard = { fromMs: fold.marketMs, isTooLate };
    const writer = new LogWriter(log, tail, term, clock, this.#observer, () => lease.held, guard);
    this.#writer = writer;
    const market = newIdentity(fold.store.checkpoint, record);
    const payload = { kind: 'leader', node: name, ...market } as const;
    await node.reached(await writer.append([{ timeMs: fold.marketMs, payload }]), ended);
    return writer;
  }
}

/** Of a log that an older version began: its entries do not say which market it is. */
function newIdentity(checkpoint: Checkpoint | null, record: MarketRecord) {
  if (checkpoint === null || checkpoint.market !== undefined) return {};
  const market = record.identity(checkpoint.epoch);
  return market === null ? {} : { market };
}
