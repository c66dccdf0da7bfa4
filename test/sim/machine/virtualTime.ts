/**
 * One clock for a whole simulation: a heap of events, run one at a time on the process's only
 * thread. Time moves only from event to event, and stands still while one runs.
 *
 * An event belongs to one `SimProcess` (a node, a client, a model of a server). Everything that the
 * event causes (promises, ticks, access to real files) is finished before the next event begins, so
 * it belongs to that process as well. A model that passes something to another process does it with
 * an event of the other: `time.at(other, delayMs, run)`. It never calls into another process
 * directly.
 *
 * With that rule a process can be killed (its events are dropped) or paused (they come late), and a
 * run is a function of its seed.
 */

import type { Clock, Timer } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { EventHeap, type ScheduledEvent } from './eventHeap.ts';
import { installGlobals } from './globalTimers.ts';

/** 2026-11-01T00:00:00Z. */
const START_MS = 1_793_491_200_000;
/** Node's own limits: shorter delays are 1 ms, and longer ones as well. */
const MIN_DELAY_MS = 1;
const MAX_DELAY_MS = 2 ** 31 - 1;
/** As many events without a step of time are a loop. */
const MAX_AT_ONCE = 200_000;
/** After so long in one go the real loop gets a turn, for signals and garbage collection. */
const REAL_SLICE_MS = 50;
/** Access to files that is under way, as `process.getActiveResourcesInfo` names it. */
const SYSTEM_WORK = /^(FSReq|CloseReq)/;

type ProcessState = 'running' | 'paused' | 'dead';

/** A group of events that can be killed or paused together. */
export class SimProcess {
  readonly name: string;
  /** An error that ends the real process: thrown out of an event, or a rejection unheard. */
  onCrash: (error: unknown) => void;
  /** Called once when it is killed, by its killer. */
  onKill: () => void = () => {};
  readonly #time: VirtualTime;
  #state: ProcessState = 'running';
  #held: ScheduledEvent[] = [];

  constructor(name: string, time: VirtualTime) {
    this.name = name;
    this.#time = time;
    this.onCrash = (error) => {
      throw new Error(`${name} failed`, { cause: error });
    };
  }

  get state(): ProcessState {
    return this.#state;
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  /** After the present event, none of its events runs. */
  kill(): void {
    if (this.isDead) return;
    this.#state = 'dead';
    this.#held = [];
    this.onKill();
  }

  /** Events that fall due from now on wait for `resume`. */
  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  /** Held events run now, in their order. */
  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    for (const event of this.#held.splice(0)) this.#time.again(event);
  }

  hold(event: ScheduledEvent): void {
    this.#held.push(event);
  }
}

export interface ClockOptions {
  /** Offset of the wall clock. */
  readonly offsetMs?: number;
  /** Its pace: 100 is a tenth of a second too fast in 1000 s. */
  readonly driftPpm?: number;
}

/** The clock of one process: its timers follow its pace, and a jump moves its wall clock only. */
export class VirtualClock implements Clock {
  readonly #time: VirtualTime;
  readonly #process: SimProcess;
  #offsetMs: number;
  #pace: number;
  /** Where pace and offset were changed last. */
  #sinceMs: number;
  #monotonicMs: number;

  constructor(time: VirtualTime, process: SimProcess, options: ClockOptions) {
    this.#time = time;
    this.#process = process;
    this.#sinceMs = time.nowMs;
    this.#monotonicMs = time.nowMs - START_MS;
    this.#offsetMs = START_MS + (options.offsetMs ?? 0);
    this.#pace = 1 + (options.driftPpm ?? 0) / 1e6;
  }

  nowMs = (): number => Math.floor(this.monotonicMs() + this.#offsetMs);

  monotonicMs = (): number => this.#monotonicMs + (this.#time.nowMs - this.#sinceMs) * this.#pace;

  after = (delayMs: number, run: () => void): Timer =>
    this.#time.at(this.#process, timerDelayMs(delayMs) / this.#pace, run);

  soon = (run: () => void): Timer => this.#time.at(this.#process, 0, run);

  /** The wall clock is set. */
  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  /** Timers that run keep their end. */
  drift(ppm: number): void {
    this.#monotonicMs = this.monotonicMs();
    this.#sinceMs = this.#time.nowMs;
    this.#pace = 1 + ppm / 1e6;
  }
}

export class VirtualTime {
  /** True time, Unix milliseconds with a fraction. */
  nowMs = START_MS;
  /** Events that have run. */
  events = 0;
  /** Called after each event. */
  onEvent: ((process: SimProcess) => void) | null = null;
  readonly #heap = new EventHeap();
  /** Owner of work outside of events. */
  readonly #root = new SimProcess('simulation', this);
  /** Owner of the present event. */
  #current = this.#root;
  #order = 0;
  #atOnce = 0;
  #isRunning = false;

  get current(): SimProcess {
    return this.#current;
  }

  process(name: string): SimProcess {
    return new SimProcess(name, this);
  }

  /** A clock of the given process, by default the present one. */
  clock(options: ClockOptions = {}, process: SimProcess = this.#current): VirtualClock {
    return new VirtualClock(this, process, options);
  }

