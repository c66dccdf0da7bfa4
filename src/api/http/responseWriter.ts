/**
 * Writes a handler's answer as an HTTP response: position, rate limits, CORS, ETag, 304,
 * compression. Synchronous, except when a body is compressed for the first time.
 */

import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, Unavailable } from '../../engine/runtime/errors.ts';
import type { Caller } from '../gateway/address.ts';
import type { Observer } from '../gateway/observer.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { CORS_LINES } from './cors.ts';
import { asProblem, errorBody, wantsProblem } from './errorBody.ts';
import type { Exchange, Reply } from './exchange.ts';
import { type Allowance, ANSWER_BYTES_A_READ } from './rateLimits.ts';

/** One request, from its headers to its response. */
export interface RequestContext {
  readonly caller: Caller;
  readonly exchange: Exchange;
  readonly operationId: string;
  readonly startedMs: number;
  /** Replaced when a request turns out to cost more. */
  allowance: Allowance;
  /** Tokens that it took. */
  cost: number;
}

const VARY_ACCEPT = '\r\nVary: Accept';
const JSON_TYPE = 'application/json';
const JSON_LINES = `${CORS_LINES}\r\nContent-Type: ${JSON_TYPE}`;
const UNCHANGING = '\r\nCache-Control: public, max-age=31536000, immutable';
const LINE_BREAK = /[\r\n]/;

export class ResponseWriter {
  /** Answers that are being prepared; a stop waits for them. */
  running = 0;
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #tags = new EntityTags();
  readonly #jsonLines = new JsonLines();
  readonly #gzips: GzipCache;
  readonly #codings = new Codings();

  constructor(clock: Clock, observer: Observer, gzipCacheBytes: number) {
    this.#clock = clock;
    this.#observer = observer;
    this.#gzips = new GzipCache(gzipCacheBytes);
  }

  /** Call it before the handler returns without an answer. */
  defer(context: RequestContext): void {
    const { exchange, operationId } = context;
    this.running += 1;
    exchange.defer(() => {
      this.running -= 1;
      // The tokens stay spent, because the work may have started.
      this.#observer.httpAborted(operationId);
    });
  }

  /**
   * Call it while a whole request waits for its answer: a request that its client sends meanwhile
   * is read afterwards. The library would close the connection, and does where both came in one
   * packet. It does not notice that the client is gone, so expensive work does not wait this way.
   */
  wait(context: RequestContext): void {
    const { exchange } = context;
    if (!exchange.deferred) this.defer(context);
    this.#clock.soon(() => exchange.pause());
  }

  /** An answer without an end: `gone` runs when its client disconnects; a stop does not wait. */
  stream(context: RequestContext, lines: string, gone: () => void): void {
    const { exchange, operationId, startedMs } = context;
    if (exchange.deferred) this.running -= 1;
    exchange.onGone = null;
    exchange.defer(gone);
    exchange.beginStream(CORS_LINES + lines + context.allowance.lines);
    const seconds = (this.#clock.monotonicMs() - startedMs) / 1000;
    this.#observer.httpRequest(operationId, 200, seconds);
  }

  answer(context: RequestContext, route: Route, given: Answer, positionLines: string): void {
    const status = given.status ?? 200;
    const isProblem = status >= 400 && wantsProblem(context.exchange.accept);
    const answer = isProblem ? asProblem(given, status) : given;
    if (status !== 200) context.allowance.refund?.();
    const tag = status === 200 && (route.etag || route.gzip) ? this.#tagOf(route, answer) : null;
    const asked = tag !== null && route.etag ? conditionOf(context, route, tag) : 'whole';
    if (asked === 'whole') chargeBytes(context, route, answer);
    let lines = this.#headLines(context, route, answer, positionLines);
    if (answer.headers !== undefined) {
      for (const [name, value] of Object.entries(answer.headers)) {
        lines += `\r\n${singleLine(name)}: ${singleLine(value)}`;
      }
    }
    if (route.etag && tag !== null) lines += `\r\nETag: ${tag}`;
    if (asked === 'changed') {
      this.failure(context, changed(), { lines: `\r\nETag: ${tag}` });
    } else if (asked === 'known') this.#send(context, { status: 304, lines, body: null });
    else if (tag !== null) this.#compressed(context, route, answer, { tag, lines });
    else this.#send(context, { status, lines, body: answer.body });
  }

  #headLines(
    { allowance }: RequestContext,
    route: Route,
    { type, unchanging, status = 200 }: Answer,
    positionLines: string,
  ): string {
    if (unchanging) return typedLines(type ?? JSON_TYPE) + UNCHANGING + varyLine(route);
    if (type === undefined && status < 400) {
      return this.#jsonLines.of(route, allowance.lines, positionLines);
    }
    const own = allowance.lines + positionLines;
    return typedLines(type ?? JSON_TYPE) + own + varyLine(route, status >= 400);
  }

