/** Clauses of HTTP: refusals, strictness, caching, limits. */
import { isRecord } from '../../../client/socket/frame.ts';
import { type Clause, expectRefusal } from './clause.ts';
import { type Answer, expect, type Target } from './target.ts';

const TIME = '/v1/utility/server/time';
const LIST = '/v1/pools-main-page/initial/state?filter=New';
const UNKNOWN = `${'0'.repeat(56)}.00`;
const HISTORY = '/v1/charts/history?quote=.&from=0&to=4000000000';

function json(text: string, type = 'application/json'): RequestInit {
  return { method: 'POST', headers: { 'content-type': type }, body: text };
}

function hostOf({ deps }: Target): string {
  return new URL(deps.url).host;
}

/** The statuses of a connection, in order. */
function statusesOf(text: string): string[] {
  return [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status = '']) => status);
}

function refused(
  id: string,
  promise: string,
  ask: (target: Target) => Promise<Answer>,
  status: number,
  cause: string,
): Clause {
  return { id, promise, check: async (target) => expectRefusal(await ask(target), status, cause) };
}

/** The first request is refused, and the second one is not executed. */
function framing(id: string, promise: string, head: string, body: string): Clause {
  return {
    id,
    promise,
    async check(target) {
      const host = `Host: ${hostOf(target)}`;
      const next = `GET ${TIME} HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`;
      const first = `POST /v1/following HTTP/1.1\r\n${host}\r\n${head}\r\n\r\n${body}`;
      const statuses = statusesOf(await target.raw(first + next));
      expect(statuses.length < 2, `nothing behind it is executed: ${statuses.join(', ')}`);
      expect(statuses[0] !== '200', 'it is not answered 200');
    },
  };
}

const ERRORS: readonly Clause[] = [
  refused(
    'errors.route',
    'No such route: 404 NOT_FOUND.',
    (t) => t.ask('/v1/nowhere'),
    404,
    'NOT_FOUND',
  ),
  refused(
    'errors.asset',
    'An unknown token: 404 ASSET_NOT_FOUND.',
    (target) => target.ask(`/v1/trades?asset=${UNKNOWN}`),
    404,
    'ASSET_NOT_FOUND',
  ),
  {
    id: 'errors.method',
    promise: 'Another method: 405 METHOD_NOT_ALLOWED with Allow.',
    async check(target) {
      const answer = await target.ask(TIME, { method: 'DELETE' });
      expectRefusal(answer, 405, 'METHOD_NOT_ALLOWED');
      expect(/GET/.test(answer.headers.get('allow') ?? ''), 'Allow names GET');
    },
  },
  {
    id: 'errors.details',
    promise: 'Malformed parameters: 400 INVALID_PARAMS, with a path for each.',
    async check(target) {
      const answer = await target.ask(`${HISTORY}&base=x&resolution=min1`);
      expectRefusal(answer, 400, 'INVALID_PARAMS');
      const details = isRecord(answer.json) ? answer.json.details : null;
      const [first] = Array.isArray(details) ? details : [];
      expect(isRecord(first) && typeof first.path === 'string', 'details have path and message');
    },
  },
  refused(
    'errors.order',
    'Malformed input is refused before anything is looked up.',
    (target) => target.ask(`/v1/trades?asset=${UNKNOWN}&limit=none`),
    400,
    'INVALID_PARAMS',
  ),
  refused(
    'errors.limit',
    'A limit outside its range is refused, never clamped.',
    (target) => target.ask(`/v1/trades?asset=${UNKNOWN}&limit=0`),
    400,
    'INVALID_PARAMS',
  ),
  refused(
    'errors.json',
    'Malformed JSON: 400.',
    (t) => t.ask('/v1/following', json('[')),
    400,
    'INVALID_PARAMS',
  ),
  refused(
    'errors.media-type',
    'A body of another media type: 415 UNSUPPORTED_MEDIA_TYPE.',
    (target) => target.ask('/v1/following', json('[]', 'text/plain')),
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ),
  refused(
    'errors.charset',
    'A charset other than UTF-8: 415 UNSUPPORTED_MEDIA_TYPE.',
    (target) => target.ask('/v1/following', json('["a"]', 'application/json; charset=utf-16')),
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ),
  refused(
    'errors.utf8',
    'A body that is no UTF-8: 400.',
    (target) => {
      // Without these two bytes it would be answered: an unknown field is ignored.
      const text = `{"pkh":"${'0'.repeat(56)}","note":"??"}`;
      const body = new TextEncoder().encode(text);
      body.set([0xc3, 0x28], text.indexOf('??'));
      const headers = { 'content-type': 'application/json' };
      return target.ask('/getUtxos', { method: 'POST', headers, body });
    },
    400,
    'INVALID_PARAMS',
  ),
  refused(
    'errors.too-large',
    'A body above the limit of its route: 413 PAYLOAD_TOO_LARGE.',
    (target) => target.ask('/v1/following', json(`["${'a'.repeat(1_200_000)}"]`)),
    413,
    'PAYLOAD_TOO_LARGE',
  ),
];

