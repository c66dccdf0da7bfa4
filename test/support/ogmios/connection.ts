/**
 * One connection of a fake Ogmios: the devnet's session, with the faults of a test between it and
 * the socket. Stalled chain and mempool methods are not answered. Other stalled requests wait in
 * front of the session, so their work is not done either.
 */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { MEMPOOL_METHODS } from '../../../src/devnet/ogmios/mempoolMonitor.ts';
import { readRequest } from '../../../src/devnet/ogmios/rpc.ts';
import type { ServedNode } from '../../../src/devnet/ogmios/served.ts';
import { Session } from '../../../src/devnet/ogmios/session.ts';
import type { Faults } from './faults.ts';

const PUMPED = ['nextBlock', ...MEMPOOL_METHODS];

export class FaultyConnection {
  readonly #faults: Faults;
  readonly #socket: WebSocket;
  readonly #raw: Duplex;
  readonly #sent: (text: string) => void;
  readonly #session: Session;
  readonly #unlisten: () => void;
  #heldIn: string[] = [];
  #isEnded = false;

  constructor(
    node: ServedNode,
    faults: Faults,
    { socket, raw }: { readonly socket: WebSocket; readonly raw: Duplex },
    sent: (text: string) => void,
  ) {
    this.#faults = faults;
    this.#socket = socket;
    this.#raw = raw;
    this.#sent = sent;
    this.#session = new Session(node, {
      send: (text) => this.#send(text),
      isFull: (method) => this.#faults.stalls(method),
      close: (reason) => this.close(reason),
    });
    this.#unlisten = faults.onResume(() => this.#resume());
  }

  receive(text: string): void {
    if (this.#isEnded) return;
    const request = readRequest(text);
    const method = typeof request === 'string' ? null : request.method;
    const isHeld = method !== null && !PUMPED.includes(method) && this.#faults.stalls(method);
    if (isHeld) this.#heldIn.push(text);
    else this.#session.receive(text);
  }

  /** Sends it unchanged, outside the request queue. */
  sendRaw(text: string): void {
    this.#socket.send(text);
  }

  end(): void {
    this.#isEnded = true;
    this.#unlisten();
    this.#session.end();
  }

  /** Ends it without a word. */
  drop(): void {
    this.end();
    this.#raw.destroy();
  }

  /** Ends it as Ogmios does when the node behind it is gone. */
  close(reason: string): void {
    this.end();
    this.#socket.close(1011, reason);
  }

  #send(text: string): void {
    if (this.#isEnded || this.#socket.readyState !== this.#socket.OPEN) return;
    const isBlock = text.slice(0, 200).includes('"direction":"forward"');
    const fault = isBlock ? this.#faults.takeOfBlock() : null;
    if (fault?.kind !== 'garbage' && fault?.kind !== 'cut') this.#sent(text);
    if (fault?.kind === 'garbage') this.#socket.send(fault.text);
    else if (fault?.kind === 'padded') this.#socket.send(`${text}${' '.repeat(fault.bytes)}`);
    else if (fault?.kind === 'cut') this.#cut(text);
    else this.#socket.send(text);
  }

  #resume(): void {
    const held = this.#heldIn;
    this.#heldIn = [];
    for (const text of held) this.receive(text);
    this.#session.pump();
  }

  /** Half of a text frame, then the end of the connection. */
  #cut(text: string): void {
    const payload = Buffer.from(text);
    const head = Buffer.alloc(10);
    head[0] = 0x81;
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
    this.end();
    const half = payload.subarray(0, Math.ceil(payload.length / 2));
    this.#raw.end(Buffer.concat([head, half]));
  }
}
