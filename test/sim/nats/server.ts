/**
 * One server of NATS: its connections and their subscriptions. A message at one server reaches the
 * others within the network.
 */
import type { ServerInfo } from '@nats-io/transport-node';
import type { Clock } from '../../../src/engine/runtime/clock.ts';
import { Interest } from './interest.ts';
import type { Network, Place } from './network.ts';
import { type Packet, statusPacket } from './packet.ts';
import type { Pipe } from './pipe.ts';
import type { ClientEnd, ServerSession } from './session.ts';

interface ServerSubscription {
  readonly session: Session;
  readonly sid: number;
  readonly subject: string;
  readonly queue: string | undefined;
  most: number | undefined;
  received: number;
}

/** How often a message is delivered to a node; tests drop and repeat some. */
export type Deliveries = (node: Place, packet: Packet) => number;

/** Takes part in routing beside the subscriptions: JetStream. */
export interface Listener {
  /** false: it goes nowhere. */
  hear(packet: Packet, server: ModelServer): boolean;
}

export class ModelServer {
  readonly place: Place;
  readonly index: number;
  readonly network: Network;
  readonly sessions = new Set<Session>();
  isUp = true;
  /** Bytes that its storage takes. The last message may exceed them. */
  roomBytes = Number.POSITIVE_INFINITY;
  /** Bytes of all streams on it. */
  usedBytes: () => number = () => 0;
  /** Called with the node and the subject of each message that asks for an answer. */
  asked: (node: Place, subject: string) => void = () => {};

  constructor(index: number, network: Network) {
    this.index = index;
    this.place = `nats-${index + 1}`;
    this.network = network;
  }

  /** Runs, and is not frozen. */
  get works(): boolean {
    return this.isUp && !this.network.isFrozen(this.place);
  }

  get hasRoom(): boolean {
    return this.roomBytes === Number.POSITIVE_INFINITY || this.usedBytes() < this.roomBytes;
  }

  reaches(other: ModelServer): boolean {
    if (other === this) return true;
    return other.works && !this.network.isCut(this.place, other.place);
  }
}

/** Sends each message to all subscribers, and to one member of each queue group. */
export class Router {
  readonly #interest = new Interest<ServerSubscription>();
  readonly #network: Network;
  readonly #listener: Listener;
  deliveries: Deliveries = () => 1;
  /** How much later a message is delivered to a node than the network makes it. */
  lateMs: (node: Place, packet: Packet) => number = () => 0;

  constructor(network: Network, listener: Listener) {
    this.#network = network;
    this.#listener = listener;
  }

  add(subscription: ServerSubscription): void {
    this.#interest.add(subscription.subject, subscription);
  }

  remove(subscription: ServerSubscription): void {
    this.#interest.remove(subscription.subject, subscription);
  }

  /** Whether a subscriber of `subject` is reachable from `server`. */
  isHeard(subject: string, server: ModelServer): boolean {
    return this.#interest.of(subject).some(({ session }) => server.reaches(session.server));
  }

  /** From a client of `server`: it is notified when its request has no responders. */
  route(packet: Packet, server: ModelServer): void {
    const isHeard = this.#listener.hear(packet, server);
    if (this.send(packet, server) || isHeard || packet.reply === '') return;
    this.send(statusPacket(packet.reply, 503, ''), server);
  }

