/**
 * The checks of a node every few seconds: whether the log is still the one that it folds, how far
 * it has come, which node leads, and whether the disk accepts writes.
 *
 * A log that is lost, shortened or replaced is never served as current: a leader steps down and
 * opens a new epoch, the other nodes wait for that epoch.
 */

import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../engine/log/port.ts';
import type { Node } from '../engine/node/node.ts';
import { isFault } from '../engine/runtime/assert.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { messageOf } from '../engine/runtime/errors.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';
import { announcementOf, type Epochs } from './epochs.ts';
import type { Announcement } from './nats/announcements.ts';
import { rateLimited } from './retryingLog.ts';

export interface LogWatchDeps {
  readonly name: string;
  readonly node: Node;
  readonly log: Log;
  readonly epochs: Epochs;
  readonly clock: Clock;
  announce(own: Announcement): Promise<unknown>;
  /** A leader also audits the log for damage. */
  leads?(): boolean;
  /** The log is no longer this node's log. */
  lost(why: string): void;
  /** NATS answers, but this node has made no progress for `stuckAfterMs`. */
  stuck?(why: string): void;
  /** A check failed, and not because NATS is away: the fault of a file or of this program. */
  failed(error: unknown): void;
  readonly stuckAfterMs?: number;
}

const EVERY_MS = 5_000;

export class LogWatch implements Service {
  readonly name = 'watch';
  readonly #deps: LogWatchDeps;
  readonly #everyMs: number;
  readonly #task: Task;
  #confirmedMs: number;
  #endSeq = 0;
  #isLost = false;
  #silence: string | null = null;
  #failure: string | null = null;
  readonly #lag: StallMeter;
  readonly #stall: StallMeter;
  readonly #report: (error: unknown) => void;
  #unlisten: () => void = () => {};

  constructor(deps: LogWatchDeps, everyMs = EVERY_MS) {
    this.#deps = deps;
    this.#everyMs = everyMs;
    this.#task = new Task({ clock: deps.clock });
    this.#confirmedMs = deps.clock.monotonicMs();
    this.#lag = new StallMeter(deps.clock);
    this.#stall = new StallMeter(deps.clock);
    this.#report = rateLimited(deps.clock, deps.failed);
  }

  /** Time since the last check that found the log to be ours. */
  get silentMs(): number {
    return this.#deps.clock.monotonicMs() - this.#confirmedMs;
  }

  /** Why the last check got no answer; null: it got one. */
  get silence(): string | null {
    return this.#silence;
  }

  /** Why the last check failed while NATS was there; null: it did not. */
  get failure(): string | null {
    return this.#failure;
  }

  /** The last check that got an answer found another log. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Entries of the log that this node has not applied, at the last check. */
  get lagEntries(): number {
    return Math.max(0, this.#endSeq - this.#deps.node.applied().seq);
  }

  /** Until the last check: how long such entries existed without a new one being applied. */
  get lagStalledMs(): number {
    return this.#lag.stalledMs;
  }

  async start(): Promise<void> {
    this.#unlisten = this.#deps.node.onApplied(() => {
      this.#lag.applied();
      this.#stall.applied();
    });
    await this.#check();
    this.#task.start(async () => {
      while (await this.#task.untilWoken(this.#everyMs)) await this.#check();
    });
  }

  async stop(): Promise<void> {
    this.#unlisten();
    await this.#task.stop();
  }

  /** Checks now, because the connection is back. */
  wake(): void {
    this.#task.wake();
  }

  async #check(): Promise<void> {
    const { name, node, log, epochs, announce, lost, clock } = this.#deps;
    try {
      const own = announcementOf(name, node);
      if (own !== null) await announce(own);
      const end = await epochs.commonEnd();
      const fault = await this.#fault(end !== null);
      this.#isLost = fault !== null;
      this.#silence = null;
      this.#failure = null;
      if (fault === null) {
        this.#endSeq = end ?? (await log.last()).seq;
        this.#confirmedMs = clock.monotonicMs();
        this.#lag.checked(this.lagEntries > 0);
        this.#checkProgress(`${this.lagEntries} entries of the log are not applied`);
        return;
      }
      this.#checkProgress(fault);
      lost(fault);
      await epochs.recover();
    } catch (error) {
      const message = messageOf(error);
      const isSilent = isFault(error, 'natsSilent', 'streamMissing');
      this.#silence = isSilent ? message : null;
      this.#failure = isSilent ? null : message;
      if (!isSilent) this.#report(error);
    }
  }

  #checkProgress(why: string): void {
    const { node, stuck, stuckAfterMs = Number.POSITIVE_INFINITY } = this.#deps;
    this.#stall.checked(this.#isLost || this.lagEntries > 0 || !node.synced());
    if (this.#stall.stalledMs > stuckAfterMs) stuck?.(why);
  }

  /** The fault of the log; null: none. */
  async #fault(isAtEnd: boolean): Promise<string | null> {
    const { epochs, leads } = this.#deps;
    if (!isAtEnd && !(await epochs.logHasOurState())) return 'the log is not what this node has';
    const damaged = leads?.() === true ? await epochs.auditNext() : null;
    return damaged === null ? null : `entry ${damaged} of the log is damaged or missing`;
  }
}

