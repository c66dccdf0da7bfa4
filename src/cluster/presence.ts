/**
 * Claims the node's name for this process, in the lease's bucket, and measures how far its clock
 * differs from the clock of NATS.
 *
 * A process overwrites only its own value, every third of the lease; the value expires a lease
 * after the last renewal. Another's value is believed once it was seen to be renewed: the second of
 * two processes with one name then does not start, and a process that was frozen for longer than
 * the lease ends. A value that is not renewed, as after a crash or of a stranger, is waited out.
 *
 * The clock is measured once a lease, and at every renewal while it is not right or was just set.
 */
import type { Clock } from '../engine/runtime/clock.ts';
import { Failure } from '../engine/runtime/errors.ts';
import type { Rng } from '../engine/runtime/rng.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';
import { ClockCheck, clockAheadMs, type Verdict } from './clockCheck.ts';
import type { Bucket } from './nats/bucket.ts';

/** The stored value. */
interface Process {
  readonly node: string;
  /** Tells two processes with one name apart. */
  readonly token: string;
  readonly host: string;
  readonly sinceMs: number;
  /** null: not measured yet. */
  readonly aheadMs: number | null;
}

/** A value of another process. */
interface Holder {
  readonly token: string;
  readonly revision: number;
}

interface PresenceObserver {
  /** Another process has the name of this one: it must end. */
  nodeNameTaken(message: string): void;
  /** A value of another process is there: waits until it is seen to be renewed, or expires. */
  nodeNameWaits(node: string): void;
  /** At every measurement. */
  clockMeasured(aheadMs: number): void;
  /** At every change. */
  clockJudged(verdict: Verdict['verdict'], aheadMs: number): void;
}

interface PresenceDeps {
  readonly bucket: Pick<Bucket, 'create' | 'update' | 'get' | 'all' | 'remove' | 'messages'>;
  readonly node: string;
  readonly host: string;
  /** Lifetime of values in the bucket. */
  readonly leaseMs: number;
  readonly clockBoundMs: number;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Ends the renewals. */
  readonly signal: AbortSignal;
}

const PREFIX = 'process';
const RENEWALS = 3;
const READS = 5;

export class Presence implements Service {
  readonly name = 'presence';
  readonly #deps: PresenceDeps;
  readonly #observer: PresenceObserver;
  readonly #key: string;
  readonly #token: string;
  readonly #sinceMs: number;
  readonly #check: ClockCheck;
  readonly #task: Task;
  #revision = 0;
  #isMeasured = false;
  /** Renewals since the clock was measured. */
  #unmeasured = 0;
  /** As found at the last look; null: the name was ours. */
  #other: Holder | null = null;

  constructor(deps: PresenceDeps, observer: PresenceObserver) {
    const { node, clock, clockBoundMs, rng, signal } = deps;
    this.#deps = deps;
    this.#observer = observer;
    this.#key = `${PREFIX}.${node}`;
    this.#token = rng.token(12);
    this.#sinceMs = clock.nowMs();
    this.#task = new Task({ clock, signal });
    this.#check = new ClockCheck(node, clock, clockBoundMs);
  }

  /** Why this node must not lead with its clock; null: it may. */
  obstacle(): string | null {
    return this.#check.obstacle();
  }

  /** The latest time that an entry may have. */
  latestMs(): number {
    return this.#check.latestMs();
  }

  /**
   * Takes the name and measures the clock, then repeats both in the background. Failure: another
   * living process has the name. `pauseBeforeRetry` throws when the start is given up.
   */
  async claim(pauseBeforeRetry: () => Promise<void>): Promise<Failure | null> {
    for (;;) {
      const outcome = await this.#claim();
      if (outcome === 'ours') break;
      if (typeof outcome !== 'string') return nameTaken(outcome);
      if (outcome === 'waits') await this.#pause(READS);
      await pauseBeforeRetry();
    }
    while (!this.#isMeasured) {
      const other = await this.#renew();
      if (other !== null) return nameTaken(other);
      if (!this.#isMeasured) await pauseBeforeRetry();
    }
    this.#task.start(() => this.#run());
    return null;
  }

  start(): void {}

  /** Releases the name. */
  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#deps.bucket.remove(this.#key, this.#revision);
  }

