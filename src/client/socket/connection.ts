/**
 * The connection to one of the nodes: opened when there is something to subscribe to, and again for
 * as long as that is so. A new socket asks for every subscription from where it stands; what
 * happened meanwhile comes then, from whichever node it is.
 */

import { ApiError } from '../apiError.ts';
import { Listeners } from '../listeners.ts';
import type { Nodes } from '../nodes.ts';
import { socketUrl } from '../nodes.ts';
import type { Surroundings, Timer } from '../surroundings.ts';
import type { Position } from '../types.ts';
import { Asks } from './asks.ts';
import { backoffMs } from './backoff.ts';
import { type Decode, decoderOf, type Encoding, type Frame, isRecord } from './frame.ts';
import { Link } from './link.ts';
import { type NoticeReason, type Receiver, Subscription, type Wish } from './subscription.ts';

export interface Tip {
  /** null without a chain. */
  readonly slot: number | null;
  readonly hash: string | null;
  /** Between the newest entry and now on that node; null where unknown. */
  readonly lagMs: number | null;
}

export interface ConnectionState {
  /** `idle`: nobody has subscribed yet. `waiting`: for the next try. */
  readonly is: 'idle' | 'connecting' | 'open' | 'waiting' | 'closed';
  /** Base URL of the node. */
  readonly node: string;
  /** Unix milliseconds of the next try, while waiting. */
  readonly retryAtMs: number | null;
  /** Tries without success since it was last open. */
  readonly tries: number;
  /** Of the last ping, also when the connection is gone. */
  readonly tip: Tip | null;
  readonly position: Position | null;
  /** Unix milliseconds at which the node was last heard. */
  readonly heardAtMs: number | null;
  /** Why it is closed or waiting; null where that was asked for. */
  readonly why: string | null;
}

/** Something was loaded anew, or asked for again: worth telling to a person. */
export interface Notice {
  /**
   * slow: this client did not read fast enough. epoch: the market has a new log. horizon: away for
   * longer than the server remembers. loss, checksum: what came did not fit, and was asked again.
   */
  readonly reason: NoticeReason;
  readonly topic: string;
  /** Frames left out, where the server says so. */
  readonly skipped: number;
}

export interface ConnectionParts extends Surroundings {
  readonly nodes: Nodes;
  readonly encoding: Encoding;
  readonly silenceMs: number;
}

/** From 4500 on a close code says not to come back. */
const FINAL_CODES = 4500;
const LAST_CODE = 4999;
const GOING_AWAY = 4001;
/** A node that is not ready so often is left for another. */
const MOST_REFUSALS = 3;
const LONGEST_PAUSE_MS = 60_000;

export class Connection {
  readonly #parts: ConnectionParts;
  readonly #subscriptions = new Set<Subscription>();
  readonly #asks: Asks;
  readonly #states = new Listeners<[state: ConnectionState]>();
  readonly #notices = new Listeners<[notice: Notice]>();
  #state: ConnectionState;
  #link: Link | null = null;
  #decode: Decode | null = null;
  #retry: Timer | null = null;
  /** Asked for by a node that goes away. */
  #pauseMs: number | null = null;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#asks = new Asks(parts);
    const nothing = { retryAtMs: null, tip: null, position: null, heardAtMs: null, why: null };
    this.#state = { is: 'idle', node: parts.nodes.current, tries: 0, ...nothing };
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Called after each change, until the returned function is called. */
  onState(listener: (state: ConnectionState) => void): () => void {
    return this.#states.add(listener);
  }

  onNotice(listener: (notice: Notice) => void): () => void {
    return this.#notices.add(listener);
  }

