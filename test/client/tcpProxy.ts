/** A TCP proxy before a server: cuts, holds back, does not read, refuses; may lead elsewhere. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { Scope } from '../support/server.ts';

export class TcpProxy {
  /** Of the server behind it. */
  target: number;
  /** Refuses connections. */
  isClosed = false;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #held: (() => void)[] = [];
  #isHolding = false;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.target = target;
  }

  static async start(scope: Scope, target: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, target);
    server.on('connection', (client) => proxy.#join(client));
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
    assert(address !== null && typeof address === 'object');
    return `http://127.0.0.1:${address.port}`;
  }

  /** Every connection through it breaks. */
  cut(): void {
    for (const [client, server] of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** What the server says does not come through, and is not lost either. */
  hold(): void {
    this.#isHolding = true;
  }

  release(): void {
    this.#isHolding = false;
    for (const write of this.#held.splice(0)) write();
  }

  /** What the server says stays with it, beyond what fits between the two. */
  stopReading(): void {
    for (const [, server] of this.#pairs) server.pause();
  }

  readOn(): void {
    for (const [, server] of this.#pairs) server.resume();
  }

  #join(client: Socket): void {
    if (this.isClosed) {
      client.destroy();
      return;
    }
    const server = createConnection({ port: this.target, host: '127.0.0.1' });
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    client.on('data', (data) => server.write(data));
    server.on('data', (data) => {
      const write = () => void client.write(data);
      if (this.#isHolding) this.#held.push(write);
      else write();
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
