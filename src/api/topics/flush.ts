/**
 * When streams are flushed. The first change after quiet goes out in the next turn; the next flush
 * of the same cadence starts no sooner than that cadence. After a flush the loop is left to others
 * for a third of the time the flush held it, so fan-out takes at most three quarters of the loop.
 * Long flushes are spread over turns: the streams that are due wait for their turn, in order.
 */

import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import type { Observer } from '../gateway/observer.ts';
import type { Stream } from './stream.ts';

interface CadenceQueue {
  readonly cadenceMs: number;
  readonly dirty: Set<Stream>;
  /** When the streams in `dirty` are due. */
  nextMs: number;
  /** To be flushed, in order: the streams that were dirty when the cadence was over. */
  readonly due: Set<Stream>;
  dueSinceMs: number;
}

interface FlushParts {
  /** Runs before the streams of a turn. */
  begins(): void;
  /** Sends frames for single sockets, until `isOver`. True: all is sent. */
  send(isOver: () => boolean): boolean;
  /** All that the streams of a turn gave is sent. */
  ended(): void;
}

/** Timers fire up to a millisecond early. */
const EARLY_MS = 1;
/** A turn ends where preparing a stream passes it. */
const SLICE_MS = 3;
/**
 * A turn ends after the stream that passes it. The limit is longer, because frames that a turn
 * publishes to a socket leave in one write.
 */
const PUBLISH_MS = 10;
/** Each cadence gets at least this in a turn, however long the others take. */
const MIN_MS = 1;
/** After so long a stream is flushed at once: more changes than can be prepared for. */
const MAX_LATE_MS = 5_000;
/** Fan-out takes at most this share of the event loop's time. */
const LARGEST_SHARE = 0.75;
/** A pause, because a flush that fails half way sends its first half each time. */
const RETRY_MS = 1_000;

export class FlushScheduler {
  /** Number of the last flush turn. */
  turn = 0;
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #parts: FlushParts;
  readonly #queues = new Map<number | 'retry', CadenceQueue>();
  #armed: { readonly timer: Timer; readonly dueMs: number } | null = null;
  #measuring = false;
  #notBeforeMs = 0;

  constructor(clock: Clock, observer: Observer, parts: FlushParts) {
    this.#clock = clock;
    this.#observer = observer;
    this.#parts = parts;
  }

  add(stream: Stream): void {
    this.#queue(stream.cadenceMs).dirty.add(stream);
    this.#arm();
  }

  remove(stream: Stream): void {
    for (const { dirty, due } of this.#queues.values()) {
      dirty.delete(stream);
      due.delete(stream);
    }
  }

  clear(): void {
    for (const { dirty, due } of this.#queues.values()) {
      dirty.clear();
      due.clear();
    }
  }

  *waiting(): Iterable<Stream> {
    for (const { dirty, due } of this.#queues.values()) {
      yield* due;
      yield* dirty;
    }
  }

  #queue(key: number | 'retry'): CadenceQueue {
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      const cadenceMs = key === 'retry' ? RETRY_MS : key;
      queue = { cadenceMs, dirty: new Set(), nextMs: 0, due: new Set(), dueSinceMs: 0 };
      this.#queues.set(key, queue);
    }
    return queue;
  }

  #arm(): void {
    if (this.#measuring) return;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) {
      if (queue.due.size > 0) dueMs = Number.NEGATIVE_INFINITY;
      else if (queue.dirty.size > 0) dueMs = Math.min(dueMs, queue.nextMs);
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
    this.#parts.begins();
    for (const queue of this.#queues.values()) {
      this.#begin(queue, startMs);
      if (queue.due.size > 0) this.#flush(queue, startMs + SLICE_MS);
    }
    this.#measuring = true;
    const overMs = Math.max(startMs + PUBLISH_MS, this.#clock.monotonicMs() + MIN_MS);
    const isSent = this.#parts.send(() => this.#clock.monotonicMs() >= overMs);
    // The library sends at the end of this turn, so its cost shows only in the next one.
    this.#clock.soon(() => {
      const tookMs = this.#clock.monotonicMs() - startMs;
      if (isSent) this.#end(startMs, tookMs);
      else this.#sendRest(startMs, tookMs);
    });
  }

  /** To a crowd, in slices. */
  #sendRest(startMs: number, tookMs: number): void {
    let heldMs = tookMs;
    const step = (isOver: () => boolean) => {
      const fromMs = this.#clock.monotonicMs();
      const isSent = this.#parts.send(isOver);
      heldMs += this.#clock.monotonicMs() - fromMs;
      if (isSent) this.#end(startMs, heldMs);
      return isSent;
    };
    Slices.of(this.#clock).add('fan-out', step, (error) => {
      this.#observer.handlerFailed('fan-out', error);
      this.#sendRest(startMs, heldMs);
    });
  }

  /** `tookMs`: how long the flush has held the loop. */
  #end(startMs: number, tookMs: number): void {
    this.#observer.flushed(tookMs);
    this.#parts.ended();
    this.#measuring = false;
    this.#notBeforeMs = startMs + tookMs / LARGEST_SHARE;
    this.#arm();
  }

  /** The next streams of a cadence are due once the ones before are flushed. */
  #begin(queue: CadenceQueue, nowMs: number): void {
    const { dirty, due, cadenceMs } = queue;
    if (due.size > 0 || dirty.size === 0 || queue.nextMs > nowMs + EARLY_MS) return;
    queue.nextMs = nowMs + cadenceMs;
    queue.dueSinceMs = nowMs;
    for (const stream of dirty) due.add(stream);
    dirty.clear();
  }

  #flush({ dirty, due, dueSinceMs }: CadenceQueue, endMs: number): void {
    const clock = this.#clock;
    const fromMs = clock.monotonicMs();
    const isLate = fromMs - dueSinceMs >= MAX_LATE_MS;
    const overMs = Math.max(endMs, fromMs + MIN_MS);
    const isOver = () => clock.monotonicMs() >= overMs;
    const publishedMs = fromMs + PUBLISH_MS;
    for (const stream of due) {
      try {
        if (!stream.prepare(isLate ? () => false : isOver)) return;
        due.delete(stream);
        stream.flush(this.turn);
      } catch (error) {
        due.delete(stream);
        this.#retryLater(stream);
        this.#observer.handlerFailed(`topic ${stream.topic.name}`, error);
      }
      if (stream.topic.periodic) dirty.add(stream);
      if (stream.isPrepared ? isOver() : clock.monotonicMs() >= publishedMs) return;
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