  async #run(): Promise<void> {
    while (await this.#pause(RENEWALS)) {
      const other = await this.#renew();
      if (other !== null) return this.#observer.nodeNameTaken(nameTaken(other).message);
    }
  }

  /** false: stopping. */
  #pause(part: number): Promise<boolean> {
    return this.#task.pause(this.#deps.leaseMs / part);
  }

  /** The process that has the name; 'waits': another's value is there, and may be of none. */
  async #claim(): Promise<'ours' | 'unreachable' | 'waits' | Process> {
    const { bucket } = this.#deps;
    const made = await bucket.create(this.#key, this.#text());
    if (made.write === 'unreachable') return made.write;
    if (made.write === 'done') return this.#took(made.revision);
    const there = await bucket.get(this.#key);
    if (there === null) return 'unreachable';
    if (there === 'unreachable') return there;
    const process = bucket.messages.read('process', there.text);
    if (process === null) {
      // No process wrote that: the name is free.
      const taken = await bucket.update(this.#key, this.#text(), there.revision);
      return taken.write === 'done' ? this.#took(taken.revision) : 'unreachable';
    }
    // It is our own value, and the answer to `create` was lost.
    if (process.token === this.#token) return this.#took(there.revision);
    const before = this.#other;
    if (before === null) this.#observer.nodeNameWaits(this.#deps.node);
    this.#other = { token: process.token, revision: there.revision };
    const isSame = before?.token === process.token;
    return isSame && before.revision !== there.revision ? process : 'waits';
  }

  #took(revision: number): 'ours' {
    this.#revision = revision;
    this.#other = null;
    return 'ours';
  }

  /** Another process that has the name; null: none is known. */
  async #renew(): Promise<Process | null> {
    const { bucket, clock } = this.#deps;
    const [sentMs, fromMs] = [clock.nowMs(), clock.monotonicMs()];
    const outcome = await bucket.update(this.#key, this.#text(), this.#revision);
    const tookMs = clock.monotonicMs() - fromMs;
    if (outcome.write === 'unreachable') return null;
    if (outcome.write === 'refused') {
      const there = await this.#claim();
      return typeof there === 'string' ? null : there;
    }
    this.#revision = outcome.revision;
    if (!this.#shouldMeasure()) return null;
    const stored = await bucket.get(this.#key);
    if (stored === null || stored === 'unreachable') return null;
    if (stored.revision !== outcome.revision) return null;
    await this.#measured(clockAheadMs(stored.storedMs, sentMs, tookMs));
    return null;
  }

  #shouldMeasure(): boolean {
    this.#unmeasured += 1;
    const isRight = this.#check.verdict.verdict === 'right' && this.#check.obstacle() === null;
    return !this.#isMeasured || !isRight || this.#unmeasured >= RENEWALS;
  }

  async #measured(aheadMs: number): Promise<void> {
    const others = this.#check.isWithinBound(aheadMs) ? [] : await this.#others();
    if (others === 'unreachable') return;
    const before = this.#check.verdict.verdict;
    this.#check.measured(aheadMs, others);
    const { verdict } = this.#check.verdict;
    this.#observer.clockMeasured(aheadMs);
    if (verdict !== before) this.#observer.clockJudged(verdict, aheadMs);
    this.#isMeasured = true;
    this.#unmeasured = 0;
  }

  async #others() {
    const { bucket, node } = this.#deps;
    const texts = await bucket.all(PREFIX);
    if (texts === 'unreachable') return texts;
    return texts.flatMap((text) => {
      const { node: name = node, aheadMs = null } = bucket.messages.read('process', text) ?? {};
      return name === node || aheadMs === null ? [] : [{ node: name, aheadMs }];
    });
  }

  #text(): string {
    const { node, host } = this.#deps;
    const aheadMs = this.#isMeasured ? this.#check.aheadMs : null;
    const own: Process = { node, token: this.#token, host, sinceMs: this.#sinceMs, aheadMs };
    return JSON.stringify(own);
  }
}

function nameTaken({ node, host, sinceMs }: Process): Failure {
  const since = new Date(sinceMs).toISOString();
  return new Failure(
    'NOT_READY',
    `NODE_NAME ${node} is in use: a process on ${host} has it since ${since} and is alive. ` +
      'Give every node a name of its own, or stop that process.',
  );
}
