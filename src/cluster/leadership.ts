/**
 * Which of several nodes leads. The lease says who may try; what makes it safe is the log: whoever
 * begins to lead writes so under the sequence number it has read up to, in a higher term, and only
 * then follows the chain, fills orders and serves what only a leader can.
 *
 * Assumes: what `lead` starts writes with the writer that it is given, and with no other.
 * Never:   writes after the lease is over by this machine's own clock; a write that was on its way
 *          then finds another's entry in its place.
 */
import type { Node } from '../actors/node.ts';
import type { Log } from '../log/port.ts';
import { LogWriter, type WriterObserver } from '../log/writer.ts';
import type { Clock } from '../runtime/clock.ts';
import { sleepUnless } from '../runtime/clock.ts';
import type { Service } from '../runtime/service.ts';
import type { Epochs } from './epochs.ts';

export interface LeaseOfLead {
  /** true: held now. Asking again while it is held changes nothing. */
  tryTake(): Promise<boolean>;
  /** By this machine's clock. */
  readonly isHeld: boolean;
  /** Called once for each time it was taken, when it is over and was not released. */
  onLost(listener: () => void): void;
  release(): Promise<void>;
}

/** What a node does in a role, until it is stopped. */
export interface Duty {
  stop(): Promise<void>;
}

export interface Crew {
  /** All that is in the log is applied. `failed` is called when it cannot go on. */
  lead(writer: LogWriter, failed: (error: unknown) => void): Promise<Duty>;
  follow(): Promise<Duty>;
}

export interface LeadershipObserver extends WriterObserver {
  leadBegun(term: number): void;
  leadEnded(reason: string): void;
}

export interface LeadershipPlace {
  readonly name: string;
  readonly lease: LeaseOfLead;
  readonly leaseMs: number;
  readonly log: Log;
  readonly node: Node;
  readonly epochs: Epochs;
  readonly crew: Crew;
  readonly clock: Clock;
}

export class Leadership implements Service {
  readonly name = 'leadership';
  readonly #place: LeadershipPlace;
  readonly #observer: LeadershipObserver;
  readonly #stopAsked = Promise.withResolvers<string>();
  #duty: Duty | null = null;
  #running: Promise<void> = Promise.resolve();
  #stopping = false;
  #leads = false;

  constructor(place: LeadershipPlace, observer: LeadershipObserver) {
    this.#place = place;
    this.#observer = observer;
  }

  get leads(): boolean {
    return this.#leads && this.#place.lease.isHeld;
  }

  async start(): Promise<void> {
    this.#duty = await this.#place.crew.follow();
    this.#running = this.#run();
  }

  /** Hands over: whoever waits may take the lease at once. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stopAsked.resolve('stopping');
    await this.#running;
    await this.#duty?.stop();
  }

  async #run(): Promise<void> {
    const { lease, leaseMs, clock } = this.#place;
    while (!this.#stopping) {
      const isTaken = await lease.tryTake().catch(() => false);
      if (isTaken) await this.#serve();
      if (!this.#stopping) await sleepUnless(clock, leaseMs / 5, this.#stopAsked.promise);
    }
  }

  /** Until it ends, for whatever reason. */
  async #serve(): Promise<void> {
    const { lease, crew } = this.#place;
    const over = Promise.withResolvers<string>();
    lease.onLost(() => over.resolve('the lease is over'));
    const failed = (error: unknown) => over.resolve(String(error));
    let writer: LogWriter | null = null;
    let reason = '';
    try {
      writer = await this.#takeOver();
      if (writer === null) return;
      await this.#duty?.stop();
      this.#duty = await crew.lead(writer, failed);
      this.#leads = true;
      this.#observer.leadBegun(writer.term);
      reason = await Promise.race([over.promise, this.#stopAsked.promise]);
    } catch (error) {
      reason = String(error);
    } finally {
      writer?.stop();
      if (reason !== '') this.#observer.leadEnded(reason);
      await this.#rest();
    }
  }

  async #rest(): Promise<void> {
    const { lease, crew } = this.#place;
    this.#leads = false;
    await this.#duty?.stop();
    this.#duty = null;
    await lease.release().catch(() => {});
    if (!this.#stopping) this.#duty = await crew.follow();
  }

  /** Everything there is, applied; then our own first entry. null: another one should lead. */
  async #takeOver(): Promise<LogWriter | null> {
    const { name, node, log, epochs, clock, lease } = this.#place;
    if (!(await epochs.hasOurs())) {
      if (!(await epochs.mayOpen())) return null;
      await epochs.open();
    }
    const tail = await log.last();
    await node.reached(tail.seq);
    const { fold } = node;
    const term = (fold.store.checkpoint?.term ?? 0) + 1;
    const writer = new LogWriter(log, tail, term, clock, this.#observer, () => lease.isHeld);
    const payload = { kind: 'leader', node: name } as const;
    await node.reached(await writer.append([{ timeMs: fold.marketMs, payload }]));
    return writer;
  }
}
