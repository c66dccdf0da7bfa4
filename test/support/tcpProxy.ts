/** A TCP proxy before a server: cuts, holds back, does not read, refuses; may lead elsewhere. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { Scope } from './server.ts';

export class TcpProxy {
  /** Port of the server behind the proxy. */
  target: number;
  /** Refuses connections. */
  isClosed = false;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #held: (() => void)[] = [];
  #isHolding = false;

  constructor(server: Server, target: number) {
    this.#server = server;
    this.target = target;
  }

  static async start<Proxy extends TcpProxy>(
    this: new (
      server: Server,
      target: number,
    ) => Proxy,
    scope: Scope,
    target: number,
  ): Promise<Proxy> {
    const server = createServer();
    const proxy = new this(server, target);
    server.on('connection', (client) => proxy.join(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    scope.after(() => {
      proxy.cut();
      server.close();
    });
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    assert(address !== null && typeof address === 'object');
    return address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Number of open connections. */
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

  /** Holds back the bytes from the server without losing any. */
  hold(): void {
    this.#isHolding = true;
  }

  release(): void {
    this.#isHolding = false;
    for (const write of this.#held.splice(0)) write();
  }

  /**
   * Stops reading from the server. The server keeps its bytes once the buffers of the sockets are
   * full.
   */
  stopReading(): void {
    for (const [, server] of this.#pairs) server.pause();
  }

  readOn(): void {
    for (const [, server] of this.#pairs) server.resume();
  }

  protected toServer(data: Buffer, server: Socket): void {
    server.write(data);
  }

  protected toClient(data: Buffer, client: Socket): void {
    const write = () => void client.write(data);
    if (this.#isHolding) this.#held.push(write);
    else write();
  }

  protected join(client: Socket): void {
    if (this.isClosed) {
      client.destroy();
      return;
    }
    const server = createConnection({ port: this.target, host: '127.0.0.1' });
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    client.on('data', (data) => this.toServer(data, server));
    server.on('data', (data) => this.toClient(data, client));
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
