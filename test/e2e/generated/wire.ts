/**
 * Sends bytes to the server and reads its answers, over connections that stay open as long as the
 * server allows.
 */
import { connect, type Socket } from 'node:net';

export interface WireAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Names that came more than once. */
  readonly repeated: readonly string[];
  readonly body: Buffer;
}

/** The result of a request: an answer, the end of the connection, or nothing in time. */
export type Outcome = WireAnswer | 'closed' | 'silent';

const HEAD_END = '\r\n\r\n';

export class Line {
  readonly #port: number;
  readonly #limitMs: number;
  #socket: Socket | null = null;
  #received: Buffer[] = [];
  #look: (() => void) | null = null;

  constructor(port: number, limitMs = 60_000) {
    this.#port = port;
    this.#limitMs = limitMs;
  }

  /** `isBare`: bytes that are not one whole request use a separate connection. */
  async ask(bytes: Buffer, { isHead = false, isBare = false, limitMs = this.#limitMs } = {}) {
    if (isBare) this.end();
    // The server may close the kept connection just when it is used again.
    const wasKept = this.#socket !== null;
    const outcome = await this.#once(bytes, isHead, limitMs);
    if (outcome === 'closed' && wasKept) return this.#once(bytes, isHead, limitMs);
    if (isBare) this.end();
    return outcome;
  }

  end(): void {
    this.#socket?.destroy();
    this.#socket = null;
    this.#received = [];
  }

  #once(bytes: Buffer, isHead: boolean, limitMs: number): Promise<Outcome> {
    const socket = this.#socket ?? this.#open();
    return new Promise((resolve) => {
      const finish = (outcome: Outcome) => {
        clearTimeout(timer);
        this.#look = null;
        if (typeof outcome === 'string' || isLast(outcome)) this.end();
        resolve(outcome);
      };
      const timer = setTimeout(() => finish('silent'), limitMs);
      this.#look = () => {
        const found = parse(this.#all(), isHead);
        if (found === null) {
          if (socket.destroyed) finish('closed');
          return;
        }
        this.#received = [this.#all().subarray(found.length)];
        finish(found.answer);
      };
      if (bytes.length > 0) socket.write(bytes);
    });
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    this.#socket = socket;
    this.#received = [];
    socket.on('data', (bytes: Buffer) => {
      this.#received.push(bytes);
      this.#look?.();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = null;
      this.#look?.();
    });
    return socket;
  }

  #all(): Buffer {
    const [only] = this.#received;
    if (only !== undefined && this.#received.length === 1) return only;
    const all = Buffer.concat(this.#received);
    this.#received = [all];
    return all;
  }
}

/** Nothing else comes over this connection: it is closed, or the body does not end. */
function isLast({ headers }: WireAnswer): boolean {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  return isStream || headers.get('connection') === 'close';
}

function parse(bytes: Buffer, isHead: boolean): { answer: WireAnswer; length: number } | null {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return null;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = new Map<string, string>();
  const repeated: string[] = [];
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    if (headers.has(name)) repeated.push(name);
    headers.set(name, line.slice(line.indexOf(':') + 1).trim());
  }
  const status = Number(first.split(' ')[1]);
  const from = end + HEAD_END.length;
  const isBodyless = isHead || status === 204 || status === 304 || status < 200;
  const length = isBodyless ? 0 : Number(headers.get('content-length') ?? 0);
  if (bytes.length < from + length) return null;
  const body = Buffer.from(bytes.subarray(from, from + length));
  return { answer: { status, headers, repeated, body }, length: from + length };
}
