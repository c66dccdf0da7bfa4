/** A foreign WebSocket client (`ws`) that remembers every frame, for tests. */
import { decode } from '@msgpack/msgpack';
import { WebSocket } from 'ws';
import { isRecord } from '../../../src/api/gateway/input.ts';
import { until } from '../../support/until.ts';

export interface Frame {
  readonly requestId: unknown;
  readonly event: string;
  readonly messageType: string;
  readonly data: Record<string, unknown>;
  readonly epoch: string;
  readonly seq: number;
  readonly prev: number | null;
  readonly snapshot?: boolean;
  readonly ts: number;
}

export class Client {
  readonly frames: Frame[] = [];
  readonly bytes: Buffer[] = [];
  readonly socket: WebSocket;
  /** Pings come at any time; most tests do not want them among the frames. */
  keepsPings = false;
  pings = 0;
  hasOpened = false;
  closeCode: number | null = null;
  error: Error | null = null;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (message: Buffer, isBinary: boolean) => {
      // Narrowing at the wire: tests compare the content of each frame.
      const frame = (isBinary ? decode(message) : JSON.parse(message.toString())) as Frame;
      this.pings += frame.event === 'Ping' ? 1 : 0;
      if (frame.event === 'Ping' && !this.keepsPings) return;
      this.bytes.push(message);
      this.frames.push(frame);
    });
    socket.on('open', () => {
      this.hasOpened = true;
    });
    socket.on('close', (code) => {
      this.closeCode = code;
    });
    socket.on('error', (error) => {
      this.error = error;
    });
  }

  static async open(
    port: number,
    more: { path?: string; protocols?: string[]; headers?: Record<string, string> } = {},
  ): Promise<Client> {
    const url = `ws://127.0.0.1:${port}${more.path ?? '/ws'}`;
    const headers = more.headers ?? {};
    const client = new Client(new WebSocket(url, more.protocols ?? [], { headers }));
    await until('socket opened', () => client.hasOpened);
    return client;
  }

  send(frame: object | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  subscribe(requestId: unknown, topic: string, data: unknown, more: object = {}): void {
    this.send({ messageType: 'subscribe', clientId: 't', requestId, topic, data, ...more });
  }

  of(requestId: unknown): Frame[] {
    return this.frames.filter((frame) => frame.requestId === requestId);
  }

  /** The first frame of that kind at or after `from`. */
  async frame(what: Partial<Frame>, from = 0): Promise<Frame> {
    const fits = (frame: Frame) =>
      Object.entries(what).every(([key, value]) => isRecord(frame) && frame[key] === value);
    const find = () => this.frames.slice(from).find(fits);
    await until(`frame ${JSON.stringify(what)}`, () => find() !== undefined);
    const found = find();
    if (found === undefined) throw new Error('unreachable');
    return found;
  }

  async closed(code: number): Promise<void> {
    await until(`closed with ${code}`, () => this.closeCode !== null);
    if (this.closeCode !== code) throw new Error(`closed with ${this.closeCode}, not ${code}`);
  }
}
