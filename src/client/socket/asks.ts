/**
 * What is to be asked of the server: many subscriptions in one frame, each ask under a new request
 * id. Those of one turn of the event loop travel together.
 */
import type { Clock, Timer } from '../surroundings.ts';
import type { Link } from './link.ts';
import type { Subscription } from './subscription.ts';

const MOST_IN_FRAME = 100;
/** Of 65,536 that a frame may have. */
const MOST_BYTES = 60_000;

export class Asks {
  readonly #clock: Clock;
  readonly #byId = new Map<string, Subscription>();
  readonly #due = new Set<Subscription>();
  #link: Link | null = null;
  #turn: Timer | null = null;
  #next = 1;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** A socket is there: all of these are asked on it. */
  to(link: Link, subscriptions: Iterable<Subscription>): void {
    this.#link = link;
    for (const subscription of subscriptions) this.#due.add(subscription);
    this.#flush();
  }

  /** With the next frame; on the next socket, where there is none. */
  soon(subscription: Subscription): void {
    if (this.#link === null) return;
    this.#due.add(subscription);
    this.#turn ??= this.#clock.after(0, () => this.#flush());
  }

  /** The one whose newest ask had this id. */
  answered(requestId: string): Subscription | undefined {
    return this.#byId.get(requestId);
  }

  forget(subscription: Subscription): void {
    this.#due.delete(subscription);
    this.#end(subscription);
  }

  lost(): void {
    this.#link = null;
    this.#byId.clear();
    this.#due.clear();
    this.#turn?.cancel();
    this.#turn = null;
  }

  #end(subscription: Subscription): void {
    const { requestId } = subscription;
    if (requestId === null || !this.#byId.delete(requestId)) return;
    this.#link?.send({ messageType: 'unsubscribe', requestId });
  }

  #flush(): void {
    this.#turn?.cancel();
    this.#turn = null;
    let topics: object[] = [];
    let bytes = 0;
    const send = () => {
      if (topics.length > 0) this.#link?.send({ messageType: 'subscribe', topics });
      topics = [];
      bytes = 0;
    };
    for (const subscription of this.#due) {
      this.#end(subscription);
      const requestId = `r${this.#next}`;
      this.#next += 1;
      const asked = subscription.asking(requestId);
      const size = JSON.stringify(asked).length;
      if (topics.length >= MOST_IN_FRAME || bytes + size > MOST_BYTES) send();
      this.#byId.set(requestId, subscription);
      topics.push(asked);
      bytes += size;
    }
    this.#due.clear();
    send();
  }
}
