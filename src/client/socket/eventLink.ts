/**
 * Frames as server-sent events, for networks that block WebSockets. A stream cannot be changed:
 * each request opens new ones for all subscriptions, which continue from their positions, so
 * nothing is missing.
 */
import type { Clock, Fetch } from '../platform.ts';
import { type Decode, type Frame, isRecord } from './frame.ts';
import {
  GOING_AWAY,
  type Link,
  type LinkEvents,
  LOST,
  SilenceWatch,
  type TopicRequest,
} from './link.ts';

interface EventLinkDeps extends LinkEvents {
  /** Base URL of the node. */
  readonly node: string;
  readonly key: string | undefined;
  readonly decode: Decode;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Silence after which a stream is given up, as for a socket. */
  readonly silenceMs: number;
}

/** The most topics of one stream. */
const MAX_TOPICS = 20;
/** The server's code for a key that it does not know. */
const UNKNOWN_KEY = 4501;
const PLACE = /^body\.(\d+)/;

export class EventLink implements Link {
  readonly requestsAll = true;
  readonly #deps: EventLinkDeps;
  #streams: Stream[] = [];
  #isOpen = false;
  #isEnded = false;
  /** The node said that it shuts down. */
  #isLeaving = false;

  constructor(deps: EventLinkDeps) {
    this.#deps = deps;
  }

  request(topics: readonly TopicRequest[]): void {
    if (this.#isEnded) return;
    for (const stream of this.#streams) stream.close();
    this.#streams = [];
    for (let at = 0; at < topics.length; at += MAX_TOPICS) {
      const stream = new Stream(topics.slice(at, at + MAX_TOPICS), this.#deps, {
        onOpen: () => this.#opened(),
        onFrame: (frame) => this.#receive(stream, frame),
        onEnd: (code, reason) => this.#end(code, reason),
      });
      this.#streams.push(stream);
    }
    for (const stream of this.#streams) void stream.read();
  }

  /** Pongs, and ends of subscriptions, which the next request leaves out. */
  send(): void {}

  close(reason: string): void {
    this.#end(LOST, reason);
  }

  #opened(): void {
    if (this.#isOpen || this.#isEnded) return;
    this.#isOpen = true;
    this.#deps.onOpen();
  }

  #receive(stream: Stream, frame: Frame): void {
    if (this.#isEnded) return;
    if (frame.event === 'Shutdown') this.#isLeaving = true;
    if (frame.event === 'Ping') this.#pinged(stream, frame);
    else this.#deps.onFrame(frame);
  }

  /** A stream's ping covers only its own subscriptions; a ping of the link covers all. */
  #pinged(stream: Stream, frame: Frame): void {
    const data = isRecord(frame.data) ? frame.data : {};
    stream.completeTo = { epoch: frame.epoch, seq: Number(data.seq) };
    const seqs = this.#streams.map(({ completeTo }) =>
      completeTo?.epoch === frame.epoch ? completeTo.seq : Number.NaN,
    );
    const seq = Math.min(...seqs);
    if (Number.isSafeInteger(seq)) this.#deps.onFrame({ ...frame, data: { ...data, seq } });
  }

  #end(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const stream of this.#streams) stream.close();
    this.#deps.onEnd(code === LOST && this.#isLeaving ? GOING_AWAY : code, reason);
  }
}

class Stream {
  /** Position in its newest ping. */
  completeTo: { readonly epoch: string; readonly seq: number } | null = null;
  readonly #topics: readonly TopicRequest[];
  readonly #deps: Omit<EventLinkDeps, keyof LinkEvents>;
  readonly #events: LinkEvents;
  readonly #closed = new AbortController();
  readonly #silence: SilenceWatch;

  constructor(
    topics: readonly TopicRequest[],
    deps: Omit<EventLinkDeps, keyof LinkEvents>,
    events: LinkEvents,
  ) {
    this.#topics = topics;
    this.#deps = deps;
    this.#events = events;
    const { clock, silenceMs } = deps;
    this.#silence = new SilenceWatch(clock, silenceMs, (reason) => this.#end(LOST, reason));
  }

  close(): void {
    this.#silence.stop();
    this.#closed.abort();
  }

  async read(): Promise<void> {
    const { node, key, fetch } = this.#deps;
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (key !== undefined) headers.authorization = `Bearer ${key}`;
    const { signal } = this.#closed;
    const body = JSON.stringify(this.#topics);
    try {
      const init = { method: 'POST', headers, body, signal, cache: 'no-store' } as const;
      const response = await fetch(`${node}/v1/stream`, init);
      if (signal.aborted) return;
      if (response.status !== 200 || response.body === null) await this.#refused(response);
      else await this.#follow(response.body.getReader());
    } catch (error) {
      this.#end(LOST, `the stream of events was lost (${error})`);
    }
  }

  async #follow(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    const text = new EventText();
    this.#silence.opened();
    this.#events.onOpen();
    for (;;) {
      const { done, value } = await reader.read();
      if (this.#closed.signal.aborted) return;
      if (done) break;
      this.#silence.received();
      for (const data of text.add(decoder.decode(value, { stream: true }))) {
        const frame = this.#deps.decode(data);
        if (frame === null) return this.#end(LOST, 'unreadable frame');
        this.#events.onFrame(frame);
        if (this.#closed.signal.aborted) return;
      }
    }
    this.#end(LOST, 'the stream of events ended');
  }

  /** The stream is refused as a whole; which subscription is wrong is in the paths of `details`. */
  async #refused(response: Response): Promise<void> {
    const { status } = response;
    // A proxy may answer with something else than JSON: the status stands for it.
    const body: unknown = await response.json().catch(() => null);
    if (this.#closed.signal.aborted) return;
    const { cause, message, details } = isRecord(body) ? body : {};
    if (status === 401) return this.#end(UNKNOWN_KEY, String(message));
    const places = Array.isArray(details) ? details.map(placeOf) : [];
    const wrong = this.#topics.filter((_, index) => status === 400 && places.includes(index));
    if (wrong.length === 0) return this.#end(LOST, `${cause ?? 'the stream'}: answered ${status}`);
    // It has no stream, and does not stay: without these, all are requested again.
    this.#silence.stop();
    const data = { cause, message, retry: false };
    const nowhere = { epoch: '', seq: 0, prev: null, snapshot: false };
    for (const { requestId } of wrong) {
      this.#events.onFrame({ requestId, event: 'Error', data, ...nowhere });
    }
  }

  #end(code: number, reason: string): void {
    if (this.#closed.signal.aborted) return;
    this.close();
    this.#events.onEnd(code, reason);
  }
}

function placeOf(detail: unknown): number {
  const path = isRecord(detail) ? String(detail.path) : '';
  return Number(PLACE.exec(path)?.[1] ?? Number.NaN);
}

/** The text of server-sent events, cut anywhere, to the data of each. */
export class EventText {
  #rest = '';
  #data: string[] = [];

  /** The data of the events that this part completes. */
  add(part: string): string[] {
    const lines = (this.#rest + part).split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    const found: string[] = [];
    for (const line of lines) {
      if (line === '') {
        if (this.#data.length > 0) found.push(this.#data.join('\n'));
        this.#data = [];
      } else if (line.startsWith('data:')) {
        this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
      }
    }
    return found;
  }
}
