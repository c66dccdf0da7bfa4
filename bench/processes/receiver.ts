/**
 * Many sockets that read everything and look at nothing: frames are counted by their headers, on
 * plain TCP connections with one buffer for all, so that the receiver is not the limit. To be
 * cheaper still, it reads now and then what has come (`readEvery`).
 */
import { connect, type Socket } from 'node:net';
import { clientFrame, FrameCounter } from '../support/frames.ts';
import { machineMs } from '../support/machineClock.ts';
import { offer, usageOffers } from '../support/offers.ts';

export interface OpenOptions {
  readonly port: number;
  readonly sockets: number;
  /** Sent by each socket once it is open; `####` becomes the socket's number. Null: nothing. */
  readonly greeting: string | null;
  /** Frames that each socket must have got before it counts as open. */
  readonly framesEach: number;
}

export type Receiver = typeof offers;

const BUFFER_BYTES = 1_048_576;
const AT_ONCE = 50;
const POLL_MS = 10;
const TURN_MS = 10;
const HEAD_END = '\r\n\r\n';
const PONG = clientFrame('{"messageType":"pong","requestId":null}');

const buffer = Buffer.alloc(BUFFER_BYTES);
let sockets: { readonly socket: Socket; readonly counter: FrameCounter }[] = [];
let closed = 0;
let turns: NodeJS.Timeout | undefined;

function open(port: number, greeting: string | null, number: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const counter = new FrameCounter();
    let head: string | null = '';
    const hear = (length: number): boolean => {
      let from = 0;
      if (head !== null) {
        const before = head.length;
        head += buffer.toString('latin1', 0, length);
        const end = head.indexOf(HEAD_END);
        if (end < 0) return true;
        if (!head.startsWith('HTTP/1.1 101')) reject(new Error(head.slice(0, 80)));
        from = end + HEAD_END.length - before;
        head = null;
        if (greeting !== null) socket.write(clientFrame(numbered(greeting, number)));
        resolve();
      }
      counter.take(buffer, from, length);
      // False: it reads no more until it is resumed.
      return turns === undefined;
    };
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback: hear } });
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('close', () => {
      closed += 1;
    });
    socket.write(upgradeRequest(port));
    sockets.push({ socket, counter });
  });
}

function numbered(greeting: string, number: number): string {
  return greeting.replaceAll('####', String(number).padStart(4, '0'));
}

function upgradeRequest(port: number): string {
  const lines = ['GET /ws HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Upgrade: websocket'];
  lines.push('Connection: Upgrade', 'Sec-WebSocket-Version: 13');
  lines.push('Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==');
  return `${lines.join('\r\n')}${HEAD_END}`;
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

const offers = {
  ...usageOffers(),
  /** Opens sockets and waits until each has its first messages. */
  async open({ port, sockets: count, greeting, framesEach }: OpenOptions): Promise<void> {
    closed = 0;
    for (let from = 0; from < count; from += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => from + at);
      await Promise.all(numbers.map((number) => open(port, greeting, number)));
    }
    await until(() => sockets.every(({ counter }) => counter.frames >= framesEach));
  },
  frames(): number {
    return sockets.reduce((sum, { counter }) => sum + counter.frames, 0);
  },
  /** From now on each socket is read once in this time. */
  readEvery(ms: number): void {
    const fromMs = machineMs();
    let next = 0;
    turns = setInterval(() => {
      const end = (sockets.length * (machineMs() - fromMs)) / ms;
      for (; next < end; next += 1) sockets[next % sockets.length]?.socket.resume();
    }, TURN_MS);
  },
  /** Every socket gives a sign of life. */
  nudge(): void {
    for (const { socket } of sockets) socket.write(PONG);
  },
  /** Closes all; answers how many the server had closed before. */
  async close(): Promise<number> {
    const lost = closed;
    clearInterval(turns);
    turns = undefined;
    for (const { socket } of sockets) socket.destroy();
    await until(() => closed >= sockets.length);
    sockets = [];
    return lost;
  },
};

offer(offers);
