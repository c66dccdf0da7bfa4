/**
 * A proxy that alters a server's answers, over HTTP, WebSocket (JSON and MessagePack) and
 * server-sent events: it tests the programs that judge a server.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { decode, encode } from '@msgpack/msgpack';
import { WebSocket, WebSocketServer } from 'ws';
import type { Scope } from './server.ts';

export interface SeenRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export interface SeenAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export type SeenFrame = Record<string, unknown>;

export interface Alterations {
  /** Replaces the request to the server; null: it is not asked, and the connection is closed. */
  request?(asked: SeenRequest): SeenRequest | null;
  answer?(answer: SeenAnswer, asked: SeenRequest): SeenAnswer;
  /** Replaces a server's frame by these. `later` sends one afterwards. */
  frame?(frame: SeenFrame, later: (frame: SeenFrame, ms: number) => void): readonly SeenFrame[];
  /** The lines of an event of a stream, before it is sent. */
  event?(text: string): string;
  /** Replaces a client's frame by these. */
  said?(frame: SeenFrame): readonly SeenFrame[];
  /** Replaces the server's close code of a socket. */
  close?(code: number): number;
}

const MAX_WAITING = 1_000;

export class AlteringProxy {
  alter: Alterations = {};
  readonly #target: URL;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: first });

  private constructor(target: string, server: Server) {
    this.#target = new URL(target);
    this.#server = server;
  }

  static async start(scope: Scope, target: string): Promise<AlteringProxy> {
    const server = createServer();
    const proxy = new AlteringProxy(target, server);
    server.on('request', async (asked, answer) => {
      const body = await buffer(asked);
      const { method = '', url: path = '', headers } = asked;
      const seen = { method, path, headers, body };
      const sent = proxy.alter.request === undefined ? seen : proxy.alter.request(seen);
      if (sent === null) answer.destroy();
      else proxy.#forward(sent, answer);
    });
    server.on('upgrade', (asked, socket, head) => proxy.#upgrade(asked, socket, head));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    scope.after(() => {
      server.closeAllConnections();
      for (const socket of proxy.#sockets.clients) socket.terminate();
      server.close();
    });
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    assert(address !== null && typeof address === 'object');
    return `http://127.0.0.1:${address.port}`;
  }

  #forward(seen: SeenRequest, answer: ServerResponse): void {
    const { hostname, port } = this.#target;
    const { method, path, body } = seen;
    const {
      host: _,
      'content-length': length,
      'accept-encoding': packed,
      ...headers
    } = seen.headers;
    const sized = length === undefined ? {} : { 'content-length': String(body.length) };
    // Only plain text can be altered, so no compression is requested.
    void packed;
    const known = Object.entries({ ...headers, ...sized }).filter(
      ([, value]) => value !== undefined,
    );
    const options = { hostname, port, method, path, headers: Object.fromEntries(known) };
    const asked = request(options, async (told) => {
      const status = told.statusCode ?? 0;
      if (String(told.headers['content-type']).startsWith('text/event-stream')) {
        const { status: now, headers: heads } = this.#altered(
          { status, headers: told.headers, body: Buffer.alloc(0) },
          seen,
        );
        answer.writeHead(now, heads);
        this.#stream(told, answer);
        return;
      }
      const body = await buffer(told);
      const raw = { status, headers: told.headers, body };
      const changed = this.#altered(raw, seen);
      const { 'transfer-encoding': __, 'content-length': ___, ...others } = changed.headers;
      const size = method === 'HEAD' ? {} : { 'content-length': changed.body.length };
      answer.writeHead(changed.status, { ...others, ...size }).end(changed.body);
    });
    asked.on('error', () => answer.destroy());
    answer.on('close', () => asked.destroy());
    asked.end(body);
  }

  #altered(answer: SeenAnswer, asked: SeenRequest): SeenAnswer {
    return this.alter.answer?.(answer, asked) ?? answer;
  }

  /** Events one by one: each has a frame as its data. */
  #stream(from: IncomingMessage, to: ServerResponse): void {
    let rest = '';
    from.setEncoding('utf8').on('data', (text: string) => {
      const events = (rest + text).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const lines = event.split('\n');
        const at = lines.findIndex((line) => line.startsWith('data:'));
        if (at < 0) {
          to.write(`${event}\n\n`);
          continue;
        }
        const write = (frame: SeenFrame) => {
          const text = lines.with(at, `data: ${JSON.stringify(frame)}`).join('\n');
          to.write(`${this.alter.event?.(text) ?? text}\n\n`);
        };
        const frame = JSON.parse((lines[at] ?? '').slice('data:'.length)) as SeenFrame;
        this.#pass(frame, write);
      }
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
  }

  #pass(frame: SeenFrame, write: (frame: SeenFrame) => void): void {
    const later = (late: SeenFrame, ms: number) => void setTimeout(() => write(late), ms).unref();
    for (const each of this.alter.frame?.(frame, later) ?? [frame]) write(each);
  }

  #upgrade(asked: IncomingMessage, socket: Duplex, head: Buffer): void {
    const protocols = String(asked.headers['sec-websocket-protocol'] ?? '').split(/, */);
    const { hostname, port } = this.#target;
    const target = new WebSocket(
      `ws://${hostname}:${port}${asked.url}`,
      protocols.filter((name) => name !== ''),
    );
    target.on('error', () => socket.destroy());
    target.once('open', () => {
      asked.headers['sec-websocket-protocol'] = target.protocol;
      this.#sockets.handleUpgrade(asked, socket, head, (client) => this.#join(client, target));
      if (target.protocol === '') delete asked.headers['sec-websocket-protocol'];
    });
  }

  #join(client: WebSocket, target: WebSocket): void {
    target.on('message', (message: Buffer, isBinary: boolean) => {
      if (client.bufferedAmount > MAX_WAITING * MAX_WAITING) target.pause();
      this.#pass(read(message, isBinary), (frame) => {
        if (client.readyState === WebSocket.OPEN) client.send(written(frame, isBinary));
      });
    });
    client.on('message', (message: Buffer, isBinary: boolean) => {
      if (this.alter.said === undefined) target.send(message, { binary: isBinary });
      else {
        for (const frame of this.alter.said(read(message, isBinary))) {
          target.send(written(frame, isBinary));
        }
      }
    });
    const codeOf = (code: number) => (code >= 4000 ? (this.alter.close?.(code) ?? code) : 1000);
    target.on('close', (code, reason) => client.close(codeOf(code), reason));
    client.on('close', () => target.terminate());
    client.on('error', () => target.terminate());
  }
}

function first(protocols: Set<string>): string | false {
  return [...protocols][0] ?? false;
}

function read(message: Buffer, isBinary: boolean): SeenFrame {
  return (isBinary ? decode(message) : JSON.parse(message.toString())) as SeenFrame;
}

function written(frame: SeenFrame, isBinary: boolean): string | Uint8Array {
  return isBinary ? encode(frame) : JSON.stringify(frame);
}
