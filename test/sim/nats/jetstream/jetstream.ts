/**
 * JetStream: streams take the messages of their subjects, and `$JS.API.…` is answered. In a cluster
 * the leader of a stream answers for it, and the leader of the servers makes and removes streams
 * and consumers.
 */
import type { Clock } from '../../../../src/engine/runtime/clock.ts';
import { Interest } from '../interest.ts';
import { type Packet, packetOf } from '../packet.ts';
import type { Listener, ModelServer, Router } from '../server.ts';
import { type ApiError, apiErrors } from './apiError.ts';
import type { StreamConfig } from './config.ts';
import { ConsumerApi } from './consumerApi.ts';
import type { Replica } from './replica.ts';
import { type StoredListener, Stream, type StreamState } from './stream.ts';
import { StreamApi } from './streamApi.ts';
import type { StreamRules } from './streamCopy.ts';

const API = '$JS.API.';
const FLOW_CONTROL = '$JS.FC.';
const ACKS = '$JS.ACK.';

/** A request to the API, and where its answer comes from. */
export interface ApiRequest {
  readonly packet: Packet;
  readonly tokens: readonly string[];
  /** The server of the client that asks. */
  readonly server: ModelServer;
}

type ApiAnswer = { readonly error: ApiError } | object;

export class JetStream implements Listener {
  readonly rules: StreamRules;
  readonly servers: readonly ModelServer[];
  readonly streams = new Map<string, Stream>();
  readonly #router: () => Router;
  readonly #clock: Clock;
  readonly #subjects = new Interest<Stream>();
  readonly #streamApi: StreamApi;
  readonly #consumerApi: ConsumerApi;
  onStored: StoredListener = () => {};

  constructor(
    rules: StreamRules,
    servers: readonly ModelServer[],
    router: () => Router,
    clock: Clock,
  ) {
    this.rules = rules;
    this.servers = servers;
    this.#router = router;
    this.#clock = clock;
    this.#streamApi = new StreamApi(this);
    this.#consumerApi = new ConsumerApi(this);
  }

  get nowMs(): number {
    return this.#clock.nowMs();
  }

  get router(): Router {
    return this.#router();
  }

  hear(packet: Packet, server: ModelServer): boolean {
    const { subject } = packet;
    if (!subject.startsWith('$JS.')) return this.#store(packet, server);
    if (subject.startsWith(API)) return this.#ask(packet, server);
    if (subject.startsWith(FLOW_CONTROL)) return this.#confirm(subject);
    return subject.startsWith(ACKS);
  }

  /** The server that makes and removes streams, as `server` knows; null: none now. */
  managerFor(server: ModelServer): ModelServer | null {
    const heard = this.servers.filter((other) => other.works && server.reaches(other));
    const isEnough = (one: ModelServer) => {
      const both = this.servers.filter((other) => one.reaches(other) && other.reaches(one));
      return both.filter(({ works }) => works).length > this.servers.length / 2;
    };
    return heard.find(isEnough) ?? null;
  }

  create(config: StreamConfig, createdMs = this.nowMs): Stream {
    const servers = this.#placement(config.num_replicas);
    const stored: StoredListener = (stream, message) => this.onStored(stream, message);
    // A stream with one copy behaves as on a single server, wherever it is.
    const stream = new Stream(config, createdMs, servers, this.rules, this.router, stored);
    this.streams.set(config.name, stream);
    for (const subject of config.subjects) this.#subjects.add(subject, stream);
    const leader = stream.replicas.all.find(({ server }) => server.works);
    if (leader !== undefined) stream.replicas.begin(leader);
    return stream;
  }

  delete(stream: Stream): void {
    stream.end();
    this.streams.delete(stream.name);
    for (const subject of stream.config.subjects) this.#subjects.remove(subject, stream);
  }

  update(stream: Stream, config: StreamConfig): void {
    const isRaised = config.num_replicas > stream.config.num_replicas;
    for (const subject of stream.config.subjects) this.#subjects.remove(subject, stream);
    stream.setConfig(config);
    for (const subject of config.subjects) this.#subjects.add(subject, stream);
    for (const { machine } of stream.replicas.all) machine.store.expire(this.nowMs);
    if (!this.rules.isClustered) return;
    const there = stream.replicas.all.map(({ server }) => server);
    const others = this.#placement(this.servers.length).filter((one) => !there.includes(one));
    const missing = isRaised ? Math.max(0, config.num_replicas - there.length) : 0;
    stream.setServers(others.slice(0, missing));
  }

  /** The network or a server changed. */
  check(): void {
    for (const stream of this.streams.values()) {
      if (this.rules.isClustered) stream.replicas.check();
      stream.wake();
    }
  }

  stop(server: ModelServer, loseLastMs: number): void {
    for (const stream of this.streams.values()) {
      stream.dropConsumers(server);
      for (const replica of stream.replicas.all) {
        if (replica.server === server) replica.stop(this.nowMs - loseLastMs);
      }
    }
    this.check();
  }