  #tagOf({ gzip }: Route, { body, tag }: Answer): string {
    return tag === undefined ? this.#tags.of(body) : entityTag(tag, gzip);
  }

  failure(
    context: RequestContext,
    failure: Failure,
    more: { lines?: string; close?: boolean } = {},
  ): void {
    context.allowance.refund?.();
    const { status } = failure;
    const { accept } = context.exchange;
    const { type, body } = errorBody(failure, accept, context.allowance.policy);
    let lines = typedLines(type) + VARY_ACCEPT + context.allowance.lines + (more.lines ?? '');
    const retryAfter = failure.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
    if (retryAfter !== undefined) lines += `\r\nRetry-After: ${retryAfter}`;
    if (failure.cause === 'EPOCH_CHANGED') lines += '\r\nCache-Control: no-store';
    if (status === 401) lines += '\r\nWWW-Authenticate: Bearer';
    const close = more.close ?? false;
    this.#send(context, { status, lines, body, close });
  }

  /** An answer without content: 204 to OPTIONS, 200 to HEAD of a stream. */
  empty(context: RequestContext, lines: string, status: 200 | 204): void {
    this.#send(context, { status, lines: lines + context.allowance.lines, body: null });
  }

  fault(context: RequestContext, error: unknown): void {
    this.failure(context, this.failureOf(context.operationId, error));
  }

  /** The answer to a request whose handler threw; a fault of ours is logged, and not shown. */
  failureOf(operationId: string, error: unknown): Failure {
    if (error instanceof Unavailable) return error.failure;
    this.#observer.handlerFailed(operationId, error);
    return new Failure('SERVER_ERROR', 'the server failed; it is logged, try again');
  }

  #compressed(
    context: RequestContext,
    route: Route,
    { body, encoded }: Answer,
    { tag, lines: soFar }: { readonly tag: string; readonly lines: string },
  ): void {
    const { exchange } = context;
    let lines = soFar;
    const coding = route.gzip ? this.#codings.of(exchange.acceptEncoding) : NO_CODINGS;
    if (encoded !== undefined && coding.br > 0 && coding.br >= coding.gzip) {
      lines += '\r\nContent-Encoding: br';
      this.#send(context, { status: 200, lines, body: encoded.br });
      return;
    }
    const isWorth = isLarge(body) || coding.identity === 0;
    if (!isWorth || coding.gzip === 0 || coding.gzip < coding.identity) {
      this.#send(context, { status: 200, lines, body });
      return;
    }
    const zipped = encoded?.gzip ?? this.#gzips.of(tag, body);
    lines += '\r\nContent-Encoding: gzip';
    if (!(zipped instanceof Promise)) {
      this.#send(context, { status: 200, lines, body: zipped });
      return;
    }
    this.wait(context);
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
    // The library cannot end a connection without a length, which 204 must not have.
    const whole = reply.body === null ? { ...reply, status: 200, body: '' } : reply;
    this.#clock.soon(() => {
      exchange.corked = false;
      this.#sendNow(context, { ...whole, close: true });
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

/** The effect of If-Match and If-None-Match on an answer. */
function conditionOf(
  { exchange }: RequestContext,
  { method }: Route,
  tag: string,
): 'whole' | 'known' | 'changed' {
  if (method !== 'GET') return 'whole';
  if (!names(exchange.ifMatch || '*', tag, 'strongly')) return 'changed';
  const isKnown = names(exchange.ifNoneMatch, tag, 'weakly');
  return isKnown && !exchange.endsConnection ? 'known' : 'whole';
}

/** An answer costs its work or its bytes, whichever is more; compressing it is work, too. */
function chargeBytes(context: RequestContext, { rate }: Route, { body, encoded }: Answer): void {
  if (rate !== 'read' || context.exchange.isHead) return;
  const reads = Math.ceil((encoded?.gzip ?? body).length / ANSWER_BYTES_A_READ);
  if (reads <= context.cost) return;
  context.allowance = context.allowance.charge(reads - context.cost);
  context.cost = reads;
}

function typedLines(type: string): string {
  return `${CORS_LINES}\r\nContent-Type: ${singleLine(type)}`;
}

/**
 * The last header lines of JSON answers, by route. Most answers repeat them, and lines put together
 * again are also copied once more on their way into the library.
 */
class JsonLines {
  readonly #last = new Map<Route, { allowance: string; position: string; lines: string }>();

  of(route: Route, allowance: string, position: string): string {
    const last = this.#last.get(route);
    if (last?.allowance === allowance && last.position === position) return last.lines;
    const lines = JSON_LINES + allowance + position + varyLine(route);
    this.#last.set(route, { allowance, position, lines });
    return lines;
  }
}

/** Errors have two forms, even if the route's answers have one. */
function varyLine({ csv, gzip }: Route, isError = false): string {
  if (csv === undefined && !isError) return gzip ? '\r\nVary: Accept-Encoding' : '';
  return gzip ? '\r\nVary: Accept, Accept-Encoding' : VARY_ACCEPT;
}

function isLarge(body: string | Uint8Array): boolean {
  return body.length > GZIP_FROM_BYTES || Buffer.byteLength(body) > GZIP_FROM_BYTES;
}

/** Header values are written raw, so a line break in one would start another header. */
function singleLine(text: string): string {
  if (LINE_BREAK.test(text)) throw new Error('a header from a handler holds a line break');
  return text;
}

const REMEMBERED_CHARACTERS = 8 * 1_048_576;

/**
 * ETags of bodies. Handlers return the same string or buffer again for cached bodies, so a tag is
 * cached by the identity of the body: each body is hashed once, not once per request. These tags
 * are weak, because the gzipped form has the same one.
 */
class EntityTags {
  readonly #ofText = new LRUCache<string, string>({
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: (_tag, body) => body.length + 1,
  });
  readonly #ofBytes = new WeakMap<Uint8Array, string>();

  of(body: string | Uint8Array): string {
    const known = typeof body === 'string' ? this.#ofText.get(body) : this.#ofBytes.get(body);
    if (known !== undefined) return known;
    const tag = `W/"${hash('sha1', body, 'base64url')}"`;
    if (typeof body === 'string') this.#ofText.set(body, tag);
    else this.#ofBytes.set(body, tag);
    return tag;
  }
}

