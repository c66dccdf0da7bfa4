/**
 * One request and its response. uWebSockets.js frees the request when its handler returns and the
 * response when the client goes away, and touching either after that aborts the process; so the
 * constructor reads every needed field, and every write checks `alive` first.
 */

import { STATUS_CODES } from 'node:http';
import type { HttpRequest, HttpResponse } from '../gateway/server.ts';

export interface Reply {
  readonly status: number;
  /** `CORS_LINES`, then other header lines, each starting with CRLF. */
  readonly lines: string;
  /** Null: an answer without a body, such as 304; not with `close`. */
  readonly body: string | Uint8Array | null;
  /** Ends the connection. Send such a reply outside of the handler: see `Answers`. */
  readonly close?: boolean;
}

/** RFC 9110 7.2: a name or an address, and a port. A proxy may read anything else differently. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;
/** The library closes the connection after its answer where the first Connection is this long. */
const CLOSE_LENGTH = 'close'.length;
const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const CLOSE_LINE = '\r\nConnection: close';

/** `end` buffers bytes that the client has not read; longer bodies are written as it reads. */
const AT_ONCE_BYTES = 262_144;

export class Exchange {
  readonly res: HttpResponse;
  readonly isHead: boolean;
  alive = true;
  /** False once the handler has returned: from then on writes must be corked by hand. */
  corked = true;
  /** True once `defer` was called. */
  deferred = false;
  contentType = '';
  contentLength = '';
  contentEncoding = '';
  accept = '';
  acceptEncoding = '';
  ifMatch = '';
  ifNoneMatch = '';
  expect = '';
  lastEventId = '';
  minPosition = '';
  forwardedFor = '';
  authorization = '';
  host = '';
  /** Null: not sent. */
  idempotencyKey: string | null = null;
  /** Null: not sent. */
  origin: string | null = null;
  /** Runs when the client disconnects before its answer, after `defer`. */
  onGone: (() => void) | null = null;
  #hosts = 0;
  #lengths = 0;
  /** Value of the first Connection header, the only one that the library reads. */
  #connection: string | null = null;
  #asksToClose = false;
  /** Values of Transfer-Encoding headers; null: none was sent. */
  #encodings: string[] | null = null;
  #paused = false;
  #streams = false;
  /** The library considers the sent response incomplete. */
  #isLeftOpen = false;

  constructor(res: HttpResponse, req: HttpRequest, isHead: boolean) {
    this.res = res;
    this.isHead = isHead;
    req.forEach((name, value) => {
      this.#readHeader(name, value);
    });
  }

