/** A feed of trades over TCP: numbered, at a pace, with the time at which each was written. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { machineMs } from './machineClock.ts';
import { assetOf, QUOTE } from './trades.ts';

const TICK_MS = 1;
const MICROS = 1_000_000;

export class PeerFeed {
  readonly #server: Server;
  #socket: Socket | null = null;
  /** When trade `n` was written. */
  readonly sentMs: number[] = [];
  #timer: NodeJS.Timeout | null = null;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      this.#socket = socket;
    });
  }

  static async open(): Promise<PeerFeed> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PeerFeed(server);
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('it listens on TCP');
    return address.port;
  }

  /** `perSecond` trades, in turns over `pairs` pairs, until `rest`. */
  begin(pairs: number, perSecond: number): void {
    const startMs = machineMs();
    let written = 0;
    this.#timer = setInterval(() => {
      const nowMs = machineMs();
      const due = Math.floor(((nowMs - startMs) / 1000) * perSecond);
      let lines = '';
      for (; written < due; written += 1) {
        lines += lineOf(this.sentMs.length, this.sentMs.length % pairs);
        this.sentMs.push(nowMs);
      }
      if (lines !== '') this.#socket?.write(lines);
    }, TICK_MS);
  }

  rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  close(): void {
    this.rest();
    this.#socket?.destroy();
    this.#server.close();
  }
}

/** Its price is 1 and as many millionths as its number. */
function lineOf(number: number, pair: number): string {
  const line = {
    id: String(number),
    timeMs: Date.now(),
    base: assetOf(pair),
    quote: QUOTE,
    baseDecimals: 0,
    quoteDecimals: 6,
    baseAmount: '1',
    quoteAmount: String(MICROS + number),
  };
  return `${JSON.stringify(line)}\n`;
}
