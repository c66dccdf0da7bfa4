/**
 * Checks that the document names this answer for the operation: status, headers, media type and
 * body. Section 0 of protocol.md specifies the answers that all routes share (404, 405, OPTIONS,
 * HEAD).
 */
import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import type { Documents } from '../api/conforms.ts';
import { type Json, type Operation, objectOf, type Served } from './document.ts';
import type { Ask } from './draft.ts';
import type { Outcome, WireAnswer } from './wire.ts';

/** Statuses that the HTTP library itself answers before it looks for a route. */
const LIBRARY = [100, 101, 400, 408, 413, 414, 417, 431, 501, 503, 505];
/** Where an operation may fail as a whole: the requested transaction may be impossible. */
const MAY_FAIL = ['Builder', 'Vesting', 'Devnet'];
/** Headers that only some answers of an operation carry. */
const SOMETIMES = ['x-next-to', 'x-next-before', 'x-slot', 'x-block-hash', 'idempotency-replayed'];
const WATCHED =
  /^(x-(position|slot|block-hash|next-to|next-before)|etag|retry-after|ratelimit.*|allow)$/;
const COMMON = ['access-control-allow-origin', 'access-control-expose-headers'];
const FAULT = 'the server failed; it is logged, try again';

export class Judge {
  readonly #openapi: Served;
  readonly #documents: Documents;

  constructor(openapi: Served, documents: Documents) {
    this.#openapi = openapi;
    this.#documents = documents;
  }

  /** Throws on undocumented answers; returns the status, for the tally. */
  judge(ask: Ask, outcome: Outcome): string {
    if (ask.isBare) return this.#bare(outcome);
    assert(typeof outcome !== 'string', `no answer: ${outcome}`);
    assert.deepEqual(outcome.repeated, [], 'headers come once');
    for (const name of COMMON) assert(outcome.headers.has(name), `${name} is there`);
    assert.equal(outcome.headers.get('access-control-allow-origin'), '*');
    const there = this.#openapi.at(ask.path);
    const wanted = ask.method === 'HEAD' ? 'GET' : ask.method;
    const operation = there.find(({ method }) => method === wanted);
    if (ask.method === 'OPTIONS') this.#preflight(outcome);
    else if (operation !== undefined) this.#documented(operation, ask, outcome);
    // RFC 9110, 9.1: a method that no path knows. `mutations.ts` has this one.
    else if (ask.method === 'FOO') this.#error(ask, outcome, 501, 'METHOD_NOT_ALLOWED');
    else if (there.length > 0) this.#wrongMethod(there, ask, outcome);
    else this.#error(ask, outcome, 404, 'NOT_FOUND');
    return String(outcome.status);
  }

  #bare(outcome: Outcome): string {
    if (typeof outcome === 'string') return outcome;
    const { status, headers, body } = outcome;
    // Ours have a CORS header.
    if (!headers.has(COMMON[0] ?? '')) {
      assert(LIBRARY.includes(status), `the library says ${status}`);
      return `library ${status}`;
    }
    assert(status < 500 || !body.toString().includes(FAULT), body.toString());
    return `bare ${status}`;
  }

  #preflight({ status, headers, body }: WireAnswer): void {
    assert.equal(status, 204);
    assert.equal(body.length, 0);
    for (const name of ['methods', 'headers']) {
      assert(headers.has(`access-control-allow-${name}`), `Access-Control-Allow-${name}`);
    }
    assert.equal(headers.get('access-control-max-age'), '86400');
  }

  #wrongMethod(there: readonly Operation[], ask: Ask, answer: WireAnswer): void {
    this.#error(ask, answer, 405, 'METHOD_NOT_ALLOWED');
    const allow = answer.headers.get('allow') ?? '';
    for (const { method } of there) assert(allow.includes(method), `Allow: ${allow}`);
  }

  /** The error body that every route has. */
  #error(ask: Ask, answer: WireAnswer, status: number, cause: string): void {
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get('content-type'), 'application/json');
    if (ask.method === 'HEAD') return;
    const body = objectOf(JSON.parse(answer.body.toString()));
    assert.deepEqual(Object.keys(body).sort(), ['cause', 'message']);
    assert.equal(body.cause, cause);
  }

  #documented(operation: Operation, ask: Ask, answer: WireAnswer): void {
    const { status, headers } = answer;
    const { route, responses, tag } = operation;
    const said = responses[String(status)];
    assert(said !== undefined, `status ${status} is not documented: ${answer.body.toString()}`);
    const { content } = objectOf(said);
    this.#headers(objectOf(objectOf(said).headers ?? {}), headers);
    if (content === undefined) {
      assert.equal(answer.body.length, 0, `a body with ${status}`);
      return;
    }
    const types = Object.keys(objectOf(content));
    const type = types.find((each) => form(each).test(typeOf(headers)));
    assert(type !== undefined, `${typeOf(headers)} is not ${types.join(' or ')}`);
    // An event stream does not end: its head is judged.
    if (ask.method === 'HEAD' || type === 'text/event-stream') return;
    const isZipped = headers.get('content-encoding') === 'gzip';
    const body = isZipped ? gunzipSync(answer.body) : answer.body;
    if (type !== 'application/json') {
      assert(body.length > 0, 'a body');
      return;
    }
    const value: unknown = JSON.parse(body.toString());
    this.#documents.answer(route, status, value);
    if (status >= 400) this.#refusal(tag, status, objectOf(value));
  }

  #refusal(tag: string, status: number, { cause, message, details, synced }: Json): void {
    if (synced === false) return;
    assert(typeof message === 'string' && message.trim() !== '', 'a message for a person');
    if (cause === 'INVALID_PARAMS') assert(Array.isArray(details), 'details say where');
    assert.notEqual(message, FAULT);
    assert(status !== 500 || MAY_FAIL.includes(tag), `${tag} does not fail: ${message}`);
  }

  /** Documented headers are present, and known headers that are present are documented. */
  #headers(documented: Json, headers: ReadonlyMap<string, string>): void {
    const named = Object.keys(documented).map((name) => name.toLowerCase());
    for (const name of named) {
      assert(headers.has(name) || SOMETIMES.includes(name), `the header ${name} is missing`);
    }
    for (const name of headers.keys()) {
      assert(!WATCHED.test(name) || named.includes(name), `the header ${name} is not documented`);
    }
  }
}

function typeOf(headers: ReadonlyMap<string, string>): string {
  return headers.get('content-type') ?? '';
}

/** `image/*` as a form; others as they are, with parameters or without. */
function form(type: string): RegExp {
  const literal = type.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replace('*', '[a-z]+');
  return new RegExp(`^${literal}(; .*)?$`);
}
