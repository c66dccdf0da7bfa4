/**
 * Subscriptions to request from the server, each under a new request id. All subscriptions of one
 * turn of the event loop are requested together.
 */
import type { Clock, Timer } from '../platform.ts';
import type { Link } from './link.ts';
import type { Subscription } from './subscription.ts';

export class SubscribeQueue {
  readonly #clock: Clock;
  readonly #all: ReadonlySet<Subscription>;
  readonly #byId = new Map<string, Subscription>();
  readonly #pending = new Set<Subscription>();
  #link: Link | null = null;
  #turn: Timer | null = null;
  #next = 1;

  /** `all`: the open subscriptions. */
  constructor(clock: Clock, all: ReadonlySet<Subscription>) {
    this.#clock = clock;
    this.#all = all;
  }

  /** Every subscription in the queue is requested here. */
  connected(link: Link): void {
    this.#link = link;
    for (const subscription of this.#all) this.#pending.add(subscription);
    this.#flush();
  }

  /** Goes with the next request; without a link, `connected` sends it. */
  add(subscription: Subscription): void {
    if (this.#link === null) return;
    this.#pending.add(subscription);
    this.#flushSoon();
  }

  /** The subscription whose newest request has this id. */
  byRequestId(requestId: string): Subscription | undefined {
    return this.#byId.get(requestId);
  }

  remove(subscription: Subscription): void {
    this.#pending.delete(subscription);
    this.#unsubscribe(subscription);
    if (this.#link?.requestsAll === true) this.#flushSoon();
  }

  disconnected(): void {
    this.#link = null;
    this.#byId.clear();
    this.#pending.clear();
    this.#turn?.cancel();
    this.#turn = null;
  }

  #unsubscribe(subscription: Subscription): void {
    const { requestId } = subscription;
    if (requestId === null || !this.#byId.delete(requestId)) return;
    this.#link?.send({ messageType: 'unsubscribe', requestId });
  }

  #flushSoon(): void {
    this.#turn ??= this.#clock.after(0, () => this.#flush());
  }

  #flush(): void {
    this.#turn?.cancel();
    this.#turn = null;
    const link = this.#link;
    if (link === null) return;
    const wanted = [...(link.requestsAll ? this.#all : this.#pending)];
    this.#pending.clear();
    const topics = wanted.map((subscription) => {
      this.#unsubscribe(subscription);
      const requestId = `r${this.#next}`;
      this.#next += 1;
      this.#byId.set(requestId, subscription);
      return subscription.request(requestId);
    });
    link.request(topics);
  }
}
