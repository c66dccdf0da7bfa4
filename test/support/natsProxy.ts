/** A TCP proxy in front of a server, which loses what a test wants lost. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { Scope } from './server.ts';

export class NatsProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** Drops what the server sends and forwards what it receives. */
  deaf = false;
  /** What clients say is swallowed, what the server says gets through. */
  mute = false;
  /** What is said arrives so much later, in both directions. */
  delayMs = 0;
  /** Refuses every connection. */
  closed = false;
  /** Called with what a client said, before it is passed on. */
  heard: (text: string) => void = () => {};
  /** Replaces what a client said, by as many bytes. */
  rewrite: (text: string) => string = (text) => text;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(scope: Scope, targetPort: number): Promise<NatsProxy> {
    const server = createServer();
    const proxy = new NatsProxy(server);
    server.on('connection', (client) => proxy.#join(client, targetPort));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    scope.after(() => {
      proxy.cut();
      server.close();
    });
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    assert.ok(address !== null && typeof address === 'object');
    return `nats://127.0.0.1:${address.port}`;
  }

  /** Those that are open. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Every connection through it breaks. */
  cut(): void {
    for (const [client, server] of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  #later(write: () => void): void {
    if (this.delayMs === 0) write();
    else setTimeout(write, this.delayMs);
  }

  #join(client: Socket, targetPort: number): void {
    if (this.closed) {
      client.destroy();
      return;
    }
    const server = createConnection({ port: targetPort, host: '127.0.0.1' });
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    client.on('data', (data) => {
      const text = data.toString('latin1');
      this.heard(text);
      const said = Buffer.from(this.rewrite(text), 'latin1');
      if (!this.mute) this.#later(() => server.write(said));
    });
    server.on('data', (data) => {
      if (!this.deaf) this.#later(() => client.write(data));
    });
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#pairs.delete(pair);
        client.destroy();
        server.destroy();
      });
    }
  }
}

/**
 * For `rewrite`: consumers that are created meanwhile are filtered for a subject without messages.
 * They answer like those on a replica whose copy of the stream lags: 404, or heartbeats alone.
 */
export function consumersThatLag(stream: string): (text: string) => string {
  const start = /"deliver_policy":"by_start_sequence","opt_start_seq":\d+/g;
  const nothing = `"filter_subject":"${stream}.entry.none"`;
  return (text) => text.replaceAll(start, (found) => nothing.padEnd(found.length));
}

/** Also hides every message of the stream but the last: what is behind cannot be read at all. */
export function nothingToRead(stream: string): (text: string) => string {
  const lag = consumersThatLag(stream);
  return (text) => lag(text).replaceAll('"next_by_subj":">"', '"next_by_subj":"x"');
}
