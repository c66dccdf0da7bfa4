/** The server that is judged: requests, sockets and streams of events, each with a deadline. */
import { connect } from 'node:net';
import { readPosition } from '../../../client/rest/answer.ts';
import { EventText } from '../../../client/socket/eventLink.ts';
import { type Decode, type Frame, isRecord } from '../../../client/socket/frame.ts';
import type { Position } from '../../../client/types.ts';
import { withDeadline } from '../../../engine/runtime/abort.ts';
import { type Clock, pause } from '../../../engine/runtime/clock.ts';
import { openSocket } from '../load/openSocket.ts';

/** A promise that the server does not keep: the message has the server's answer and the promise. */
export class Broken extends Error {}
/** A clause that cannot be tried here, and why. */
export class Skipped extends Error {}

export function expect(isKept: boolean, what: string): asserts isKept {
  if (!isKept) throw new Broken(what);
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** undefined: no JSON. */
  readonly json: unknown;
  readonly position: Position | null;
}

export interface TargetDeps {
  readonly url: string;
  readonly clock: Clock;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly decode: Readonly<Record<'json' | 'msgpack', Decode>>;
  /** A token with trades; null: there is none. */
  readonly asset: string | null;
  /** How long changes are waited for. */
  readonly waitMs: number;
  /** Whether the faucet and forks of a devnet may be used. */
  readonly mayChange: boolean;
}

const ANSWER_MS = 10_000;
const LOOK_MS = 10;

export class Target {
  readonly deps: TargetDeps;
  readonly #ends: (() => void)[] = [];

  constructor(deps: TargetDeps) {
    this.deps = deps;
  }

  /** The longest wait for an answer; `waitMs` where that is shorter. */
  get #answerMs(): number {
    return Math.min(ANSWER_MS, this.deps.waitMs);
  }

  get asset(): string {
    const { asset } = this.deps;
    if (asset === null) throw new Skipped('the server lists no token');
    return asset;
  }

  /** Closes everything that the clause opened. */
  close(): void {
    for (const end of this.#ends.splice(0)) end();
  }

  async ask(path: string, init: RequestInit = {}): Promise<Answer> {
    const { url, fetch, clock } = this.deps;
    return withDeadline(clock, ANSWER_MS, async (signal) => {
      const response = await fetch(url + path, { ...init, signal });
      const text = await response.text();
      const { status, headers } = response;
      const position = readPosition(headers.get('x-position'));
      return { status, headers, text, json: jsonOf(text), position };
    });
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const all = { 'content-type': 'application/json', ...headers };
    return this.ask(path, { method: 'POST', headers: all, body: JSON.stringify(body) });
  }

  /**
   * Bytes as they are; returns the bytes received until the server ended the connection, or two
   * seconds passed.
   */
  async raw(text: string): Promise<string> {
    const { hostname, port, protocol } = new URL(this.deps.url);
    if (protocol !== 'http:') throw new Skipped('needs a server without TLS');
    const socket = connect({ host: hostname, port: Number(port === '' ? '80' : port) });
    let said = '';
    let isEnded = false;
    const end = () => {
      isEnded = true;
    };
    socket.setEncoding('latin1').on('data', (part: string) => {
      said += part;
    });
    socket.on('close', end).on('error', end);
    socket.write(text);
    await this.until(() => isEnded, 2_000);
    socket.destroy();
    return said;
  }

  async socket(encoding: 'json' | 'msgpack' = 'json'): Promise<JudgedSocket> {
    const socket = new JudgedSocket(this, encoding);
    this.#ends.push(() => socket.close());
    const isOpen = await this.until(() => socket.isOpen || socket.closeCode !== null);
    expect(isOpen && socket.isOpen, `a WebSocket (${encoding}) opens; it closed instead`);
    return socket;
  }

  /** A stream of events with these subscriptions, until the clause ends. */
  async events(topics: readonly object[], lastEventId?: string): Promise<JudgedEvents> {
    const { url, fetch } = this.deps;
    const ending = new AbortController();
    this.#ends.push(() => ending.abort());
    const query = topics.map((each) => `sub=${encodeURIComponent(JSON.stringify(each))}`);
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const init = { headers, signal: ending.signal };
    const response = await fetch(`${url}/v1/stream?${query.join('&')}`, init);
    return new JudgedEvents(response, this.deps.decode.json);
  }

  /** False: it did not become true in time. */
  async until(isTrue: () => boolean, limitMs = this.#answerMs): Promise<boolean> {
    const { clock } = this.deps;
    const endMs = clock.monotonicMs() + limitMs;
    while (!isTrue()) {
      if (clock.monotonicMs() >= endMs) return false;
      await this.pause(LOOK_MS);
    }
    return true;
  }

  pause(ms: number): Promise<void> {
    return pause(this.deps.clock, ms, new AbortController().signal);
  }
}

