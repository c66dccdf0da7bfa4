/**
 * Decides when subscriptions start. A subscription costs its caller one read, and one more for each
 * `FRAME_BYTES_A_READ` of its first frames. If the caller has no read left, the subscription waits
 * until one is earned: a client that connects again subscribes to everything at once and must not
 * be refused. Sources are prepared in slices.
 */
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import type { Caller } from '../gateway/address.ts';
import type { Waiting } from '../gateway/positionWaiters.ts';
import { FRAME_BYTES_A_READ, type RateLimits } from '../http/rateLimits.ts';

/** A caller may have this many waiting subscriptions; further ones are refused. */
const MAX_WAITING = 2_000;
/** A source that is not prepared after this time is asked all the same. */
const LONGEST_MS = 10_000;

/** One subscription of a socket. */
interface Start {
  readonly caller: Caller;
  readonly isPaid: boolean;
  /** Does some of what its source would take long for. True: it can answer. */
  prepare(isOver: () => boolean): boolean;
  /** Answers how many bytes it sent. */
  run(): number;
}

interface PendingStart {
  readonly start: Start;
  isPaid: boolean;
  /** Prepared until then, from when it is paid for. */
  untilMs: number;
}

interface Queue {
  readonly starts: Set<PendingStart>;
  /** Set while they wait for reads. */
  timer: Timer | null;
  /** Set while they wait for their slice. */
  work: Timer | null;
}

type Limits = Pick<RateLimits, 'takeToken' | 'isExempt' | 'waitMs' | 'charge'>;

export class PendingStarts {
  readonly #clock: Clock;
  readonly #slices: Slices;
  readonly #limits: Limits;
  readonly #queues = new Map<string, Queue>();

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#slices = Slices.of(clock);
    this.#limits = limits;
  }

  /** Callers with subscriptions that wait. */
  get callers(): number {
    return this.#queues.size;
  }

  /** Runs it at once (null), or in a later turn; a Failure: too many wait. */
  runSoon(start: Start): Waiting | null | Failure {
    const { key } = start.caller;
    const queue = this.#queues.get(key);
    if (queue === undefined) {
      const isOver = this.#slices.atOnce(ownerOf(key));
      if (isOver !== null && isPrepared(start, isOver) && this.#pays(start)) {
        this.#run(start);
        return null;
      }
    } else if (queue.starts.size >= MAX_WAITING && !this.#limits.isExempt(start.caller)) {
      const message = `${MAX_WAITING} subscriptions wait already: they start as reads are earned`;
      return new Failure('RATE_LIMITED', message);
    }
    return this.#wait(start);
  }

  #wait(start: Start): Waiting {
    const { key } = start.caller;
    const queue: Queue = this.#queues.get(key) ?? { starts: new Set(), timer: null, work: null };
    this.#queues.set(key, queue);
    const untilMs = this.#clock.monotonicMs() + LONGEST_MS;
    const pending = { start, isPaid: start.isPaid, untilMs };
    queue.starts.add(pending);
    this.#continue(key, queue);
    return {
      cancel: () => {
        queue.starts.delete(pending);
        this.#endIfEmpty(key, queue);
      },
    };
  }

  #continue(key: string, queue: Queue): void {
    if (queue.timer !== null || queue.work !== null) return;
    const step = (isOver: () => boolean) => this.#step(key, queue, isOver);
    queue.work = this.#slices.add(ownerOf(key), step, () => {
      queue.work = null;
      this.#continue(key, queue);
    });
  }

  /** True: none is left, or all wait for reads. */
  #step(key: string, queue: Queue, isOver: () => boolean): boolean {
    for (const pending of queue.starts) {
      const { start } = pending;
      const waitMs = pending.isPaid ? 0 : this.#limits.waitMs('read', start.caller);
      if (waitMs > 0) {
        queue.work = null;
        queue.timer = this.#clock.after(waitMs, () => {
          queue.timer = null;
          this.#continue(key, queue);
        });
        return true;
      }
      if (!pending.isPaid) {
        pending.isPaid = this.#pays(start);
        pending.untilMs = this.#clock.monotonicMs() + LONGEST_MS;
      }
      const isReady = isPrepared(start, isOver) || this.#clock.monotonicMs() >= pending.untilMs;
      if (!isReady) return false;
      queue.starts.delete(pending);
      this.#run(start);
      if (isOver()) break;
    }
    if (queue.starts.size > 0) return false;
    queue.work = null;
    this.#endIfEmpty(key, queue);
    return true;
  }

  #endIfEmpty(key: string, queue: Queue): void {
    if (queue.starts.size > 0) return;
    queue.timer?.cancel();
    queue.work?.cancel();
    if (this.#queues.get(key) === queue) this.#queues.delete(key);
  }

  #pays({ caller, isPaid }: Start): boolean {
    return isPaid || this.#limits.takeToken('read', caller).granted;
  }

  #run(start: Start): void {
    const more = Math.floor(start.run() / FRAME_BYTES_A_READ);
    if (more > 0) this.#limits.charge('read', start.caller, more);
  }
}

function ownerOf(key: string): string {
  return `subscriptions of ${key}`;
}

/** A source that fails counts as prepared: its answer is the error. */
function isPrepared(start: Start, isOver: () => boolean): boolean {
  try {
    return start.prepare(isOver);
  } catch {
    // The start meets the same error and sends it.
    return true;
  }
}
