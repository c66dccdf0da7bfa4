/**
 * Writes a handler's answer as an HTTP response: position, rate limits, CORS, ETag, 304, gzip.
 * Synchronous, except when a body is compressed for the first time.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, Unavailable } from '../../engine/runtime/errors.ts';
import type { Observer } from '../gateway/observer.ts';
import type { Answer, ErrorBody, Route } from '../gateway/port.ts';
import {
  acceptsGzip,
  EntityTags,
  entityTag,
  GZIP_FROM_BYTES,
  GzipCache,
  matches,
} from './bodyCache.ts';
import { CORS_LINES } from './cors.ts';
import type { Exchange, Reply } from './exchange.ts';
import type { Allowance } from './rateLimits.ts';

/** One request, from its headers to its response. */
export interface RequestContext {
  readonly exchange: Exchange;
  readonly operationId: string;
  readonly startedMs: number;
  readonly allowance: Allowance;
}

const JSON_LINES = `${CORS_LINES}\r\nContent-Type: application/json`;
const LINE_BREAK = /[\r\n]/;

export class ResponseWriter {
  /** Answers that are being prepared; a stop waits for them. */
  running = 0;
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #tags = new EntityTags();
  readonly #gzips: GzipCache;

  constructor(clock: Clock, observer: Observer, gzipCacheBytes: number) {
    this.#clock = clock;
    this.#observer = observer;
    this.#gzips = new GzipCache(gzipCacheBytes);
  }

  /** Call it before the handler returns without an answer. */
  defer({ exchange, operationId, allowance }: RequestContext): void {
    this.running += 1;
    exchange.defer(() => {
      this.running -= 1;
      allowance.refund?.();
      this.#observer.httpAborted(operationId);
    });
  }

  answer(context: RequestContext, route: Route, answer: Answer, positionLines: string): void {
    const status = answer.status ?? 200;
    if (status !== 200) context.allowance.refund?.();
    const type =
      answer.type === undefined
        ? JSON_LINES
        : `${CORS_LINES}\r\nContent-Type: ${singleLine(answer.type)}`;
    let lines = type + context.allowance.lines + positionLines;
    if (answer.headers !== undefined) {
      for (const [name, value] of Object.entries(answer.headers)) {
        lines += `\r\n${singleLine(name)}: ${singleLine(value)}`;
      }
    }
    if (status === 200 && (route.etag || route.gzip))
      this.#cacheable(context, route, answer, lines);
    else this.#send(context, { status, lines, body: answer.body });
  }

  failure(
    context: RequestContext,
    failure: Failure,
    more: { lines?: string; close?: boolean } = {},
  ): void {
    context.allowance.refund?.();
    const { cause, message, details, reason, status } = failure;
    const body: ErrorBody = {
      cause,
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(status === 500 && !failure.retry ? { retry: false } : {}),
      ...(details === undefined
        ? {}
        : { details: details.map(({ path, message }) => ({ path, message })) }),
    };
    let lines = JSON_LINES + context.allowance.lines + (more.lines ?? '');
    const retryAfter = failure.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
    if (retryAfter !== undefined) lines += `\r\nRetry-After: ${retryAfter}`;
    const close = more.close ?? false;
    this.#send(context, { status, lines, body: JSON.stringify(body), close });
  }

  /** An answer without content: 204 to OPTIONS. */
  empty(context: RequestContext, lines: string): void {
    this.#send(context, { status: 204, lines: lines + context.allowance.lines, body: null });
  }

  fault(context: RequestContext, error: unknown): void {
    if (error instanceof Unavailable) {
      this.failure(context, error.failure);
      return;
    }
    this.#observer.handlerFailed(context.operationId, error);
    this.failure(
      context,
      new Failure('SERVER_ERROR', 'the server failed; it is logged, try again'),
    );
  }

  #cacheable(
    context: RequestContext,
    route: Route,
    { body, tag: own }: Answer,
    soFar: string,
  ): void {
    const { exchange } = context;
    const tag = own === undefined ? this.#tags.of(body) : entityTag(own, route.gzip);
    let lines = soFar;
    if (route.gzip) lines += '\r\nVary: Accept-Encoding';
    if (route.etag) {
      lines += `\r\nETag: ${tag}`;
      if (route.method === 'GET' && matches(exchange.ifNoneMatch, tag)) {
        this.#send(context, { status: 304, lines, body: null });
        return;
      }
    }
    if (!route.gzip || !isLarge(body) || !acceptsGzip(exchange.acceptEncoding)) {
      this.#send(context, { status: 200, lines, body });
      return;
    }
    const zipped = this.#gzips.of(tag, body);
    lines += '\r\nContent-Encoding: gzip';
    if (!(zipped instanceof Promise)) {
      this.#send(context, { status: 200, lines, body: zipped });
      return;
    }
    if (!exchange.deferred) this.defer(context);
    zipped.then(
      (bytes) => this.#send(context, { status: 200, lines, body: bytes }),
      (error) => this.fault(context, error),
    );
  }

  #send(context: RequestContext, reply: Reply): void {
    if (reply.close !== true && !context.exchange.endsConnection) this.#sendNow(context, reply);
    else this.#sendLast(context, reply);
  }

  /**
   * Ends the connection in the next turn of the loop. Ending it at once is not enough: the library
   * still handles requests that it has read. While an answer is pending it closes the connection
   * instead.
   */
  #sendLast(context: RequestContext, reply: Reply): void {
    const { exchange } = context;
    if (!exchange.alive) return;
    if (!exchange.deferred) this.defer(context);
    this.#clock.soon(() => {
      exchange.corked = false;
      this.#sendNow(context, { ...reply, close: true });
    });
  }

  #sendNow(context: RequestContext, reply: Reply): void {
    const { exchange, operationId, startedMs } = context;
    if (!exchange.alive) return;
    exchange.send(reply);
    if (exchange.deferred) this.running -= 1;
    const seconds = (this.#clock.monotonicMs() - startedMs) / 1000;
    this.#observer.httpRequest(operationId, reply.status, seconds);
  }
}

function isLarge(body: string | Uint8Array): boolean {
  return body.length > GZIP_FROM_BYTES || Buffer.byteLength(body) > GZIP_FROM_BYTES;
}

/** Header values are written raw, so a line break in one would start another header. */
function singleLine(text: string): string {
  if (LINE_BREAK.test(text)) throw new Error('a header from a handler holds a line break');
  return text;
}
