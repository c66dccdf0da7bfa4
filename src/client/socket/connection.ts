/**
 * The connection to one of the nodes: opened with the first subscription, and opened again whenever
 * it is lost. On a new socket every subscription continues from its position, so the node sends
 * what happened meanwhile.
 */

import { backoffMs } from '../../engine/runtime/backoff.ts';
import { ApiError } from '../apiError.ts';
import { Listeners } from '../listeners.ts';
import { type Nodes, socketUrl } from '../nodes.ts';
import type { ClientPlatform, Clock, Timer } from '../platform.ts';
import type { Position } from '../types.ts';
import { type Decode, decoderOf, type Encoding, type Frame, isRecord } from './frame.ts';
import { FrameSocket } from './frameSocket.ts';
import {
  type NoticeReason,
  type Receiver,
  type SubscribeParams,
  Subscription,
} from './subscription.ts';

/** Between tries of what a node does not give now: up to 15 s, with jitter. */
export const RETRY = { firstMs: 250, mostMs: 15_000 };

export interface Tip {
  /** null without a chain. */
  readonly slot: number | null;
  readonly hash: string | null;
  /** Between the newest entry and now on that node; null where unknown. */
  readonly lagMs: number | null;
}

export interface ConnectionState {
  /** `idle`: no subscription yet. `waiting`: for the next try. */
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
  /** Unix milliseconds of the last ping from the node. */
  readonly heardAtMs: number | null;
  /** Why it is closed or waiting; null where that was asked for. */
  readonly why: string | null;
}

/** State was loaded or requested again: worth showing to a person. */
export interface Notice {
  /**
   * slow: this client did not read fast enough. epoch: the market has a new log. horizon: away for
   * longer than the server remembers. loss, checksum: what came did not fit, and was requested
   * again.
   */
  readonly reason: NoticeReason;
  readonly topic: string;
  /** Frames left out, where the server says so. */
  readonly skipped: number;
}

interface ConnectionDeps extends ClientPlatform {
  readonly nodes: Nodes;
  /** API key; undefined: none. */
  readonly key: string | undefined;
  readonly encoding: Encoding;
  readonly silenceMs: number;
}

/** From 4500 on a close code says not to come back. */
const FINAL_CODES = 4500;
const LAST_CODE = 4999;
const GOING_AWAY = 4001;
/** After so many refusals in a row another node is tried. */
const MAX_REFUSALS = 3;
const MAX_PAUSE_MS = 60_000;