  /**
   * The end or the host of the request can be read in two ways, and a proxy may read it
   * differently: request smuggling. uWebSockets.js takes the first of several headers, and reads
   * any Transfer-Encoding as `chunked`.
   */
  get ambiguous(): boolean {
    if (this.#hosts !== 1 || this.#lengths > 1 || !HOST.test(this.host)) return true;
    if (this.#lengths === 1 && this.contentLength === '') return true;
    return this.#encodings?.some((each, at) => at > 0 || each.toLowerCase() !== 'chunked') ?? false;
  }

  /**
   * Whether its answer must end the connection, and the library would not. It does not know chunk
   * extensions, so where a chunked body ends is uncertain; and of `Connection` it reads no list.
   */
  get endsConnection(): boolean {
    return this.#encodings !== null || (this.#asksToClose && !this.#libraryCloses);
  }

  get #libraryCloses(): boolean {
    return this.#connection?.length === CLOSE_LENGTH;
  }

  /** Must be called before the handler returns without an answer. */
  defer(onAborted: () => void): void {
    this.deferred = true;
    this.res.onAborted(() => {
      if (!this.alive) return;
      this.alive = false;
      this.onGone?.();
      onAborted();
    });
  }

  /** Reads nothing more from the connection until the answer is sent; only after `defer`. */
  pause(): void {
    if (!this.alive || this.#paused || this.#streams) return;
    this.#paused = true;
    this.res.pause();
  }

  send(reply: Reply): void {
    if (!this.alive) return;
    this.alive = false;
    if (this.#paused) this.res.resume();
    if (this.corked) this.#write(reply);
    else this.res.cork(() => this.#write(reply));
    if (this.#isLeftOpen) this.res.close();
  }

  /** Begins an answer without an end: its body is written as it comes. After `defer`. */
  beginStream(lines: string): void {
    const write = () => this.#writeLines(lines);
    this.#streams = true;
    if (this.#paused) this.res.resume();
    if (this.corked) write();
    else this.res.cork(write);
  }

  #write(reply: Reply): void {
    const { res } = this;
    if (reply.status !== 200) res.writeStatus(statusLine(reply.status));
    this.#writeLines(reply.lines);
    if (reply.body === null) {
      // Any first argument, also undefined, counts as a length, and the response then stays open.
      res.endWithoutBody();
    } else if (reply.close === true && !this.isHead) {
      res.end(reply.body, true);
    } else if (reply.close === true) {
      // The library would say of itself that the length is 0, or leave the connection open.
      if (!this.#libraryCloses) res.writeHeader('Connection', 'close');
      const [, isDone] = res.tryEnd('', Buffer.byteLength(reply.body));
      this.#isLeftOpen = !isDone;
    } else if (this.isHead) {
      // endWithoutBody(length) leaves the response open, and the process aborts over it.
      res.writeHeader('Content-Length', String(Buffer.byteLength(reply.body)));
      res.endWithoutBody();
    } else if (reply.body.length <= AT_ONCE_BYTES) {
      res.end(reply.body);
    } else {
      sendLong(res, typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body);
    }
  }

  /** In one call: each call into the library costs more than the bytes it writes. */
  #writeLines(lines: string): void {
    const all = this.#libraryCloses ? lines + CLOSE_LINE : lines;
    this.res.writeHeader('Access-Control-Allow-Origin', all);
  }

  #readHeader(name: string, value: string): void {
    switch (name) {
      case 'host':
        this.#hosts += 1;
        this.host = value;
        break;
      case 'connection':
        this.#connection ??= value;
        this.#asksToClose ||= CLOSE.test(value);
        break;
      case 'origin':
        this.origin = value;
        break;
      case 'transfer-encoding':
        this.#encodings = [...(this.#encodings ?? []), value];
        break;
      case 'content-length':
        this.#lengths += 1;
        this.contentLength = value;
        break;
      case 'content-type':
        this.contentType = value;
        break;
      case 'accept':
        this.accept = join(this.accept, value);
        break;
      case 'accept-encoding':
        this.acceptEncoding = join(this.acceptEncoding, value);
        break;
      case 'content-encoding':
        this.contentEncoding = join(this.contentEncoding, value);
        break;
      case 'expect':
        this.expect = join(this.expect, value);
        break;
      case 'if-match':
        this.ifMatch = join(this.ifMatch, value);
        break;
      case 'if-none-match':
        this.ifNoneMatch = join(this.ifNoneMatch, value);
        break;
      case 'last-event-id':
        this.lastEventId = value;
        break;
      case 'authorization':
        this.authorization = join(this.authorization, value);
        break;
      case 'idempotency-key':
        this.idempotencyKey =
          this.idempotencyKey === null ? value : `${this.idempotencyKey}, ${value}`;
        break;
      case 'x-min-position':
        this.minPosition = value;
        break;
      case 'x-forwarded-for':
        this.forwardedFor = join(this.forwardedFor, value);
        break;
    }
  }
}

/** Several headers of one name are one list. */
function join(earlier: string, value: string): string {
  return earlier === '' ? value : `${earlier}, ${value}`;
}

/**
 * The library asks for more when the client has read the sent bytes. Until then the response is
 * pending: a client that reads nothing costs one body, and when it sends another request meanwhile,
 * the library closes its connection.
 */
function sendLong(res: HttpResponse, body: Uint8Array): void {
  let gone = false;
  res.onAborted(() => {
    gone = true;
  });
  const [, done] = res.tryEnd(body, body.length);
  if (done || gone) return;
  res.onWritable((offset) => {
    if (gone) return true;
    const [taken, done] = res.tryEnd(body.subarray(offset), body.length);
    return taken || done;
  });
}

/** Status code and reason phrase, as on the first line of a response. */
export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}