  start(server: ModelServer): void {
    for (const stream of this.streams.values()) {
      for (const replica of stream.replicas.all) {
        if (replica.server !== server) continue;
        replica.machine.restart(this.nowMs);
        if (stream.replicas.all.length === 1) replica.lead();
      }
    }
    this.check();
  }

  lag(server: ModelServer, ms: number): void {
    for (const { replicas } of this.streams.values()) {
      for (const replica of replicas.all) if (replica.server === server) replica.lag(ms);
    }
  }

  stepDown(name: string): void {
    const stream = this.streams.get(name);
    const [leader] = stream?.replicas.leaders ?? [];
    if (leader !== undefined && this.rules.isClustered) stream?.stepDown(leader);
  }

  /** Bytes of the copies on a server. */
  usedBytes(server: ModelServer): number {
    let sum = 0;
    for (const { replicas } of this.streams.values()) {
      for (const replica of replicas.all) {
        if (replica.server === server) sum += replica.machine.store.state.bytes;
      }
    }
    return sum;
  }

  loseConsumers(how: 'vanish' | 'mute'): void {
    for (const stream of this.streams.values()) {
      if (how === 'vanish') stream.dropConsumers();
      else for (const consumer of stream.consumers.values()) consumer.isMute = true;
    }
  }

  restore(states: readonly StreamState[]): void {
    for (const stream of [...this.streams.values()]) this.delete(stream);
    for (const { config, createdMs, copies } of states) {
      const stream = this.create(config, createdMs);
      for (const [index, replica] of stream.replicas.all.entries()) {
        // Where copies were added since it began, all are as the first.
        const copy = copies[index] ?? copies[0];
        if (copy === undefined) continue;
        replica.restore(copy);
        replica.machine.restart(this.nowMs);
      }
    }
  }

  answer(request: ApiRequest, from: ModelServer, type: string, body: ApiAnswer): void {
    const { reply } = request.packet;
    if (reply === '') return;
    const text = JSON.stringify({ type: `io.nats.jetstream.api.v1.${type}`, ...body });
    this.router.send(packetOf(reply, text), from);
  }

  /** The copy that answers for a stream; an answer is sent, or withheld, where there is none. */
  leaderOf(request: ApiRequest, name: string, type: string): [Stream, Replica] | null {
    const { server } = request;
    const stream = this.streams.get(name);
    if (stream === undefined) {
      const manager = this.managerFor(server);
      if (manager !== null)
        this.answer(request, manager, type, { error: apiErrors.streamNotFound });
      else this.answer(request, server, type, { error: apiErrors.unavailable });
      return null;
    }
    const leader = stream.leaderFor(server);
    if (leader !== null) return [stream, leader];
    // A leader that is merely not reached would answer.
    const isLeaderless = stream.replicas.leaders.length === 0 && this.rules.isClustered;
    if (isLeaderless) this.answer(request, server, type, { error: apiErrors.unavailable });
    return null;
  }

  #placement(replicas: number): readonly ModelServer[] {
    const order = [...this.servers];
    const { rng } = this.servers[0]?.network ?? { rng: null };
    const first = Math.floor((rng?.unit() ?? 0) * order.length);
    const turned = [...order.slice(first), ...order.slice(0, first)];
    const working = turned.filter(({ isUp }) => isUp);
    return [...working, ...turned.filter(({ isUp }) => !isUp)].slice(0, replicas);
  }

  #store(packet: Packet, server: ModelServer): boolean {
    let isHeard = false;
    for (const stream of this.#subjects.of(packet.subject)) {
      const leader = stream.leaderFor(server);
      if (leader === null) continue;
      isHeard = true;
      stream.publish(packet, leader);
    }
    return isHeard;
  }

  #ask(packet: Packet, server: ModelServer): boolean {
    const tokens = packet.subject.slice(API.length).split('.');
    const request: ApiRequest = { packet, tokens, server };
    const [area] = tokens;
    if (area === 'INFO') {
      this.answer(request, server, 'account_info_response', this.#account());
      return true;
    }
    if (area === 'STREAM') this.#streamApi.ask(request);
    if (area !== 'CONSUMER') return true;
    return this.#consumerApi.ask(request) || this.rules.version === '2.9';
  }

  #account(): object {
    const limits = {
      max_memory: -1,
      max_storage: -1,
      max_streams: -1,
      max_consumers: -1,
      max_ack_pending: -1,
      memory_max_stream_bytes: -1,
      storage_max_stream_bytes: -1,
      max_bytes_required: false,
    };
    const used = { memory: 0, storage: 0, streams: this.streams.size, consumers: 0 };
    return { ...used, limits, api: { total: 0, errors: 0 } };
  }

  #confirm(subject: string): boolean {
    const [, , name = '', consumer = ''] = subject.split('.');
    return this.streams.get(name)?.consumers.get(consumer)?.confirm(subject) ?? false;
  }
}
