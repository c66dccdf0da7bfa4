/**
 * Puts the process's global timers, dates and randomness under a simulation, for libraries that use
 * them: @nats-io's clients, and what Node offers in terms of them (`AbortSignal.timeout`).
 */
import type { Timer } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { timerDelayMs, type VirtualTime } from './virtualTime.ts';

/** The return value of setTimeout; a library may call any of these. */
class TimerHandle {
  timer: Timer;
  constructor(timer: Timer) {
    this.timer = timer;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  [Symbol.dispose](): void {
    this.timer.cancel();
  }
}

type Run = (...values: unknown[]) => void;

/** Returns what takes it all back. */
export function installGlobals(time: VirtualTime, rng: Rng): () => void {
  const undo = [
    ...replaceTimers(time),
    replace(globalThis, 'Date', virtualDate(time)),
    replace(performance, 'now', () => time.nowMs - startMs),
    replace(Math, 'random', rng.unit),
    replace(crypto, 'getRandomValues', (into: Uint8Array) => fill(into, rng)),
    replace(AbortSignal, 'timeout', (ms: number) => timeout(ms)),
    // Errors that are answers (a key that is there, a deadline) are made all the time.
    replace(Error, 'stackTraceLimit', SHOWN_CALLS),
  ];
  return () => {
    for (const take of undo.toReversed()) take();
  };
}

const SHOWN_CALLS = 4;

/** Zero point of `performance.now`. */
const startMs = Date.now() - performance.now();

function replaceTimers(time: VirtualTime): (() => void)[] {
  const set = (run: Run, delayMs = 0, ...values: unknown[]) => {
    const { current } = time;
    return new TimerHandle(time.at(current, timerDelayMs(delayMs), () => run(...values)));
  };
  const repeat = (run: Run, delayMs = 0, ...values: unknown[]) => {
    const { current } = time;
    const next = () => time.at(current, timerDelayMs(delayMs), tick);
    const tick = () => {
      handle.timer = next();
      run(...values);
    };
    const handle = new TimerHandle(next());
    return handle;
  };
  const immediate = (run: Run, ...values: unknown[]) =>
    new TimerHandle(time.at(time.current, 0, () => run(...values)));
  const clear = (handle: unknown) => {
    if (handle instanceof TimerHandle) handle.timer.cancel();
  };
  return [
    replace(globalThis, 'setTimeout', set),
    replace(globalThis, 'setInterval', repeat),
    replace(globalThis, 'setImmediate', immediate),
    replace(globalThis, 'clearTimeout', clear),
    replace(globalThis, 'clearInterval', clear),
    replace(globalThis, 'clearImmediate', clear),
  ];
}

function virtualDate(time: VirtualTime): unknown {
  return new Proxy(Date, {
    get: (real, name) =>
      name === 'now' ? () => Math.floor(time.nowMs) : Reflect.get(real, name, real),
    construct: (real, values, made) =>
      Reflect.construct(real, values.length === 0 ? [Math.floor(time.nowMs)] : values, made),
    apply: (real) => new real(Math.floor(time.nowMs)).toString(),
  });
}

function fill(into: Uint8Array, rng: Rng): Uint8Array {
  const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Math.floor(rng.unit() * 256);
  return into;
}

function timeout(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => {
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  }, ms);
  return controller.signal;
}

function replace(owner: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, before);
  };
}