const STRICT: readonly Clause[] = [
  framing(
    'http.two-lengths',
    'Two Content-Length are refused, and nothing behind them is executed.',
    'Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 4',
    '[]  ',
  ),
  framing(
    'http.transfer-encoding',
    'A Transfer-Encoding other than chunked is refused, and nothing behind it is executed.',
    'Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked',
    '2\r\n[]\r\n0\r\n\r\n',
  ),
  {
    id: 'http.two-hosts',
    promise: 'Two Host headers are refused.',
    async check(target) {
      const hosts = `Host: ${hostOf(target)}\r\nHost: other.example\r\n`;
      const text = await target.raw(`GET ${TIME} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      expect(!statusesOf(text).includes('200'), 'it is not answered 200');
    },
  },
  {
    id: 'http.head',
    promise: 'HEAD has the status of GET and never a body.',
    async check(target) {
      const head = `HEAD ${LIST} HTTP/1.1\r\nHost: ${hostOf(target)}\r\nConnection: close\r\n\r\n`;
      const text = await target.raw(head);
      const body = text.slice(text.indexOf('\r\n\r\n') + 4);
      expect(text.includes('\r\n\r\n') && body === '', `no body, not ${body.slice(0, 60)}`);
    },
  },
  {
    id: 'http.etag',
    promise: 'A list has an ETag; If-None-Match is answered 304 without a body.',
    async check(target) {
      const { headers } = await target.ask(LIST);
      const tag = headers.get('etag');
      expect(tag !== null, 'the list has an ETag');
      const again = await target.ask(LIST, { headers: { 'if-none-match': tag } });
      const isChanged = again.status === 200 && again.headers.get('etag') !== tag;
      expect(isChanged || (again.status === 304 && again.text === ''), `304, not ${again.status}`);
    },
  },
  {
    id: 'http.cors',
    promise: 'Every origin may read answers and their positions.',
    async check(target) {
      const headers = { origin: 'https://page.example' };
      const answer = await target.ask(TIME, { headers });
      expect(answer.headers.get('access-control-allow-origin') === '*', 'Allow-Origin is *');
      const exposed = answer.headers.get('access-control-expose-headers') ?? '';
      expect(/x-position/i.test(exposed), 'Expose-Headers names X-Position');
    },
  },
  {
    id: 'http.preflight',
    promise: 'OPTIONS is answered, and allows the headers that clients send.',
    async check(target) {
      const headers = { origin: 'https://page.example', 'access-control-request-method': 'POST' };
      const answer = await target.ask('/v1/following', { method: 'OPTIONS', headers });
      expect(answer.status < 300, `OPTIONS is answered, not ${answer.status}`);
      const allowed = answer.headers.get('access-control-allow-headers') ?? '';
      expect(/content-type/i.test(allowed), 'Allow-Headers names Content-Type');
    },
  },
  {
    id: 'http.unknown-parameter',
    promise: 'Unknown parameters are ignored.',
    async check(target) {
      const { status } = await target.ask(`${TIME}?of=tomorrow`);
      expect(status === 200, `200, not ${status}`);
    },
  },
  {
    id: 'http.csv',
    promise: 'Trades come as CSV with a header row where a client asks for it.',
    async check(target) {
      const answer = await target.ask(`/v1/trades?asset=${target.asset}&format=csv`);
      const type = answer.headers.get('content-type') ?? '';
      expect(answer.status === 200 && type.startsWith('text/csv'), `text/csv, not ${type}`);
      expect(answer.text.startsWith('id,'), 'the first row names the columns');
    },
  },
  {
    id: 'http.documents',
    promise: 'The OpenAPI and AsyncAPI documents are served as JSON.',
    async check(target) {
      for (const [name, field] of [
        ['openapi', 'paths'],
        ['asyncapi', 'channels'],
      ] as const) {
        const { status, json: found } = await target.ask(`/v1/docs/${name}.json`);
        expect(status === 200 && isRecord(found) && isRecord(found[field]), `${name}.json`);
      }
    },
  },
];

const LIMITS: readonly Clause[] = [
  {
    id: 'limits.headers',
    promise: 'Answers name the limits of their caller (RateLimit-*).',
    async check(target) {
      const { headers } = await target.ask(LIST);
      for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
        expect(/^\d+$/.test(headers.get(name) ?? ''), `${name} is a number`);
      }
    },
  },
  {
    id: 'limits.route',
    promise: '/v1/limits says what is left, by class of requests.',
    async check(target) {
      const { status, json: found } = await target.ask('/v1/limits');
      const classes = isRecord(found) ? found.classes : null;
      expect(
        status === 200 && isRecord(classes) && isRecord(classes.read),
        'it has the class read',
      );
    },
  },
  {
    id: 'limits.subscriptions',
    promise: 'The subscriptions of a socket are bounded: those above are refused by name.',
    async check(target) {
      const socket = await target.socket();
      for (let at = 0; at < 6; at += 1) {
        const topics = Array.from({ length: 100 }, (_, index) => {
          const data = { asset: `${'0'.repeat(52)}${1000 + at * 100 + index}.00` };
          return { requestId: `${at}-${index}`, topic: 'PoolFeed', data };
        });
        socket.say({ messageType: 'subscribe', topics });
      }
      await socket.frame('one above the limit is refused', ({ event, data }) => {
        return event === 'Error' && isRecord(data) && /LIMIT/.test(String(data.cause));
      });
    },
  },
  {
    id: 'limits.topic',
    promise: 'An unknown topic is refused (TOPIC_NOT_FOUND); the socket stays.',
    async check(target) {
      const socket = await target.socket();
      socket.subscribe('s', 'Weather');
      const { data } = await socket.frame('an `Error` comes', ({ event }) => event === 'Error');
      expect(isRecord(data) && data.cause === 'TOPIC_NOT_FOUND', 'its cause is TOPIC_NOT_FOUND');
      socket.say({ messageType: 'ping', requestId: 'p' });
      await socket.frame('the socket stays', ({ event }) => event === 'Pong');
    },
  },
  {
    id: 'limits.frame',
    promise: 'A frame that cannot be read is answered with `Error`, never with silence.',
    async check(target) {
      const socket = await target.socket();
      socket.say('{');
      await socket.frame('an `Error` comes', ({ event }) => event === 'Error');
    },
  },
  {
    id: 'limits.bad-frames',
    promise: 'Five frames that cannot be read close the socket with 4501.',
    async check(target) {
      const socket = await target.socket();
      for (let count = 0; count < 5; count += 1) socket.say('{');
      await target.until(() => socket.closeCode !== null);
      expect(socket.closeCode === 4501, `close code 4501, not ${socket.closeCode}`);
    },
  },
];

export const HTTP_CLAUSES: readonly Clause[] = [...ERRORS, ...STRICT, ...LIMITS];
