/**
 * NATS in memory, as its clients see it: one server or three, on a clock and a source of
 * chance that it is given. Nothing else in it is random or timed. Its faults are methods.
 *
 * A method's change takes effect at once inside NATS; nodes learn of it over the network.
 */
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { ModelConnection, refused } from './connection.ts';
import { DeliveryFaults } from './deliveryFaults.ts';
import { JetStream } from './jetstream/jetstream.ts';
import type { StreamState } from './jetstream/stream.ts';
import { type Latency, Network, type Place } from './network.ts';
import { packetOf } from './packet.ts';
import { type ClientPlace, ModelServer, Router, Session } from './server.ts';
import { infoOf } from './serverInfo.ts';
import type { ClientEnd, ServerSession } from './session.ts';

type NatsVersion = '2.9' | '2.12';

interface NatsModelOptions {
  /** The time of the servers: latencies, and every event inside them. */
  readonly clock: Clock;
  readonly rng: Rng;
  readonly version?: NatsVersion;
  readonly servers?: 1 | 3;
  /** Room of each server's storage; absent: unlimited. */
  readonly roomBytes?: number;
  readonly latency?: Latency;
}

interface StoredInModel {
  readonly stream: string;
  readonly seq: number;
  readonly subject: string;
  readonly text: string;
}

/** `in`: it hears nothing. `out`: its messages arrive nowhere. */
export type Way = 'both' | 'in' | 'out';

/** Makes a connection, as `connect` of the client of @nats-io does. */
type Dial = (options: ConnectionOptions) => Promise<NatsConnection>;

/** The storage of all servers. */
class NatsCopy {
  readonly streams: readonly StreamState[];

  constructor(streams: readonly StreamState[]) {
    this.streams = streams;
  }
}

const LATENCY = { minMs: 1, maxMs: 3 };
/** A server pings its clients every two minutes, twice without an answer. */
const FORGOTTEN_MS = 240_000;

export class NatsModel {
  readonly version: NatsVersion;
  readonly network: Network;
  readonly servers: readonly ModelServer[];
  readonly jetstream: JetStream;
  readonly #router: Router;
  readonly #faults: DeliveryFaults;
  readonly #requests = new Map<Place, number>();
  #clients = 0;
  /** Called before a message of a node that asks for an answer is on its way. */
  onRequest: (node: Place, subject: string) => void = () => {};