export class JudgedSocket {
  readonly frames: Frame[] = [];
  isOpen = false;
  closeCode: number | null = null;
  protocol = '';
  unreadable = 0;
  readonly #target: Target;
  readonly #socket: ReturnType<typeof openSocket>;

  constructor(target: Target, encoding: 'json' | 'msgpack', protocol: string = encoding) {
    this.#target = target;
    const { url, decode } = target.deps;
    const socket = openSocket(`${url.replace(/^http/, 'ws')}/ws`, protocol);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      this.isOpen = true;
    };
    socket.onmessage = ({ data }) => {
      const frame = decode[encoding](data);
      if (frame === null) this.unreadable += 1;
      else this.frames.push(frame);
    };
    socket.onclose = ({ code }) => {
      this.closeCode = code;
    };
    socket.onerror = () => {};
    this.#socket = socket;
  }

  say(frame: object | string): void {
    if (this.closeCode === null) {
      this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
    }
  }

  /** In the form that `Subscribed` answers. */
  subscribe(requestId: string, topic: string, data: object = {}, more: object = {}): void {
    this.say({ messageType: 'subscribe', topics: [{ requestId, topic, data, ...more }] });
  }

  close(): void {
    this.#socket.close();
  }

  /** The first frame that fits, earlier frames included; broken where none comes. */
  async frame(what: string, fits: (frame: Frame) => boolean, limitMs?: number): Promise<Frame> {
    const found = () => this.frames.find(fits);
    await this.#target.until(() => found() !== undefined || this.closeCode !== null, limitMs);
    const frame = found();
    const instead = this.frames.slice(-3).map(({ event }) => event);
    expect(frame !== undefined, `${what}; instead came: ${instead.join(', ') || 'nothing'}`);
    return frame;
  }

  /** Frames of a subscription that carry data of its topic. */
  of(requestId: string): Frame[] {
    const control = ['Subscribed', 'Unsubscribed', 'Error', 'Resync'];
    return this.frames.filter(
      (frame) => frame.requestId === requestId && !control.includes(frame.event),
    );
  }

  /** Whether the server recovered the subscription from `since`. */
  async accepted(requestId: string): Promise<boolean> {
    const { event, data } = await this.frame('`Subscribed` answers a subscription', (frame) => {
      return frame.requestId === requestId && /^(Subscribed|Error)$/.test(frame.event);
    });
    expect(event === 'Subscribed', `a subscription is accepted, not ${JSON.stringify(data)}`);
    return isRecord(data) && data.recovered === true;
  }

  snapshot(requestId: string): Promise<Frame> {
    return this.frame('a snapshot comes first', (frame) => {
      return frame.requestId === requestId && frame.snapshot;
    });
  }
}

class JudgedEvents {
  readonly status: number;
  readonly headers: Headers;
  readonly frames: Frame[] = [];
  /** As they came. */
  text = '';

  constructor({ status, headers, body }: Response, decode: Decode) {
    this.status = status;
    this.headers = headers;
    if (body !== null) void this.#read(body.getReader(), decode);
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>, decode: Decode): Promise<void> {
    const decoder = new TextDecoder();
    const events = new EventText();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const part = decoder.decode(value, { stream: true });
        this.text += part;
        this.frames.push(...events.add(part).flatMap((data) => decode(data) ?? []));
      }
    } catch {
      // The clause has ended, or the server: what came before counts.
    }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A body of another kind: `text` has it.
    return undefined;
  }
}
