/**
 * Looks every few seconds whether the log is still the one that this node folds, and says how far
 * the node is. A log that is lost, shortened or replaced is never served as truth: a leader steps
 * down and opens a new epoch, the others wait for it.
 */
import type { Node } from '../engine/actors/node.ts';
import type { Log } from '../engine/log/port.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';
import { type Epochs, standingOf } from './epochs.ts';
import type { Announcement } from './nats/announcements.ts';
import { StallMeter } from './stallMeter.ts';

export interface WatchPlace {
  readonly name: string;
  readonly node: Node;
  readonly log: Log;
  readonly epochs: Epochs;
  readonly clock: Clock;
  announce(standing: Announcement): Promise<unknown>;
  /** Looks for damage, too. */
  leads?(): boolean;
  /** The log is not ours any more. */
  lost(why: string): void;
  /** NATS answers, and this node has not been able to go on for `patienceMs`. */
  stuck?(why: string): void;
  readonly patienceMs?: number;
}

const EVERY_MS = 5_000;

export class Watch implements Service {
  readonly name = 'watch';
  readonly #place: WatchPlace;
  readonly #everyMs: number;
  readonly #looking: Task;
  #seenMs: number;
  #endSeq = 0;
  #isLost = false;
  readonly #lag: StallMeter;
  readonly #trouble: StallMeter;
  #unlisten: () => void = () => {};

  constructor(place: WatchPlace, everyMs = EVERY_MS) {
    this.#place = place;
    this.#everyMs = everyMs;
    this.#looking = new Task({ clock: place.clock });
    this.#seenMs = place.clock.monotonicMs();
    this.#lag = new StallMeter(place.clock);
    this.#trouble = new StallMeter(place.clock);
  }

  /** Since the log was last seen to be ours. */
  get silentMs(): number {
    return this.#place.clock.monotonicMs() - this.#seenMs;
  }

  /** The log was seen not to be ours, and has not been seen to be since. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Entries of the log that are not applied here, as of the last look. */
  get lagEntries(): number {
    return Math.max(0, this.#endSeq - this.#place.node.applied().seq);
  }

  /** For how long there were such entries and none of them was applied, as of the last look. */
  get lagStalledMs(): number {
    return this.#lag.stalledMs;
  }

  async start(): Promise<void> {
    this.#unlisten = this.#place.node.onApplied(() => {
      this.#lag.applied();
      this.#trouble.applied();
    });
    await this.#look();
    this.#looking.start(async () => {
      while (await this.#looking.untilWoken(this.#everyMs)) await this.#look();
    });
  }

  async stop(): Promise<void> {
    this.#unlisten();
    await this.#looking.stop();
  }

  /** Looks now: the connection is back. */
  wake(): void {
    this.#looking.wake();
  }

  async #look(): Promise<void> {
    const { name, node, log, epochs, announce, lost, clock } = this.#place;
    try {
      const standing = standingOf(name, node);
      if (standing !== null) await announce(standing);
      const fault = await this.#fault();
      this.#isLost = fault !== null;
      if (fault === null) {
        this.#endSeq = (await log.last()).seq;
        this.#seenMs = clock.monotonicMs();
        this.#lag.looked(this.lagEntries > 0);
        this.#lookAtTrouble(`${this.lagEntries} entries of the log are not applied`);
        return;
      }
      this.#lookAtTrouble(fault);
      lost(fault);
      await epochs.mend();
    } catch {
      // Unreachable: `silentMs` says so.
    }
  }

  #lookAtTrouble(why: string): void {
    const { node, stuck, patienceMs = Number.POSITIVE_INFINITY } = this.#place;
    this.#trouble.looked(this.#isLost || this.lagEntries > 0 || !node.synced());
    if (this.#trouble.stalledMs > patienceMs) stuck?.(why);
  }

  /** What is wrong with the log; null: nothing. */
  async #fault(): Promise<string | null> {
    const { epochs, leads } = this.#place;
    if (!(await epochs.hasOurs())) return 'the log is not what this node has';
    const damaged = leads?.() === true ? await epochs.look() : null;
    return damaged === null ? null : `entry ${damaged} of the log is damaged or missing`;
  }
}