  constructor(options: NatsModelOptions) {
    const { clock, rng, version = '2.9', servers = 1, latency = LATENCY, roomBytes } = options;
    this.version = version;
    this.network = new Network(clock, rng, latency);
    this.servers = Array.from({ length: servers }, (_, n) => new ModelServer(n, this.network));
    const rules = { version, isClustered: servers > 1 };
    this.jetstream = new JetStream(rules, this.servers, () => this.#router, clock);
    this.#router = new Router(this.network, this.jetstream);
    this.#faults = new DeliveryFaults(rng);
    this.#router.deliveries = (node) => this.#faults.copies(node);
    this.#router.lateMs = (node, packet) => this.#faults.lateBy(node, packet);
    this.network.onChange = () => this.jetstream.check();
    for (const server of this.servers) {
      server.roomBytes = roomBytes ?? Number.POSITIVE_INFINITY;
      server.usedBytes = () => this.jetstream.usedBytes(server);
      server.asked = (node, subject) => {
        this.#requests.set(node, this.requestsOf(node) + 1);
        this.onRequest(node, subject);
      };
    }
  }

  /** Dials from this place, on the node's clock; to one server where it is named. */
  dialer(node: Place, clock: Clock = this.network.clock, server?: number): Dial {
    return (options) => this.connect(node, options, clock, server);
  }

  connect(
    node: Place,
    options: ConnectionOptions = {},
    clock: Clock = this.network.clock,
    only?: number,
  ): Promise<ModelConnection> {
    const dial = (server: number, end: ClientEnd) =>
      this.#accept({ node, clock }, only ?? server, end);
    const dialing = { servers: only === undefined ? this.servers.length : 1, dial };
    return ModelConnection.open(dialing, options, clock, this.network.rng);
  }

  /** The process of the node is gone, and its connections with it. */
  killNode(node: Place): void {
    for (const session of this.#sessionsOf(node)) session.end();
  }

  /** Its connections break; it connects again. */
  disconnect(node: Place): void {
    for (const session of this.#sessionsOf(node)) session.break();
  }

  partition(node: Place, way: Way = 'both'): void {
    for (const { place } of this.servers) this.#cut(node, place, way);
    this.network.clock.after(FORGOTTEN_MS, () => {
      for (const session of this.#sessionsOf(node)) if (session.isCut) session.break();
    });
  }

  /** Ends the partition in one direction, while the other one may stay cut. */
  endPartition(node: Place, way: Way = 'both'): void {
    for (const { place } of this.servers) {
      if (way !== 'out') this.network.heal(place, node);
      if (way !== 'in') this.network.heal(node, place);
    }
  }

  slow(node: Place, ms: number): void {
    this.network.slow(node, ms);
  }

  /** Drops this share of the deliveries to the node. */
  drop(node: Place, share: number): void {
    this.#faults.dropped.set(node, share);
  }

  /** What streams deliver to the node comes this much later; all else comes as always. */
  late(node: Place, ms: number): void {
    this.#faults.lateMs.set(node, ms);
  }

  duplicate(node: Place, share: number): void {
    this.#faults.doubled.set(node, share);
  }

  /** Ends partitions and slow, late, doubled or dropped deliveries; of all nodes without a name. */
  heal(node?: Place): void {
    const known = [...this.network.places, ...this.#faults.places];
    const servers = new Set(this.servers.map(({ place }) => place));
    const nodes = node === undefined ? known.filter((place) => !servers.has(place)) : [node];
    for (const one of nodes) {
      this.#faults.heal(one);
      this.network.slow(one, 0);
      for (const { place } of this.servers) this.#join(one, place);
    }
  }

  /** Cuts a server off the others; its own clients still reach it. */
  partitionServer(server: number, way: Way = 'both'): void {
    const place = this.#server(server).place;
    for (const other of this.servers) {
      if (other.place !== place) this.#cut(place, other.place, way);
    }
  }

  healServers(): void {
    for (const one of this.servers) {
      for (const other of this.servers) if (one !== other) this.#join(one.place, other.place);
    }
  }

  /** The process ends. `loseLastMs`: its later writes are not on its disk. */
  killServer(server: number, loseLastMs = 0): void {
    const one = this.#server(server);
    if (!one.isUp) return;
    one.isUp = false;
    this.network.thaw(one.place);
    for (const session of [...one.sessions]) session.break();
    this.jetstream.stop(one, loseLastMs);
  }

  startServer(server: number): void {
    const one = this.#server(server);
    if (one.isUp) return;
    one.isUp = true;
    this.jetstream.start(one);
  }

  freezeServer(server: number): void {
    this.network.freeze(this.#server(server).place);
  }

  thawServer(server: number): void {
    this.network.thaw(this.#server(server).place);
  }

  /** Its copies of streams apply agreed operations this much later; 0: at once, as before. */
  lagServer(server: number, ms: number): void {
    this.jetstream.lag(this.#server(server), ms);
  }

  /** The leader of a stream with several copies gives up; another one is elected. */
  stepDown(stream: string): void {
    this.jetstream.stepDown(stream);
  }

  /** `vanish`: without a word. `mute`: they are there, and neither deliver nor answer. */
  loseConsumers(how: 'vanish' | 'mute'): void {
    this.jetstream.loseConsumers(how);
  }

  /** As any program may that has the right to. */
  publish(subject: string, text: string): void {
    const server = this.servers.find(({ works }) => works);
    if (server !== undefined) this.#router.route(packetOf(subject, text), server);
  }

  deleteStream(name: string): void {
    const stream = this.jetstream.streams.get(name);
    if (stream !== undefined) this.jetstream.delete(stream);
  }

  /** Deletes its messages up to this one. */
  purge(name: string, upToSeq: number): void {
    const [leader] = this.jetstream.streams.get(name)?.replicas.leaders ?? [];
    leader?.propose({ op: 'purge', filter: '', seq: upToSeq + 1, keep: 0 }, null);
  }

  /**
   * Replaces the bytes of a stored message, with a valid checksum, in all copies or in one
   * server's.
   */
  damage(name: string, seq: number, server?: number): void {
    for (const { machine } of this.#copies(name, server)) {
      const data = Uint8Array.from(machine.store.at(seq)?.data ?? []);
      const middle = data.length >> 1;
      data[middle] = (data[middle] ?? 0) ^ 1;
      machine.store.damage(seq, data);
    }
  }

  /**
   * Turns a bit of a stored message on the disk of a server that is down. `stopped`: 2.12 had time
   * to write an index, by which it finds later messages.
   */
  flipBit(name: string, seq: number, server: number, ended: 'killed' | 'stopped'): void {
    const isFileRead = ended === 'killed' || this.version === '2.9';
    for (const copy of this.#copies(name, server)) copy.breakAt(seq, isFileRead);
  }

  /** The text of a message, in the copy of this server, or in any. null: there is none. */
  textAt(name: string, seq: number, server?: number): string | null {
    const there = this.#copies(name, server).flatMap(({ machine }) => machine.store.at(seq) ?? []);
    return there[0] === undefined ? null : Buffer.from(there[0].data).toString('utf8');
  }

  /** Other bytes in the place of a stored message, in the copy of one server. */
  rewrite(name: string, seq: number, server: number, text: string): void {
    const data = new TextEncoder().encode(text);
    for (const { machine } of this.#copies(name, server)) machine.store.damage(seq, data);
  }

  /** As an operator asks for it. Nothing where there are fewer servers. */
  setCopies(name: string, count: number): void {
    const stream = this.jetstream.streams.get(name);
    if (stream === undefined || count > this.servers.length) return;
    this.jetstream.update(stream, { ...stream.config, num_replicas: count });
  }

  /** The stream gives up its copy on this server, and asks for as many as before. */
  removePeer(name: string, server: number): void {
    this.jetstream.streams.get(name)?.removePeer(this.#server(server));
  }

  /** Publishes are refused for want of room, on all servers, until they are not. */
  fillStorage(isFull: boolean): void {
    const roomBytes = isFull ? 0 : Number.POSITIVE_INFINITY;
    for (const server of this.servers) server.roomBytes = roomBytes;
    this.jetstream.check();
  }

  #copies(name: string, index: number | undefined) {
    const all = this.jetstream.streams.get(name)?.replicas.all ?? [];
    const server = index === undefined ? null : this.#server(index);
    return all.filter((copy) => server === null || copy.server === server);
  }

  /** Copies the disk of a server. The answer puts it back while the server is down. */
  copyDisk(index: number): () => void {
    const server = this.#server(index);
    const all = [...this.jetstream.streams.values()].flatMap(({ replicas }) => replicas.all);
    const there = all.filter((copy) => copy.server === server);
    const states = there.map((copy) => ({ copy, state: copy.state }));
    return () => {
      for (const { copy, state } of states) copy.restore(state);
    };
  }

  copy(): NatsCopy {
    return new NatsCopy([...this.jetstream.streams.values()].map(({ state }) => state));
  }

  /** The servers stop, and start with the storage of that time. */
  restore(copy: unknown): void {
    if (!(copy instanceof NatsCopy)) throw new Error('this is no copy of what NATS stores');
    for (const { sessions } of this.servers) for (const session of [...sessions]) session.break();
    this.jetstream.restore(copy.streams);
  }

  /** 0: there is no such stream, or it never had a message. */
  lastSeq(name: string): number {
    const all = this.jetstream.streams.get(name)?.replicas.all ?? [];
    return Math.max(0, ...all.map(({ machine }) => machine.store.last));
  }

  /** Messages of the node that ask for an answer. */
  requestsOf(node: Place): number {
    return this.#requests.get(node) ?? 0;
  }

  /** How many subjects its connections listen to now. */
  subscriptionsOf(node: Place): number {
    return this.#sessionsOf(node).reduce((sum, { listens }) => sum + listens, 0);
  }

  /** It has a leader that enough servers hear, or is not there: it takes messages. */
  isLed(stream: string): boolean {
    const replicas = this.jetstream.streams.get(stream)?.replicas;
    return replicas?.leaders.some((leader) => replicas.hasQuorum(leader)) ?? true;
  }

  /** false: what its leader stores next is not found, as on 2.9 where a bit of its file flipped. */
  findsNext(stream: string): boolean {
    const leaders = this.jetstream.streams.get(stream)?.replicas.leaders ?? [];
    return leaders.every(({ machine }) => machine.store.findsNext);
  }

  /** null: there is no such stream. */
  copiesOf(stream: string): number | null {
    return this.jetstream.streams.get(stream)?.config.num_replicas ?? null;
  }

  /** Called for each message that a stream stored. */
  set onStored(listener: (message: StoredInModel) => void) {
    this.jetstream.onStored = (stream, { seq, subject, data }) => {
      listener({ stream, seq, subject, text: Buffer.from(data).toString('utf8') });
    };
  }

  #server(index: number): ModelServer {
    const server = this.servers[index % this.servers.length];
    if (server === undefined) throw new Error(`there is no server ${index}`);
    return server;
  }

  #sessionsOf(node: Place): Session[] {
    const all = this.servers.flatMap(({ sessions }) => [...sessions]);
    return all.filter((session) => session.node === node);
  }

  #cut(place: Place, other: Place, way: Way): void {
    if (way !== 'out') this.network.cut(other, place);
    if (way !== 'in') this.network.cut(place, other);
  }

  #join(place: Place, other: Place): void {
    this.network.heal(other, place);
    this.network.heal(place, other);
  }

  #accept(client: ClientPlace, index: number, end: ClientEnd): Promise<ServerSession> {
    const server = this.servers[index];
    if (server === undefined) return Promise.reject(refused());
    const { network } = this;
    const { node, clock } = client;
    const made = Promise.withResolvers<ServerSession>();
    const there = network.pipe(node, server.place);
    const back = network.pipe(server.place, node, clock);
    there.send(() => {
      network.end(there);
      this.#clients += 1;
      const info = infoOf(server, this.version, this.servers.length, this.#clients);
      const session = server.isUp ? new Session(client, server, this.#router, end, info) : null;
      back.send(() => {
        network.end(back);
        if (session === null) made.reject(refused());
        else made.resolve(session);
      });
    });
    return made.promise;
  }
}
