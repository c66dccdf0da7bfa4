/**
 * Subscriptions to request from the server: many in one frame, each under a new request id. Those
 * of one turn of the event loop are sent together.
 */
import type { Clock, Timer } from '../platform.ts';
import type { FrameSocket } from './frameSocket.ts';
import type { Subscription } from './subscription.ts';

const MAX_PER_FRAME = 100;
/** Of 65,536 that a frame may have. */
const MAX_FRAME_BYTES = 60_000;

export class SubscribeQueue {
  readonly #clock: Clock;
  readonly #byId = new Map<string, Subscription>();
  readonly #pending = new Set<Subscription>();
  #socket: FrameSocket | null = null;
  #turn: Timer | null = null;
  #next = 1;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** A socket is open: all of these are requested on it. */
  connected(link: FrameSocket, subscriptions: Iterable<Subscription>): void {
    this.#socket = link;
    for (const subscription of subscriptions) this.#pending.add(subscription);
    this.#flush();
  }

  /** Goes with the next frame; without a socket, `connected` sends it. */
  add(subscription: Subscription): void {
    if (this.#socket === null) return;
    this.#pending.add(subscription);
    this.#turn ??= this.#clock.after(0, () => this.#flush());
  }

  /** The subscription whose newest request has this id. */
  byRequestId(requestId: string): Subscription | undefined {
    return this.#byId.get(requestId);
  }

  remove(subscription: Subscription): void {
    this.#pending.delete(subscription);
    this.#unsubscribe(subscription);
  }

  disconnected(): void {
    this.#socket = null;
    this.#byId.clear();
    this.#pending.clear();
    this.#turn?.cancel();
    this.#turn = null;
  }

  #unsubscribe(subscription: Subscription): void {
    const { requestId } = subscription;
    if (requestId === null || !this.#byId.delete(requestId)) return;
    this.#socket?.send({ messageType: 'unsubscribe', requestId });
  }

  #flush(): void {
    this.#turn?.cancel();
    this.#turn = null;
    let topics: object[] = [];
    let bytes = 0;
    const send = () => {
      if (topics.length > 0) this.#socket?.send({ messageType: 'subscribe', topics });
      topics = [];
      bytes = 0;
    };
    for (const subscription of this.#pending) {
      this.#unsubscribe(subscription);
      const requestId = `r${this.#next}`;
      this.#next += 1;
      const request = subscription.request(requestId);
      const size = JSON.stringify(request).length;
      if (topics.length >= MAX_PER_FRAME || bytes + size > MAX_FRAME_BYTES) send();
      this.#byId.set(requestId, subscription);
      topics.push(request);
      bytes += size;
    }
    this.#pending.clear();
    send();
  }
}
