/** Bytes over a plain TCP connection, for HTTP that no client library would send. */
import { connect, type Socket } from 'node:net';
import { until } from '../../support/until.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly closed: boolean;
}

export class RawConnection {
  readonly socket: Socket;
  received = '';
  closed = false;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => {
      this.received += text;
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
    });
  }

  /** Writes the parts as TCP segments of their own: each after the server has had time to read. */
  async write(parts: readonly string[]): Promise<void> {
    this.socket.setNoDelay(true);
    for (const part of parts) {
      await new Promise<void>((written) => this.socket.write(part, 'latin1', () => written()));
      for (let turn = 0; turn < 4; turn += 1) await new Promise((done) => setImmediate(done));
    }
  }

  /** Sends a request and reads one answer off the connection. */
  async ask(request: string, isHead = false): Promise<RawAnswer> {
    this.socket.write(request, 'latin1');
    const whole = () => parse(this.received, isHead);
    await until(`an answer, got ${this.received}`, () => whole() !== null);
    const answer = whole();
    if (answer === null) throw new Error('unreachable');
    this.received = this.received.slice(answer.length);
    return { ...answer, closed: this.closed };
  }
}

export async function ask(port: number, request: string): Promise<RawAnswer> {
  const connection = new RawConnection(port);
  const answer = await connection.ask(request, request.startsWith('HEAD'));
  connection.socket.destroy();
  return answer;
}

/** A request without body; `lines` are its headers after Host. */
export function get(path: string, lines: readonly string[] = [], method = 'GET'): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: test', ...lines, '', ''].join('\r\n');
}

export function post(path: string, body: string, lines: readonly string[] = []): string {
  const length = Buffer.byteLength(body, 'latin1');
  const type = lines.some((line) => /^content-type/i.test(line))
    ? []
    : ['Content-Type: application/json'];
  const all = [`Content-Length: ${length}`, ...type, ...lines];
  return get(path, all, 'POST') + body;
}

function parse(text: string, isHead: boolean) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 2),
    ]),
  );
  const status = Number(first.split(' ')[1]);
  const bodyless = isHead || status === 204 || status === 304;
  const length = bodyless ? 0 : Number(headers['content-length'] ?? 0);
  const body = text.slice(end + 4, end + 4 + length);
  if (body.length < length) return null;
  return { status, headers, body, length: end + 4 + length };
}