export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #subscriptions = new Set<Subscription>();
  readonly #queue: SubscribeQueue;
  readonly #states = new Listeners<[state: ConnectionState]>();
  readonly #notices = new Listeners<[notice: Notice]>();
  #state: ConnectionState;
  #socket: FrameSocket | null = null;
  #decode: Decode | null = null;
  #retry: Timer | null = null;
  /** Requested by a node that shuts down. */
  #pauseMs: number | null = null;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#queue = new SubscribeQueue(deps);
    const nothing = { retryAtMs: null, tip: null, position: null, heardAtMs: null, why: null };
    this.#state = { is: 'idle', node: deps.nodes.current, tries: 0, ...nothing };
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

  subscribe(params: SubscribeParams, receiver: Receiver): Subscription {
    const subscription = new Subscription(params, receiver, {
      send: (subscription) => this.#queue.add(subscription),
      sendLater: (subscription) => this.#sendLater(subscription),
      forget: (forgotten) => {
        this.#subscriptions.delete(forgotten);
        this.#queue.remove(forgotten);
      },
      notice: (reason, topic, skipped) => this.#notices.notify({ reason, topic, skipped }),
    });
    if (this.#state.is === 'closed') {
      const { why } = this.#state;
      this.#deps.clock.after(0, () => subscription.end(ended(why)));
      return subscription;
    }
    this.#subscriptions.add(subscription);
    this.#queue.add(subscription);
    if (this.#state.is === 'idle') this.connect();
    return subscription;
  }

  /** Opens a socket where there is none; ends the wait for the next try. */
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
    const { nodes, encoding } = this.#deps;
    const node = nodes.current;
    this.#setState({ is: 'connecting', node, retryAtMs: null, why: null });
    try {
      this.#decode ??= await decoderOf(encoding);
      if (this.#state.is === 'connecting') this.#socket = this.#openSocketTo(node, this.#decode);
    } catch (error) {
      // No MessagePack, or an address that a page may not open: waiting changes neither.
      this.#giveUp(`${socketUrl(node)} cannot be opened (${error})`);
    }
  }

  #openSocketTo(node: string, decode: Decode): FrameSocket {
    const { encoding, silenceMs, clock, key, openSocket } = this.#deps;
    const link: FrameSocket = new FrameSocket({
      url: socketUrl(node),
      ...{ encoding, decode, openSocket, clock, silenceMs },
      onOpen: () => {
        link.send({ messageType: 'connect', requestId: 'connect', data: { acks: true, key } });
        this.#setState({ is: 'open', heardAtMs: clock.nowMs() });
        this.#queue.connected(link, this.#subscriptions);
      },
      onFrame: (frame) => this.#receive(link, frame),
      onEnd: (code, reason) => this.#ended(node, code, reason),
    });
    return link;
  }

  #receive(link: FrameSocket, frame: Frame): void {
    const { event, data, epoch, requestId } = frame;
    if (event === 'Ping') {
      link.send({ messageType: 'pong', requestId: null });
      this.#pinged(epoch, data);
    } else if (event === 'Shutdown') {
      const pauseMs = isRecord(data) ? Number(data.reconnectAfterMs) : 0;
      this.#pauseMs = Math.min(MAX_PAUSE_MS, Number.isFinite(pauseMs) ? pauseMs : 0);
    } else if (requestId !== null) {
      const subscription = this.#queue.byRequestId(String(requestId));
      if (subscription !== undefined && this.#state.tries > 0) this.#setState({ tries: 0 });
      subscription?.receive(frame);
    }
  }

  #pinged(epoch: string, data: unknown): void {
    const { seq, tip } = isRecord(data) ? data : {};
    if (typeof seq !== 'number') return;
    const position = { epoch, seq };
    for (const subscription of [...this.#subscriptions]) subscription.idleUpTo(position);
    const heardAtMs = this.#deps.clock.nowMs();
    // trust: documented so, and made by one function of the gateway
    const shown = isRecord(tip) ? (tip as typeof tip & Tip) : null;
    this.#setState({ tip: shown, position, heardAtMs, tries: 0 });
  }

  #ended(node: string, code: number, reason: string): void {
    const { nodes, clock, chance } = this.#deps;
    this.#socket = null;
    this.#queue.disconnected();
    for (const subscription of this.#subscriptions) subscription.disconnected();
    if (this.#state.is === 'closed') return;
    const why = reason === '' ? `connection lost (${code})` : reason;
    if (code >= FINAL_CODES && code <= LAST_CODE) {
      this.#giveUp(`the server closed the connection for good: ${why} (${code})`);
      return;
    }
    nodes.leave(node);
    const { tries } = this.#state;
    const isElsewhere = nodes.current !== node && tries + 1 < nodes.count;
    const requestedMs = code === GOING_AWAY && !isElsewhere ? (this.#pauseMs ?? 0) : 0;
    this.#pauseMs = null;
    // The first retry after a useful connection comes at once, with jitter.
    const delay = requestedMs + backoffMs(isElsewhere ? 0 : tries, RETRY, chance);
    const retryAtMs = clock.nowMs() + delay;
    this.#setState({ is: 'waiting', node: nodes.current, retryAtMs, tries: tries + 1, why });
    this.#retry = clock.after(delay, () => this.connect());
  }

  #sendLater(subscription: Subscription): void {
    const { nodes, clock, chance } = this.#deps;
    if (subscription.refusals >= MAX_REFUSALS && nodes.count > 1) {
      subscription.refusals = 0;
      this.#socket?.close('the node is not ready');
      return;
    }
    clock.after(backoffMs(subscription.refusals, RETRY, chance), () => {
      if (!subscription.isClosed && subscription.requestId === null) this.#queue.add(subscription);
    });
  }

  #giveUp(why: string | null): void {
    if (this.#state.is === 'closed') return;
    this.#retry?.cancel();
    this.#setState({ is: 'closed', retryAtMs: null, why });
    this.#socket?.close('closed by this client');
    for (const subscription of [...this.#subscriptions]) subscription.end(ended(why));
  }

  #setState(change: Partial<ConnectionState>): void {
    this.#state = { ...this.#state, ...change };
    this.#states.notify(this.#state);
  }
}

/** `why` null: this side closed it. */
function ended(why: string | null): ApiError {
  return why === null
    ? new ApiError('STOPPED', 'the client was closed')
    : new ApiError('CLOSED', why);
}

const MAX_PER_FRAME = 100;
/** Of 65,536 that a frame may have. */
const MAX_FRAME_BYTES = 60_000;

/**
 * Subscriptions to request from the server: many in one frame, each under a new request id. Those
 * of one turn of the event loop are sent together.
 */
class SubscribeQueue {
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
