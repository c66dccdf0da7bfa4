/**
 * The connection to one of several nodes. The client opens it with the first subscription, and
 * again whenever it is lost. On a new connection every subscription continues from its position, so
 * the node sends the changes made meanwhile.
 *
 * It is a WebSocket. Where three in a row say nothing, a network may block them: every second try
 * is then a stream of events. While that works, a WebSocket is tried beside it now and then.
 */

import { backoffMs } from '../../engine/runtime/backoff.ts';
import { ApiError } from '../apiError.ts';
import { Listeners } from '../listeners.ts';
import { type Nodes, socketUrl } from '../nodes.ts';
import type { ClientPlatform, Timer } from '../platform.ts';
import type { Position } from '../types.ts';
import { EventLink } from './eventLink.ts';
import { type Decode, decoderOf, type Encoding, type Frame, isRecord } from './frame.ts';
import { FrameSocket } from './frameSocket.ts';
import { GOING_AWAY, type Link } from './link.ts';
import { SubscribeQueue } from './subscribeQueue.ts';
import {
  type NoticeReason,
  type Receiver,
  type SubscribeParams,
  Subscription,
} from './subscription.ts';

/** Pauses between tries while a node does not answer: up to 15 s, with jitter. */
export const RETRY = { firstMs: 250, maxMs: 15_000 };

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
  /** The kind of the connection, or of the current try: a WebSocket, or server-sent events. */
  readonly transport: 'socket' | 'events';
  /** Unix milliseconds of the next try, while waiting. */
  readonly retryAtMs: number | null;
  /** Tries without success since it was last open. */
  readonly tries: number;
  /** Tip in the last ping, also when the connection is gone. */
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
   * longer than the server remembers. loss, checksum: frames that arrived did not fit, and the
   * client requested them again.
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
  readonly transport: Transport;
}

/** `auto`: a WebSocket, and server-sent events where networks block it. */
export type Transport = 'auto' | 'socket' | 'events';

/** From 4500 on a close code says not to come back. */
const FINAL_CODES = 4500;
const LAST_CODE = 4999;
/** After this many refusals in a row the client tries another node. */
const MAX_REFUSALS = 3;
const MAX_PAUSE_MS = 60_000;
/** After this many WebSockets in a row without a frame, WebSockets may be blocked. */
const SILENT_SOCKETS = 3;
/** Interval between tries of a WebSocket while events arrive by server-sent events. */
const PROBE = { firstMs: 5_000, maxMs: 3_600_000 };

export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #subscriptions = new Set<Subscription>();
  readonly #queue: SubscribeQueue;
  readonly #states = new Listeners<[state: ConnectionState]>();
  readonly #notices = new Listeners<[notice: Notice]>();
  #state: ConnectionState;
  #link: Link | null = null;
  #decode: Decode | null = null;
  #retry: Timer | null = null;
  /** Tries in a row of which nothing was heard; a stream of events that works does not end them. */
  #silentTries = 0;
  #isHeard = false;
  #probe: Timer | null = null;
  #probing: Link | null = null;
  #probes = 0;
  /** Requested by a node that shuts down. */
  #pauseMs: number | null = null;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#queue = new SubscribeQueue(deps.clock, this.#subscriptions);
    const nothing = { retryAtMs: null, tip: null, position: null, heardAtMs: null, why: null };
    const transport = deps.transport === 'events' ? 'events' : 'socket';
    this.#state = { is: 'idle', node: deps.nodes.current, transport, tries: 0, ...nothing };
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
    const transport = this.#nextTransport();
    this.#isHeard = false;
    this.#setState({ is: 'connecting', node, transport, retryAtMs: null, why: null });
    try {
      this.#decode ??= await decoderOf(encoding);
      if (this.#state.is !== 'connecting') return;
      if (transport === 'events') await this.#openEvents(node);
      else this.#link = this.#openSocket(node, this.#decode, (link) => this.#use(link));
    } catch (error) {
      // No MessagePack, or an address that a page may not open: waiting changes neither.
      this.#giveUp(`${socketUrl(node)} cannot be opened (${error})`);
    }
  }

  #nextTransport(): 'socket' | 'events' {
    const { transport } = this.#deps;
    if (transport !== 'auto') return transport;
    const beyond = this.#silentTries - SILENT_SOCKETS;
    return beyond >= 0 && beyond % 2 === 0 ? 'events' : 'socket';
  }

  #openSocket(node: string, decode: Decode, use: (link: Link) => void): Link {
    const { encoding, silenceMs, clock, key, openSocket } = this.#deps;
    const link: Link = new FrameSocket({
      url: socketUrl(node),
      ...{ encoding, decode, openSocket, clock, silenceMs },
      onOpen: () => {
        link.send({ messageType: 'connect', requestId: 'connect', data: { acks: true, key } });
        use(link);
      },
      onFrame: (frame) => this.#receive(link, frame),
      onEnd: (code, reason) => this.#ended(link, node, code, reason),
    });
    return link;
  }

  async #openEvents(node: string): Promise<void> {
    const { silenceMs, clock, key, fetch } = this.#deps;
    const decode = await decoderOf('json');
    const link: Link = new EventLink({
      ...{ node, key, decode, fetch, clock, silenceMs },
      onOpen: () => this.#setState({ is: 'open', heardAtMs: clock.nowMs() }),
      onFrame: (frame) => this.#receive(link, frame),
      onEnd: (code, reason) => this.#ended(link, node, code, reason),
    });
    this.#link = link;
    this.#queue.connected(link);
    if (this.#deps.transport === 'auto') this.#probeLater(node);
  }

  #use(link: Link): void {
    this.#setState({ is: 'open', heardAtMs: this.#deps.clock.nowMs() });
    this.#queue.connected(link);
  }

  /** Beside a stream of events: a WebSocket that opens and says something takes its place. */
  #probeLater(node: string): void {
    const { clock, chance } = this.#deps;
    this.#probe = clock.after(backoffMs(this.#probes, PROBE, chance), () => {
      this.#probes += 1;
      if (this.#decode !== null) this.#probing = this.#openSocket(node, this.#decode, () => {});
    });
  }

  #stopProbe(): void {
    this.#probe?.cancel();
    const probing = this.#probing;
    this.#probing = null;
    probing?.close('not needed');
  }

  #replaceBy(link: Link): void {
    const events = this.#link;
    this.#probing = null;
    this.#link = link;
    events?.close('a WebSocket works');
    this.#lost();
    this.#silentTries = 0;
    this.#probes = 0;
    this.#setState({ transport: 'socket' });
    this.#use(link);
  }

  /** Subscriptions wait for the next link. */
  #lost(): void {
    this.#queue.disconnected();
    for (const subscription of this.#subscriptions) subscription.disconnected();
  }

  #receive(link: Link, frame: Frame): void {
    if (link === this.#probing) this.#replaceBy(link);
    if (link !== this.#link) return;
    this.#isHeard = true;
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

  #ended(link: Link, node: string, code: number, reason: string): void {
    const { nodes, clock, chance } = this.#deps;
    if (link === this.#probing) {
      this.#probing = null;
      this.#probeLater(node);
    }
    if (link !== this.#link) return;
    this.#link = null;
    this.#lost();
    this.#stopProbe();
    if (!this.#isHeard) this.#silentTries += 1;
    else if (this.#state.transport === 'socket') this.#silentTries = 0;
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
      this.#link?.close('the node is not ready');
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
    this.#stopProbe();
    this.#link?.close('closed by this client');
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
