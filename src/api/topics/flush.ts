/**
 * When streams are flushed. The first change after quiet goes out in the next turn; the next flush
 * of the same cadence starts no sooner than that cadence, and no flush starts sooner than twice the
 * time the last one held the loop, so fan-out takes at most half of the loop.
 */

import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { Observer } from '../gateway/observer.ts';
import type { Stream } from './stream.ts';

interface CadenceQueue {
  readonly cadenceMs: number;
  readonly dirty: Set<Stream>;
  nextMs: number;
}

/** Timers fire up to a millisecond early. */
const EARLY_MS = 1;
/** A pause, because a flush that fails half way sends its first half each time. */
const RETRY_MS = 1_000;

export class FlushScheduler {
  /** Number of the last flush turn. */
  turn = 0;
  readonly #clock: Clock;
  readonly #observer: Observer;
  /** Runs after the streams of a turn. */
  readonly #flushed: () => void;
  readonly #queues = new Map<number | 'retry', CadenceQueue>();
  #armed: { readonly timer: Timer; readonly dueMs: number } | null = null;
  #measuring = false;
  #notBeforeMs = 0;

  constructor(clock: Clock, observer: Observer, flushed: () => void) {
    this.#clock = clock;
    this.#observer = observer;
    this.#flushed = flushed;
  }

  add(stream: Stream): void {
    this.#queue(stream.cadenceMs).dirty.add(stream);
    this.#arm();
  }

  remove(stream: Stream): void {
    for (const queue of this.#queues.values()) queue.dirty.delete(stream);
  }

  clear(): void {
    for (const queue of this.#queues.values()) queue.dirty.clear();
  }

  *waiting(): Iterable<Stream> {
    for (const queue of this.#queues.values()) yield* queue.dirty;
  }

  #queue(key: number | 'retry'): CadenceQueue {
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      const cadenceMs = key === 'retry' ? RETRY_MS : key;
      queue = { cadenceMs, dirty: new Set(), nextMs: 0 };
      this.#queues.set(key, queue);
    }
    return queue;
  }

  #arm(): void {
    if (this.#measuring) return;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) {
      if (queue.dirty.size > 0) dueMs = Math.min(dueMs, queue.nextMs);
    }
    if (dueMs === Number.POSITIVE_INFINITY) return;
    dueMs = Math.max(dueMs, this.#notBeforeMs);
    if (this.#armed !== null) {
      if (this.#armed.dueMs <= dueMs) return;
      this.#armed.timer.cancel();
    }
    const delayMs = dueMs - this.#clock.monotonicMs();
    const run = () => this.#run();
    const timer = delayMs <= 0 ? this.#clock.soon(run) : this.#clock.after(delayMs, run);
    this.#armed = { timer, dueMs };
  }

  #run(): void {
    this.#armed = null;
    const startMs = this.#clock.monotonicMs();
    this.turn += 1;
    for (const queue of this.#queues.values()) {
      if (queue.dirty.size === 0 || queue.nextMs > startMs + EARLY_MS) continue;
      queue.nextMs = startMs + queue.cadenceMs;
      this.#flush(queue);
    }
    this.#flushed();
    // The library sends at the end of this turn, so its cost shows only in the next one.
    this.#measuring = true;
    this.#clock.soon(() => {
      const tookMs = this.#clock.monotonicMs() - startMs;
      this.#observer.flushed(tookMs);
      this.#measuring = false;
      this.#notBeforeMs = startMs + 2 * tookMs;
      this.#arm();
    });
  }

  #flush(queue: CadenceQueue): void {
    const streams = [...queue.dirty];
    queue.dirty.clear();
    for (const stream of streams) {
      try {
        stream.flush(this.turn);
      } catch (error) {
        this.#retryLater(stream);
        this.#observer.handlerFailed(`topic ${stream.topic.name}`, error);
      }
      if (stream.topic.periodic) queue.dirty.add(stream);
    }
  }

  /** A stream that failed stays pending, so that no client is called complete past it. */
  #retryLater(stream: Stream): void {
    if (stream.topic.periodic) return;
    const queue = this.#queue('retry');
    if (queue.dirty.size === 0) queue.nextMs = this.#clock.monotonicMs() + queue.cadenceMs;
    stream.dirty = true;
    queue.dirty.add(stream);
  }
}