  subscribe(wish: Wish, receiver: Receiver): Subscription {
    const subscription = new Subscription(wish, receiver, {
      ask: (asking) => this.#asks.soon(asking),
      askLater: (asking) => this.#askLater(asking),
      forget: (forgotten) => {
        this.#subscriptions.delete(forgotten);
        this.#asks.forget(forgotten);
      },
      notice: (reason, topic, skipped) => this.#notices.tell({ reason, topic, skipped }),
    });
    if (this.#state.is === 'closed') {
      const { why } = this.#state;
      this.#parts.clock.after(0, () => subscription.end(ended(why)));
      return subscription;
    }
    this.#subscriptions.add(subscription);
    this.#asks.soon(subscription);
    if (this.#state.is === 'idle') this.connect();
    return subscription;
  }

  /** Opens a socket where there is none; a wait for the next try is cut short. */
  connect(): void {
    if (this.#state.is !== 'idle' && this.#state.is !== 'waiting') return;
    this.#retry?.cancel();
    this.#retry = null;
    void this.#open();
  }

  /** For good. */
  close(): void {
    this.#giveUp(null);
  }

  async #open(): Promise<void> {
    const { nodes, encoding } = this.#parts;
    const node = nodes.current;
    this.#become({ is: 'connecting', node, retryAtMs: null, why: null });
    try {
      this.#decode ??= await decoderOf(encoding);
      if (this.#state.is === 'connecting') this.#link = this.#linkTo(node, this.#decode);
    } catch (error) {
      // No MessagePack, or an address that a page may not open: neither gets better by waiting.
      this.#giveUp(`${socketUrl(node)} cannot be opened (${error})`);
    }
  }

  #linkTo(node: string, decode: Decode): Link {
    const { encoding, silenceMs, clock, openSocket } = this.#parts;
    const link: Link = new Link({
      url: socketUrl(node),
      ...{ encoding, decode, openSocket, clock, silenceMs },
      onOpen: () => {
        link.send({ messageType: 'connect', requestId: 'connect', data: { acks: true } });
        this.#become({ is: 'open', heardAtMs: clock.nowMs() });
        this.#asks.to(link, this.#subscriptions);
      },
      onFrame: (frame) => this.#hear(link, frame),
      onEnd: (code, reason) => this.#ended(node, code, reason),
    });
    return link;
  }

  #hear(link: Link, frame: Frame): void {
    const { event, data, epoch, requestId } = frame;
    if (event === 'Ping') {
      link.send({ messageType: 'pong', requestId: null });
      this.#pinged(epoch, data);
    } else if (event === 'Shutdown') {
      const pauseMs = isRecord(data) ? Number(data.reconnectAfterMs) : 0;
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Number.isFinite(pauseMs) ? pauseMs : 0);
    } else if (requestId !== null) {
      const subscription = this.#asks.answered(String(requestId));
      if (subscription !== undefined && this.#state.tries > 0) this.#become({ tries: 0 });
      subscription?.hear(frame);
    }
  }

  #pinged(epoch: string, data: unknown): void {
    const { seq, tip } = isRecord(data) ? data : {};
    if (typeof seq !== 'number') return;
    const position = { epoch, seq };
    for (const subscription of [...this.#subscriptions]) subscription.idleUpTo(position);
    const heardAtMs = this.#parts.clock.nowMs();
    // trust: documented so, and made by one function of the gateway
    const shown = isRecord(tip) ? (tip as unknown as Tip) : null;
    this.#become({ tip: shown, position, heardAtMs, tries: 0 });
  }

  #ended(node: string, code: number, reason: string): void {
    const { nodes, clock, chance } = this.#parts;
    this.#link = null;
    this.#asks.lost();
    for (const subscription of this.#subscriptions) subscription.lost();
    if (this.#state.is === 'closed') return;
    const why = reason === '' ? `connection lost (${code})` : reason;
    if (code >= FINAL_CODES && code <= LAST_CODE) {
      this.#giveUp(`the server closed the connection for good: ${why} (${code})`);
      return;
    }
    nodes.leave(node);
    const { tries } = this.#state;
    const isElsewhere = nodes.current !== node && tries + 1 < nodes.count;
    const asked = code === GOING_AWAY && !isElsewhere ? (this.#pauseMs ?? 0) : 0;
    this.#pauseMs = null;
    // The first try after a connection that was of use comes at once, spread over a moment.
    const delay = asked + backoffMs(isElsewhere ? 0 : tries, chance);
    const retryAtMs = clock.nowMs() + delay;
    this.#become({ is: 'waiting', node: nodes.current, retryAtMs, tries: tries + 1, why });
    this.#retry = clock.after(delay, () => this.connect());
  }

  #askLater(subscription: Subscription): void {
    const { nodes, clock, chance } = this.#parts;
    if (subscription.refusals >= MOST_REFUSALS && nodes.count > 1) {
      subscription.refusals = 0;
      this.#link?.close('the node is not ready');
      return;
    }
    clock.after(backoffMs(subscription.refusals, chance), () => {
      if (!subscription.isClosed && subscription.requestId === null) this.#asks.soon(subscription);
    });
  }

  #giveUp(why: string | null): void {
    if (this.#state.is === 'closed') return;
    this.#retry?.cancel();
    this.#become({ is: 'closed', retryAtMs: null, why });
    this.#link?.close('closed by this client');
    for (const subscription of [...this.#subscriptions]) subscription.end(ended(why));
  }

  #become(change: Partial<ConnectionState>): void {
    this.#state = { ...this.#state, ...change };
    this.#states.tell(this.#state);
  }
}

/** `why` null: this side wanted it. */
function ended(why: string | null): ApiError {
  return why === null
    ? new ApiError('STOPPED', 'the client was closed')
    : new ApiError('CLOSED', why);
}
