/** A reader of server-sent events as the standard parses them, that remembers every event. */
import { type IncomingMessage, request } from 'node:http';
import { until } from '../../support/until.ts';
import type { Frame } from './client.ts';

export interface StreamEvent {
  readonly event: string;
  readonly frame: Frame;
  /** The last event id once this event was read; '' before the first. */
  readonly id: string;
  readonly hasId: boolean;
}

interface Opening {
  readonly query?: readonly unknown[];
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export class EventStreamClient {
  readonly events: StreamEvent[] = [];
  readonly response: IncomingMessage;
  lastId = '';
  retry = '';
  text = '';
  isEnded = false;
  #rest = '';

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    response.on('end', () => this.#end());
    response.on('error', () => this.#end());
  }

  static async open(port: number, { query, body, headers = {} }: Opening) {
    const search = (query ?? []).map((sub) => {
      return `sub=${encodeURIComponent(typeof sub === 'string' ? sub : JSON.stringify(sub))}`;
    });
    const isPost = body !== undefined;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(
        {
          port,
          host: '127.0.0.1',
          agent: false,
          path: `/v1/stream?${search.join('&')}`,
          method: isPost ? 'POST' : 'GET',
          headers: { ...(isPost ? { 'content-type': 'application/json' } : {}), ...headers },
        },
        resolve,
      );
      sent.on('error', reject);
      sent.end(isPost ? JSON.stringify(body) : undefined);
    });
    return new EventStreamClient(response);
  }

  /** Events of a name, or of a subscription. */
  of(name: string): StreamEvent[] {
    return this.events.filter(({ event, frame }) => event === name || frame.requestId === name);
  }

  async event(name: string, count = 1): Promise<StreamEvent> {
    await until(`${count} ${name}`, () => this.of(name).length >= count);
    const found = this.of(name)[count - 1];
    if (found === undefined) throw new Error('it was there');
    return found;
  }

  close(): void {
    this.response.destroy();
  }

  #end(): void {
    this.isEnded = true;
  }

  #take(text: string): void {
    this.text += text;
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n\n'); end >= 0; end = this.#rest.indexOf('\n\n')) {
      this.#block(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end + 2);
    }
  }

  #block(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const at = line.indexOf(':');
      if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''));
    }
    this.retry = fields.get('retry') ?? this.retry;
    this.lastId = fields.get('id') ?? this.lastId;
    const data = fields.get('data');
    if (data === undefined) return;
    const frame = JSON.parse(data) as Frame; // trust: tests compare its content
    const event = fields.get('event') ?? 'message';
    this.events.push({ event, frame, id: this.lastId, hasId: fields.has('id') });
  }
}