  /**
   * An event of `process`, `delayMs` of true time from now; 0: after the events that are due now.
   */
  at(process: SimProcess, delayMs: number, run: () => void): Timer {
    const atMs = this.nowMs + Math.max(0, delayMs);
    const event: ScheduledEvent = { atMs, order: this.#order++, process, run, isCancelled: false };
    if (!process.isDead) this.#heap.push(event);
    return {
      cancel: () => {
        event.isCancelled = true;
      },
    };
  }

  /** An event that was held back: now. */
  again(event: ScheduledEvent): void {
    this.#heap.push(Object.assign(event, { atMs: this.nowMs, order: this.#order++ }));
  }

  /** Runs `run` now as an event of `process`; only outside of events. */
  within<T>(process: SimProcess, run: () => T): T {
    const before = this.#current;
    this.#current = process;
    try {
      return run();
    } finally {
      this.#current = before;
    }
  }

  /**
   * The simulation replaces the process's global timers, dates and randomness until the returned
   * function is called: libraries use them. Timers belong to the process in hand.
   */
  install(rng: Rng): () => void {
    return installGlobals(this, rng);
  }

  /**
   * Runs the events that are due until then, and ends at that time. Rejects with an event's
   * exception.
   */
  run(untilMs: number): Promise<void> {
    return this.until(() => false, untilMs);
  }

  /** The same, but ends after the first event that makes `isDone` true. */
  until(isDone: () => boolean, untilMs: number): Promise<void> {
    if (this.#isRunning) throw new Error('time is moved by one caller, and not by an event');
    this.#isRunning = true;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const step = () => {
      try {
        if (this.#slice(isDone, untilMs)) resolve();
        else REAL.setImmediate(step);
      } catch (error) {
        reject(error);
      }
    };
    // In a turn of the real loop and not in a promise: only there can promises be run to the end.
    REAL.setImmediate(step);
    const restore = onlyListener((error) => this.#crash(this.#current, error));
    return promise.finally(() => {
      restore();
      this.#current = this.#root;
      this.#isRunning = false;
    });
  }

  /** Runs until `promise` has settled, for `maxMs` at most; rejects when that was not enough. */
  async settle<T>(promise: Promise<T>, maxMs: number): Promise<T> {
    let isSettled = false;
    const note = () => {
      isSettled = true;
    };
    promise.then(note, note);
    await this.until(() => isSettled, this.nowMs + maxMs);
    if (!isSettled) throw new Error(`not settled after ${maxMs} ms of virtual time`);
    return promise;
  }

  /** False: go on in another turn of the real loop. */
  #slice(isDone: () => boolean, untilMs: number): boolean {
    const endMs = REAL.now() + REAL_SLICE_MS;
    for (;;) {
      if (!this.#isQuiet()) return false;
      if (isDone()) return true;
      const next = this.#heap.peek();
      if (next === null || next.atMs > untilMs) {
        this.nowMs = Math.max(this.nowMs, untilMs);
        return true;
      }
      if (REAL.now() > endMs) return false;
      this.#heap.pop();
      this.#runEvent(next);
    }
  }

  /** Runs promises and ticks to their end. False: work of the event waits for the system. */
  #isQuiet(): boolean {
    drain();
    return !process.getActiveResourcesInfo().some((name) => SYSTEM_WORK.test(name));
  }

  #runEvent(event: ScheduledEvent): void {
    if (event.isCancelled || event.process.isDead) return;
    if (event.process.state === 'paused') {
      event.process.hold(event);
      return;
    }
    this.#atOnce = event.atMs > this.nowMs ? 0 : this.#atOnce + 1;
    if (this.#atOnce > MAX_AT_ONCE) {
      throw new Error(`${event.process.name}: events without end at one time`);
    }
    this.nowMs = Math.max(this.nowMs, event.atMs);
    this.#current = event.process;
    this.events += 1;
    try {
      event.run();
    } catch (error) {
      this.#crash(event.process, error);
    }
    drain();
    this.onEvent?.(event.process);
  }

  #crash(process: SimProcess, error: unknown): void {
    if (!process.isDead) process.onCrash(error);
  }
}

export function timerDelayMs(delayMs: number): number {
  const isInRange = delayMs >= MIN_DELAY_MS && delayMs <= MAX_DELAY_MS;
  return isInRange ? Math.trunc(delayMs) : MIN_DELAY_MS;
}

/**
 * Makes this the only listener of rejections without a handler: a rejection in a simulated process
 * is no failure of this one.
 */
function onlyListener(listener: (error: unknown) => void): () => void {
  const before = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', listener);
  return () => {
    process.off('unhandledRejection', listener);
    for (const one of before) process.on('unhandledRejection', one);
  };
}

/** The process's own, whatever `install` replaced. */
const REAL = {
  setImmediate: globalThis.setImmediate,
  now: performance.now.bind(performance),
};

// Node runs ticks and promises to their end with it. It is not documented; without it each event
// would cost a turn of the real loop.
const drain: () => void = Reflect.get(process, '_tickCallback');