/**
 * How long a node has applied nothing although it should, at the last check of its log. It stands
 * still while NATS is silent and nothing can be checked: `silentMs` measures that.
 */
class StallMeter {
  readonly #clock: Clock;
  #sinceMs: number | null = null;
  #checkedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get stalledMs(): number {
    return this.#sinceMs === null ? 0 : Math.max(0, this.#checkedMs - this.#sinceMs);
  }

  /** `shouldApply`: there are entries that the node has not applied, or cannot apply. */
  checked(shouldApply: boolean): void {
    this.#checkedMs = this.#clock.monotonicMs();
    this.#sinceMs = shouldApply ? (this.#sinceMs ?? this.#checkedMs) : null;
  }

  applied(): void {
    if (this.#sinceMs !== null) this.#sinceMs = this.#clock.monotonicMs();
  }
}

interface LeaderWatchDeps {
  /** The name in the lease; null: no node holds it. */
  holder(): Promise<{ readonly node: string } | null | 'unreachable'>;
  readonly leaseMs: number;
  readonly clock: Clock;
}

/**
 * Which node leads, by the lease: readiness reports a market without a leader. At most one request
 * to NATS for each lease.
 */
export class LeaderWatch implements Service {
  readonly name = 'who leads';
  readonly #deps: LeaderWatchDeps;
  readonly #task: Task;
  #leader: string | null = null;
  #absentSinceMs: number | null = null;

  constructor(deps: LeaderWatchDeps) {
    this.#deps = deps;
    this.#task = new Task({ clock: deps.clock });
  }

  /** null: no node, at the last check. */
  get leader(): string | null {
    return this.#leader;
  }

  /** How long no node has led; 0 while one does. A check without an answer changes nothing. */
  get absentMs(): number {
    const since = this.#absentSinceMs;
    return since === null ? 0 : this.#deps.clock.monotonicMs() - since;
  }

  async start(): Promise<void> {
    await this.#check();
    this.#task.start(async () => {
      while (await this.#task.pause(this.#deps.leaseMs)) await this.#check();
    });
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #check(): Promise<void> {
    const { holder, clock } = this.#deps;
    const found = await holder();
    if (found === 'unreachable') return;
    this.#leader = found?.node ?? null;
    if (found !== null) this.#absentSinceMs = null;
    else this.#absentSinceMs ??= clock.monotonicMs();
  }
}

const PROBE_BYTES = 256 * 1024;
const PROBE_EVERY_MS = 2_000;

/**
 * Whether the disk under DATA_DIR accepts writes. After a refused write it writes a small file
 * every few seconds, until the disk accepts that.
 *
 * Never: writes more than one probe file, or one while no write was refused.
 */
export class DataDisk implements Service {
  readonly name = 'disk';
  readonly #path: string;
  readonly #everyMs: number;
  readonly #task: Task;
  #refusal: string | null = null;

  constructor(directory: string, clock: Clock, everyMs = PROBE_EVERY_MS) {
    this.#path = join(directory, 'disk-probe');
    this.#task = new Task({ clock });
    this.#everyMs = everyMs;
  }

  /** Why the last write was refused; null: the disk accepts writes. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Report a refused write to a file in the directory. */
  refused(message: string): void {
    this.#refusal = message;
    this.#task.wake();
  }

  start(): void {
    this.#task.start(() => this.#run());
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #run(): Promise<void> {
    while (await this.#task.untilWoken()) {
      while (this.#refusal !== null && (await this.#task.pause(this.#everyMs))) {
        await this.#probe();
      }
    }
  }

  async #probe(): Promise<void> {
    try {
      const file = await open(this.#path, 'w');
      try {
        await file.writeFile(Buffer.alloc(PROBE_BYTES));
        await file.sync();
      } finally {
        await file.close();
      }
      this.#refusal = null;
    } catch (error) {
      this.refused(String(error));
    } finally {
      // The next probe overwrites a file that stays.
      await rm(this.#path, { force: true }).catch(() => {});
    }
  }
}