  /** false: no subscription fits `to`, its subject unless it is delivered to another. */
  send(packet: Packet, server: ModelServer, to = packet.subject): boolean {
    let isHeard = false;
    let groups: Map<string, ServerSubscription[]> | null = null;
    for (const subscription of this.#interest.of(to)) {
      const { session, queue } = subscription;
      if (!server.reaches(session.server)) continue;
      isHeard = true;
      if (queue === undefined) {
        this.#deliver(subscription, packet);
        continue;
      }
      groups ??= new Map();
      const group = groups.get(queue);
      if (group === undefined) groups.set(queue, [subscription]);
      else group.push(subscription);
    }
    for (const group of groups?.values() ?? []) {
      const local = group.filter(({ session }) => session.server === server);
      const members = local.length > 0 ? local : group;
      const chosen = members[Math.floor(this.#network.rng.unit() * members.length)];
      if (chosen !== undefined) this.#deliver(chosen, packet);
    }
    return isHeard;
  }

  #deliver(subscription: ServerSubscription, packet: Packet): void {
    const { session } = subscription;
    subscription.received += 1;
    const { most, received } = subscription;
    if (most !== undefined && received >= most) session.drop(subscription);
    const copies = this.deliveries(session.node, packet);
    const lateMs = this.lateMs(session.node, packet);
    const deliver = () => session.deliver(subscription.sid, packet);
    for (let copy = 0; copy < copies; copy += 1) {
      if (lateMs > 0) this.#network.clock.after(lateMs, deliver);
      else deliver();
    }
  }
}

export interface ClientPlace {
  readonly node: Place;
  readonly clock: Clock;
}

/** The server's side of one connection. */
export class Session implements ServerSession {
  readonly node: Place;
  readonly server: ModelServer;
  readonly info: ServerInfo;
  readonly #clock: Clock;
  readonly #router: Router;
  readonly #end: ClientEnd;
  readonly #in: Pipe;
  readonly #out: Pipe;
  readonly #subscriptions = new Map<number, ServerSubscription>();
  #isOver = false;

  constructor(
    client: ClientPlace,
    server: ModelServer,
    router: Router,
    end: ClientEnd,
    info: ServerInfo,
  ) {
    const { node, clock } = client;
    this.node = node;
    this.#clock = clock;
    this.server = server;
    this.info = info;
    this.#router = router;
    this.#end = end;
    this.#in = server.network.pipe(node, server.place);
    this.#out = server.network.pipe(server.place, node, clock);
    server.sessions.add(this);
  }

  /** Messages of the client, or messages to it, do not arrive. */
  get isCut(): boolean {
    const { network, place } = this.server;
    return network.isCut(this.node, place) || network.isCut(place, this.node);
  }

  /** How many subjects it listens to now. */
  get listens(): number {
    return this.#subscriptions.size;
  }

  publish(packet: Packet): void {
    if (packet.reply !== '') this.server.asked(this.node, packet.subject);
    this.#in.send(() => this.#router.route(packet, this.server));
  }

  subscribe(sid: number, subject: string, queue: string | undefined): void {
    this.#in.send(() => {
      const subscription = { session: this, sid, subject, queue, most: undefined, received: 0 };
      this.#subscriptions.set(sid, subscription);
      this.#router.add(subscription);
    });
  }

  unsubscribe(sid: number, max?: number): void {
    this.#in.send(() => {
      const subscription = this.#subscriptions.get(sid);
      if (subscription === undefined) return;
      if (max === undefined || subscription.received >= max) this.drop(subscription);
      else subscription.most = max;
    });
  }

  ping(answered: () => void): void {
    this.#in.send(() => this.#out.send(answered));
  }

  /** The server hears of it once it can: until then messages to it are lost. */
  close(): void {
    this.#out.end();
    this.#in.send(() => this.end());
  }

  deliver(sid: number, packet: Packet): void {
    this.#out.send(() => this.#end.deliver(sid, packet));
  }

  drop(subscription: ServerSubscription): void {
    this.#subscriptions.delete(subscription.sid);
    this.#router.remove(subscription);
  }

  /** The server breaks it; the client learns that once it can. */
  break(): void {
    this.end();
    const { network, place } = this.server;
    const last = network.pipe(place, this.node, this.#clock);
    last.send(() => {
      network.end(last);
      this.#end.broken();
    });
  }

  /** Without a word. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const subscription of this.#subscriptions.values()) this.#router.remove(subscription);
    this.#subscriptions.clear();
    this.server.sessions.delete(this);
    const { network } = this.server;
    network.end(this.#in);
    network.end(this.#out);
  }
}
