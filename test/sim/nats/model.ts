/**
 * NATS in memory, as the nodes of a market see it: one server or three, on a clock and a source of
 * chance that it is given. Nothing else in it is random or timed.
 */
import type { ConnectionOptions, ServerInfo } from '@nats-io/transport-node';
import type { DialNats } from '../../../src/cluster/nats/connection.ts';
import type { Clock } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { ModelConnection, refused } from './connection.ts';
import { type Latency, Network, type Place } from './network.ts';
import { type ClientPlace, ModelServer, Router, Session } from './server.ts';
import type { ClientEnd, ServerSession } from './session.ts';

export type NatsVersion = '2.9' | '2.12';

export interface NatsModelOptions {
  /** The time of the world: latencies, and everything that happens inside a server. */
  readonly clock: Clock;
  readonly rng: Rng;
  readonly version?: NatsVersion;
  readonly servers?: 1 | 3;
  readonly latency?: Latency;
}

const LATENCY = { leastMs: 1, mostMs: 3 };
export const MAX_PAYLOAD = 1024 * 1024;

export class NatsModel {
  readonly version: NatsVersion;
  readonly network: Network;
  readonly servers: readonly ModelServer[];
  readonly #router: Router;
  #clients = 0;

  constructor({ clock, rng, version = '2.9', servers = 1, latency = LATENCY }: NatsModelOptions) {
    this.version = version;
    this.network = new Network(clock, rng, latency);
    this.servers = Array.from({ length: servers }, (_, n) => new ModelServer(n, this.network));
    this.#router = new Router(this.network, { hear: () => false });
  }

  /** For `World.dialNats` of a node. Its timers run on the node's clock. */
  dialer(node: Place, clock: Clock = this.network.clock): DialNats {
    return (options) => this.connect(node, options, clock);
  }

  connect(
    node: Place,
    options: ConnectionOptions = {},
    clock: Clock = this.network.clock,
  ): Promise<ModelConnection> {
    const dial = (server: number, end: ClientEnd) => this.#accept({ node, clock }, server, end);
    const dialing = { servers: this.servers.length, dial };
    return ModelConnection.open(dialing, options, clock, this.network.rng);
  }

  /** The node is killed: its connections break, and it hears nothing any more. */
  killNode(node: Place): void {
    for (const { sessions } of this.servers) {
      for (const session of [...sessions]) if (session.node === node) session.end();
    }
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
      const isUp = server.isUp;
      const info = infoOf(server, this.version, this.servers.length, this.#clients);
      const session = isUp ? new Session(client, server, this.#router, end, info) : null;
      back.send(() => {
        network.end(back);
        if (session === null) made.reject(refused());
        else made.resolve(session);
      });
    });
    return made.promise;
  }
}

function infoOf(
  { place, index }: ModelServer,
  version: NatsVersion,
  servers: number,
  client: number,
): ServerInfo {
  return {
    server_id: `MODEL${index + 1}`,
    server_name: place,
    version: version === '2.9' ? '2.9.10' : '2.12.8',
    go: 'none',
    host: place,
    port: 4222,
    headers: true,
    jetstream: true,
    max_payload: MAX_PAYLOAD,
    proto: 1,
    client_id: client,
    ...(servers > 1 ? { cluster: 'model' } : {}),
    ...(version === '2.9' ? {} : { api_lvl: 2 }),
  };
}
