/** Some sockets that subscribe to one topic each and note when which position came. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { machineMs } from '../support/machineClock.ts';
import { offer } from '../support/offers.ts';

export type Listener = typeof offers;

/** Complete up to `seq` on `socket` at that moment. */
export interface Heard {
  readonly socket: number;
  readonly seq: number;
  readonly atMs: number;
  /** Market time of the change. */
  readonly marketMs: number;
}

const PONG = JSON.stringify({ messageType: 'pong', requestId: null });

let heard: Heard[] = [];
let opened = 0;

async function open(url: string, greeting: string, socket: number): Promise<void> {
  const connection = new WebSocket(url);
  await once(connection, 'open');
  connection.on('message', (bytes: Buffer) => {
    const atMs = machineMs();
    const text = bytes.toString('latin1');
    const [, seq, ts] = /"event":"LastBarUpdate".*"seq":(\d+).*"ts":(\d+)/.exec(text) ?? [];
    if (seq !== undefined) heard.push({ socket, seq: Number(seq), atMs, marketMs: Number(ts) });
    // The server closes a socket that is silent for half a minute.
    else if (text.includes('"event":"Ping"')) connection.send(PONG);
  });
  connection.on('close', (code) => {
    throw new Error(`socket ${socket} was closed, ${code}`);
  });
  connection.send(greeting);
}

const offers = {
  async open(options: {
    readonly url: string;
    readonly greeting: string;
    readonly sockets: number;
  }) {
    const numbers = Array.from({ length: options.sockets }, (_, number) => opened + number);
    opened += options.sockets;
    await Promise.all(numbers.map((number) => open(options.url, options.greeting, number)));
  },
  /** Messages that came since the last call, oldest first. */
  take(): readonly Heard[] {
    const all = heard;
    heard = [];
    return all;
  },
};

offer(offers);