const TAG = /^[\x21\x23-\x7e]{1,256}$/;

/** The ETag of a handler's own tag: strong where the body is never gzipped. */
function entityTag(tag: string, isGzipped: boolean): string {
  if (!TAG.test(tag)) throw new Error('a tag from a handler holds what no ETag may hold');
  return isGzipped ? `W/"${tag}"` : `"${tag}"`;
}

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** Whether If-Match (strongly: no weak tag equals another) or If-None-Match names this tag. */
function names(list: string, tag: string, comparison: 'strongly' | 'weakly'): boolean {
  if (list === '') return false;
  if (list.trim() === '*') return true;
  const plain = (each: string) => (comparison === 'weakly' ? each.replace(/^W\//, '') : each);
  const wanted = plain(tag);
  if (wanted.startsWith('W/')) return false;
  return (list.match(ENTITY_TAG) ?? []).some((each) => plain(each) === wanted);
}

/** 412: If-Match names another version than the present one. */
export function changed(): Failure {
  const message = 'none of these is the ETag of what is here now; If-Match takes strong tags only';
  const details = [{ path: 'headers.if-match', message }];
  return new Failure('INVALID_PARAMS', message, { status: 412, details });
}

const GZIP_FROM_BYTES = 1024;

const compress = promisify(gzip);

/** gzip runs off the main thread, once per body; results are kept by ETag, up to `maxBytes`. */
class GzipCache {
  readonly #done: LRUCache<string, Buffer>;
  readonly #running = new Map<string, Promise<Buffer>>();

  constructor(maxBytes: number) {
    this.#done = new LRUCache({ maxSize: maxBytes, sizeCalculation: (bytes) => bytes.length });
  }

  /** The buffer itself where it is cached, so that the usual case is synchronous. */
  of(tag: string, body: string | Uint8Array): Buffer | Promise<Buffer> {
    const known = this.#done.get(tag) ?? this.#running.get(tag);
    if (known !== undefined) return known;
    const running = this.#run(tag, body);
    this.#running.set(tag, running);
    return running;
  }

  async #run(tag: string, body: string | Uint8Array): Promise<Buffer> {
    try {
      const bytes = await compress(body);
      this.#done.set(tag, bytes);
      return bytes;
    } finally {
      this.#running.delete(tag);
    }
  }
}

interface Qualities {
  readonly br: number;
  readonly gzip: number;
  /** 0: refused; unless the client ranks it, less than the quality of any accepted coding. */
  readonly identity: number;
}

const NO_CODINGS: Qualities = { br: 0, gzip: 0, identity: 1 };
const LEAST = 1e-6;

/** The codings of an Accept-Encoding header; clients repeat theirs, so the last one is kept. */
class Codings {
  #header = '';
  #last = NO_CODINGS;

  of(header: string): Qualities {
    if (header === this.#header) return this.#last;
    const listed = new Map(header.toLowerCase().split(',').map(qualityOf));
    const rest = listed.get('*') ?? 0;
    const br = listed.get('br') ?? rest;
    const gzip = listed.get('gzip') ?? listed.get('x-gzip') ?? rest;
    const identity = listed.get('identity') ?? (listed.get('*') === 0 ? 0 : LEAST);
    this.#header = header;
    this.#last = { br, gzip, identity };
    return this.#last;
  }
}

function qualityOf(entry: string): [string, number] {
  const [coding = '', ...parameters] = entry.split(';').map((part) => part.trim());
  const given = parameters.find((part) => part.startsWith('q='))?.slice(2) ?? '1';
  const quality = Number(given);
  return [coding, quality > 0 && quality <= 1 ? quality : 0];
}
