/**
 * Sockets on plain TCP connections with one buffer for all, as `receiver.ts`; of some it also reads
 * which trade each message tells of. A trade's number is in its price.
 */
import { connect, type Socket } from 'node:net';
import { clientFrame } from '../support/frames.ts';
import { machineMs } from '../support/machineClock.ts';
import { offer } from '../support/offers.ts';

interface PeerSockets {
  readonly port: number;
  readonly sockets: number;
  readonly path: string;
  readonly greeting: readonly Greeting[];
  /** By socket, in turns. */
  readonly bases: readonly string[];
  /** One socket of this many is read. */
  readonly sampledEvery: number;
}

/** The socket's message once it has read `after`; `{base}` is its pair. */
export interface Greeting {
  readonly after: string;
  readonly text: string;
}

/** Socket `socket` was told of trade `number`. */
export interface Told {
  readonly socket: number;
  readonly number: number;
  readonly atMs: number;
}

export type PeerReceiver = typeof offers;

const BUFFER_BYTES = 1_048_576;
const AT_ONCE = 50;
const POLL_MS = 10;
const HEAD_END = '\r\n\r\n';
/** Longer than the text before the digits of a price. */
const OVERLAP = 40;
const MICROS = 1_000_000;
const CLOSE = /"close":"(\d+(?:\.\d+)?)"/g;

const buffer = Buffer.alloc(BUFFER_BYTES);
let sockets: PeerSocket[] = [];
let told: Told[] = [];
let bytes = 0;

class PeerSocket {
  readonly connection: Socket;
  isClosed = false;
  #isOpen = false;
  #left: Greeting[];
  /** Read since it last said something, until it is ready. */
  #heard = '';
  readonly #number: number;
  readonly #isSampled: boolean;
  #rest = '';

  constructor(number: number, { port, path, greeting, bases, sampledEvery }: PeerSockets) {
    this.#number = number;
    this.#isSampled = number % sampledEvery === 0;
    const base = bases[number % bases.length] ?? '';
    this.#left = greeting.map(({ after, text }) => ({
      after,
      text: text.replaceAll('{base}', base),
    }));
    const callback = (length: number) => this.#hear(length);
    const where = { port, host: '127.0.0.1' };
    this.connection = connect({ ...where, onread: { buffer, callback } });
    this.connection.setNoDelay(true);
    this.connection.on('error', () => {});
    this.connection.on('close', () => {
      this.isClosed = true;
    });
    const lines = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Upgrade: websocket'];
    lines.push('Connection: Upgrade', 'Sec-WebSocket-Version: 13');
    lines.push('Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==');
    this.connection.write(`${lines.join('\r\n')}${HEAD_END}`);
  }

  /** It has said everything, and was answered. */
  get isReady(): boolean {
    return this.#isOpen;
  }

  say(text: string): void {
    this.connection.write(clientFrame(text));
  }

  #hear(length: number): boolean {
    if (!this.#isOpen) this.#greet(length);
    else if (this.#isSampled) this.#read(length);
    bytes += length;
    return true;
  }

  /**
   * Peers split the messages that they send at connection into pieces of different sizes: their
   * number says nothing.
   */
  #greet(length: number): void {
    this.#heard += buffer.toString('latin1', 0, length);
    const [next] = this.#left;
    if (next === undefined) this.#isOpen = true;
    else if (this.#heard.includes(next.after)) {
      this.#left.shift();
      this.#heard = '';
      this.say(next.text);
    }
  }

  #read(length: number): void {
    const atMs = machineMs();
    const text = this.#rest + buffer.toString('latin1', 0, length);
    let end = 0;
    for (const match of text.matchAll(CLOSE)) {
      const number = Math.round(Number(match[1]) * MICROS) - MICROS;
      told.push({ socket: this.#number, number, atMs });
      end = match.index + match[0].length;
    }
    this.#rest = text.slice(Math.max(end, text.length - OVERLAP));
  }
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

const offers = {
  /** Opens sockets and waits until each has said everything and was answered. */
  async open(how: PeerSockets): Promise<void> {
    const before = sockets.length;
    for (let from = 0; from < how.sockets; from += AT_ONCE) {
      const count = Math.min(AT_ONCE, how.sockets - from);
      for (let at = 0; at < count; at += 1) sockets.push(new PeerSocket(from + at, how));
      await until(() =>
        sockets.slice(before).every(({ isReady, isClosed }) => isReady || isClosed),
      );
    }
  },
  /** The sockets that are open now stop reading. */
  stall(): void {
    for (const { connection } of sockets) connection.pause();
  },
  /** They read again: a socket that the server closed meanwhile notices the close. */
  resume(): void {
    for (const { connection } of sockets) connection.resume();
  },
  nudge(text: string): void {
    for (const socket of sockets) socket.say(text);
  },
  closed: () => sockets.filter(({ isClosed }) => isClosed).length,
  /** Since the last call. */
  take(): { readonly told: readonly Told[]; readonly bytes: number } {
    const taken = { told, bytes };
    told = [];
    bytes = 0;
    return taken;
  },
  async close(): Promise<void> {
    for (const { connection } of sockets) connection.destroy();
    await until(() => sockets.every(({ isClosed }) => isClosed));
    sockets = [];
  },
};

offer(offers);
