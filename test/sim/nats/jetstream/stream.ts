/** A stream: its settings, its copies, and the consumers on each copy. */
import type { Packet } from '../packet.ts';
import type { ModelServer, Router } from '../server.ts';
import { apiErrors } from './apiError.ts';
import type { StreamConfig } from './config.ts';
import type { Consumer } from './consumer.ts';
import type { CopyState, Replica } from './replica.ts';
import { Replicas } from './replicas.ts';
import type { StoredMessage } from './store.ts';
import { type Applied, type Operation, StreamCopy, type StreamRules } from './streamCopy.ts';

export type StoredListener = (stream: string, message: StoredMessage) => void;

export interface StreamState {
  readonly config: StreamConfig;
  readonly createdMs: number;
  readonly copies: readonly CopyState[];
}

export class Stream {
  config: StreamConfig;
  readonly createdMs: number;
  readonly replicas: Replicas;
  readonly consumers = new Map<string, Consumer>();
  readonly #rules: { readonly version: StreamRules['version']; isClustered: boolean };
  readonly #router: Router;
  readonly #stored: StoredListener;

  constructor(
    config: StreamConfig,
    createdMs: number,
    servers: readonly ModelServer[],
    rules: StreamRules,
    router: Router,
    stored: StoredListener,
  ) {
    this.config = config;
    this.createdMs = createdMs;
    this.#rules = { ...rules, isClustered: rules.isClustered && servers.length > 1 };
    this.#router = router;
    this.#stored = stored;
    this.replicas = new Replicas(servers, () => this.#newCopy(), {
      applied: (replica, result) => this.#applied(replica, result),
      replaced: (replica) => this.#replaced(replica),
    });
  }

  get name(): string {
    return this.config.name;
  }

  get state(): StreamState {
    const copies = this.replicas.all.map(({ state }) => state);
    return { config: this.config, createdMs: this.createdMs, copies };
  }

  /** The leader that `server` reaches. */
  leaderFor(server: ModelServer): Replica | null {
    return this.replicas.leaders.find((one) => server.reaches(one.server)) ?? null;
  }

  /** Publishes a message whose subject fits the stream. */
  publish(packet: Packet, leader: Replica): void {
    const { network } = leader.server;
    const nowMs = network.clock.nowMs();
    const { isClustered } = this.#rules;
    const isAgreed = isClustered && this.replicas.all.length > 1;
    if (!leader.server.hasRoom) {
      this.#answer(packet, leader, { applied: 'refused', error: apiErrors.noRoom });
      if (isAgreed) this.stepDown(leader);
      return;
    }
    if (isAgreed) {
      const judged = leader.machine.judgeProposal(packet, inFlightOf(leader), nowMs);
      if (judged !== null) {
        this.#answer(packet, leader, judged);
        return;
      }
    }
    const operation: Operation = { op: 'publish', packet, timeMs: nowMs };
    leader.propose(operation, (result) => this.#answer(packet, leader, result));
  }

  setConfig(config: StreamConfig): void {
    this.config = config;
    for (const { machine } of this.replicas.all) machine.store.config = config;
  }

  /** Copies on `added`, or fewer copies where there are more than the settings say. */
  setServers(added: readonly ModelServer[]): void {
    this.#rules.isClustered = this.config.num_replicas > 1;
    if (added.length > 0) this.replicas.grow(added, () => this.#newCopy());
    for (const { server } of this.replicas.shrink(this.config.num_replicas)) {
      this.dropConsumers(server);
    }
  }

  /**
   * Fewer copies than the settings ask for, until those are lowered and raised. false: there is
   * none, or it is the only one.
   */
  removePeer(server: ModelServer): boolean {
    const { all } = this.replicas;
    if (all.length === 1 || !all.some((replica) => replica.server === server)) return false;
    this.replicas.remove(server);
    this.dropConsumers(server);
    return true;
  }

  /** Another one is elected. */
  stepDown(leader: Replica): void {
    leader.follow(null);
    this.replicas.check();
  }

  end(): void {
    for (const consumer of this.consumers.values()) consumer.end(null);
    this.consumers.clear();
    for (const replica of this.replicas.all) replica.stop();
  }

  /** Removes the consumers on `server`; on all servers without one. The clients get no message. */
  dropConsumers(server?: ModelServer): void {
    for (const [name, consumer] of this.consumers) {
      if (server !== undefined && consumer.deps.replica.server !== server) continue;
      consumer.end(null);
      this.consumers.delete(name);
    }
  }

  wake(): void {
    for (const consumer of this.consumers.values()) consumer.wake();
  }

  #newCopy(): StreamCopy {
    return new StreamCopy(this.config, this.#rules);
  }

  #applied(replica: Replica, result: Applied): void {
    const { store } = replica.machine;
    if (result.applied === 'stored' && replica.isLeader) this.#stored(this.name, result.message);
    if (result.applied !== 'stored' && result.applied !== 'removed') return;
    for (const consumer of this.consumers.values()) {
      if (consumer.deps.replica !== replica) continue;
      if (result.applied === 'removed') consumer.skipTo(store.first);
      consumer.wake();
    }
  }

  #replaced(replica: Replica): void {
    const { last } = replica.machine.store;
    for (const consumer of this.consumers.values()) {
      if (consumer.deps.replica !== replica) continue;
      consumer.rewind(last);
      consumer.wake();
    }
  }

  #answer({ reply }: Packet, { server }: Replica, result: Applied): void {
    if (reply === '') return;
    const data = new TextEncoder().encode(this.#acknowledgement(result));
    this.#router.send({ subject: reply, reply: '', headers: undefined, data }, server);
  }

  #acknowledgement(result: Applied): string {
    const { name } = this;
    const space = this.#rules.version === '2.9' ? ' ' : '';
    switch (result.applied) {
      case 'stored':
        return `{"stream":"${name}",${space}"seq":${result.message.seq}}`;
      case 'duplicate':
        return `{"stream":"${name}",${space}"seq":${result.seq},"duplicate": true}`;
      case 'refused':
        return JSON.stringify({ error: result.error, stream: name, seq: 0 });
      case 'removed':
        return '{}';
    }
  }
}

function inFlightOf({ inFlight }: Replica) {
  const subjects = new Map<string, number>();
  for (const { operation } of inFlight) {
    if (operation.op === 'publish') subjects.set(operation.packet.subject, 1);
  }
  return { count: inFlight.length, subjects };
}
