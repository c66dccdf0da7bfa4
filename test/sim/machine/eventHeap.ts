/** Events by time, and in the order in which they were scheduled where the time is the same. */
import type { SimProcess } from './virtualTime.ts';

export interface ScheduledEvent {
  atMs: number;
  order: number;
  readonly process: SimProcess;
  readonly run: () => void;
  isCancelled: boolean;
}

/** Cancelled ones are thrown out when they are more than the others. */
const MIN_SWEPT = 1024;

export class EventHeap {
  #events: ScheduledEvent[] = [];
  #sweepAt = MIN_SWEPT;

  get size(): number {
    return this.#events.length;
  }

  push(event: ScheduledEvent): void {
    if (this.#events.length >= this.#sweepAt) this.#sweep();
    this.#events.push(event);
    this.#up(this.#events.length - 1);
  }

  /** Cancelled events are left out. */
  peek(): ScheduledEvent | null {
    for (;;) {
      const first = this.#events[0];
      if (first === undefined) return null;
      if (!first.isCancelled) return first;
      this.pop();
    }
  }

  pop(): void {
    const last = this.#events.pop();
    if (last === undefined || this.#events.length === 0) return;
    this.#events[0] = last;
    this.#down(0);
  }

  #up(from: number): void {
    const events = this.#events;
    const event = events[from];
    if (event === undefined) return;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = events[above];
      if (parent === undefined || !isBefore(event, parent)) break;
      events[at] = parent;
      at = above;
    }
    events[at] = event;
  }

  #down(from: number): void {
    const events = this.#events;
    const event = events[from];
    if (event === undefined) return;
    let at = from;
    for (;;) {
      const left = events[2 * at + 1];
      const right = events[2 * at + 2];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (!isBefore(child, event)) break;
      events[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    events[at] = event;
  }

  #sweep(): void {
    const left = this.#events.filter(({ isCancelled }) => !isCancelled);
    // A sorted array is a heap.
    this.#events = left.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    this.#sweepAt = Math.max(MIN_SWEPT, 2 * left.length);
  }
}

function isBefore(a: ScheduledEvent, b: ScheduledEvent): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
