/** A conversation of raw HTTP with one connection, and what any answer must be like. */
import assert from 'node:assert/strict';
import { until } from '../../support/until.ts';
import { type RawAnswer, RawConnection } from '../gateway/raw.ts';
import type { Asked } from './routeRequests.ts';

export interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly lines?: readonly string[];
  readonly body?: string;
}

/** The sample, or a variant of it. */
export function bytesOf(asked: Asked, sent: Sent = {}): string {
  const { method, target, body, lines = [] } = { ...asked, lines: [], ...sent };
  const length = body === '' ? [] : [`Content-Length: ${body.length}`];
  const own = body === '' && asked.body !== '' ? [] : asked.lines;
  const all = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...own, ...length, ...lines];
  return `${all.join('\r\n')}\r\n\r\n${body}`;
}

export const PROBE = 'GET /v1/utility/server/time HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

export class Talk {
  readonly connection: RawConnection;

  constructor(port: number) {
    this.connection = new RawConnection(port);
  }

  ask(asked: Asked, sent: Sent = {}): Promise<RawAnswer> {
    const method = sent.method ?? asked.method;
    return this.connection.ask(bytesOf(asked, sent), method === 'HEAD');
  }

  /** Nothing is left over of the answers before: the next request is answered right behind them. */
  async isInStep(): Promise<void> {
    const probe = await this.connection.ask(PROBE);
    assert.deepEqual([probe.status, Object.keys(JSON.parse(probe.body))], [200, ['timestamp']]);
    this.end();
  }

  async closes(): Promise<void> {
    await until('the connection ends', () => this.connection.closed);
    assert.equal(this.connection.received, '');
  }

  end(): void {
    this.connection.socket.destroy();
  }
}

export async function once(port: number, asked: Asked, sent: Sent = {}): Promise<RawAnswer> {
  const talk = new Talk(port);
  const answer = await talk.ask(asked, sent);
  talk.end();
  return answer;
}

const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;

export function isSound(answer: RawAnswer): void {
  const { status, headers } = answer;
  assert.match(headers.date ?? '', DATE, 'Date');
  assert.equal(headers['last-modified'], undefined, 'then If-Modified-Since has a meaning');
  if (headers.etag !== undefined) assert.match(headers.etag, ETAG);
  if (status === 204 || status === 304) {
    assert.equal(headers['content-length'], undefined, `Content-Length of ${status}`);
    assert.equal(headers['transfer-encoding'], undefined);
    return;
  }
  assert.match(headers['content-type'] ?? '', /^[\w-]+\/[\w.+-]+/, 'Content-Type');
  if (status === 503) assert.match(headers['retry-after'] ?? '', /^\d+$/);
  if (status === 401) assert.equal(headers['www-authenticate'], 'Bearer');
  // A page that says that there is no such token is a page.
  if (status < 400 || headers['content-type']?.startsWith('text/html')) return;
  assert.equal(typeof JSON.parse(answer.body || '{"cause":""}').cause, 'string');
}

export function causeIs(answer: RawAnswer, status: number, path = ''): void {
  assert.equal(answer.status, status, answer.body);
  isSound(answer);
  const { cause, message, details } = JSON.parse(answer.body);
  assert.ok(cause !== '' && message !== '');
  if (path !== '') assert.equal(details[0].path, path);
}
