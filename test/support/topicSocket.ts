/**
 * The socket of a client that checks the contract, in JSON or MessagePack. What breaks it is kept
 * in `faults`, since it comes from a listener.
 */
import assert from 'node:assert/strict';
import { decode, encode } from '@msgpack/msgpack';
import { WebSocket } from 'ws';
import type { Frame } from './subscription.ts';
import { until } from './until.ts';

export type Encoding = 'json' | 'msgpack';

export abstract class TopicSocket {
  readonly encoding: Encoding;
  /** Breaches of the contract; `check` throws the first. */
  readonly faults: unknown[] = [];
  closeCode: number | null = null;
  bytes = 0;
  #port: number;
  #socket: WebSocket;

  constructor(port: number, encoding: Encoding) {
    this.encoding = encoding;
    this.#port = port;
    this.#socket = this.#open();
  }

  protected abstract hear(frame: Frame): void;

  get port(): number {
    return this.#port;
  }

  /** Not closed, and not replaced by another. */
  isOpen(socket = this.#socket): boolean {
    return socket === this.#socket && socket.readyState === WebSocket.OPEN;
  }

  /** True as long as the socket of now is used. */
  whileConnected(): () => boolean {
    const socket = this.#socket;
    return () => this.isOpen(socket);
  }

  /** A new socket, perhaps to another server. */
  async connectAgain(port: number): Promise<void> {
    this.terminate();
    this.#port = port;
    this.#socket = this.#open();
    await this.opened();
  }

  async opened(): Promise<void> {
    await until('the socket opens', () => this.isOpen());
    this.send({ messageType: 'connect', clientId: 'strict', requestId: '0', data: { acks: true } });
  }

  send(frame: object): void {
    this.#socket.send(this.encoding === 'msgpack' ? encode(frame) : JSON.stringify(frame));
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  terminate(): void {
    this.#socket.removeAllListeners('message');
    this.#socket.terminate();
  }

  async closed(limitMs = 30_000): Promise<number> {
    await until('the socket closes', () => this.closeCode !== null, limitMs);
    return this.closeCode ?? 0;
  }

  /** Throws what broke the contract so far. */
  check(): void {
    const [first] = this.faults;
    if (first !== undefined) throw first;
  }

  #open(): WebSocket {
    this.closeCode = null;
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}/ws`, [this.encoding]);
    socket.on('message', (message: Buffer, isBinary: boolean) => {
      try {
        assert.equal(isBinary, this.encoding === 'msgpack', 'frames are in the encoding agreed on');
        this.bytes += message.length;
        // trust: every field is looked at where it is used
        this.hear((isBinary ? decode(message) : JSON.parse(message.toString())) as Frame);
      } catch (error) {
        this.faults.push(error);
      }
    });
    socket.on('close', (code) => {
      if (socket === this.#socket) this.closeCode = code;
    });
    socket.on('error', () => {});
    return socket;
  }
}
