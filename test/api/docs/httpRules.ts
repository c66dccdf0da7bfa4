/**
 * Rules of RFC 9110 and 9112, each a check of one route over a raw socket. A check gets the sample
 * request of a route and throws where the answer breaks the rule.
 */
import assert from 'node:assert/strict';
import { until } from '../../support/until.ts';
import type { RawAnswer } from '../gateway/raw.ts';
import { isProblem } from '../http/problemJudge.ts';
import { bytesOf, causeIs, isSound, once, PROBE, type Sent, Talk } from './httpTalk.ts';
import type { Asked } from './routeRequests.ts';

type Check = (port: number, asked: Asked) => Promise<void>;

const isGet: (asked: Asked) => boolean = ({ method }) => method === 'GET';
const isRead = (asked: Asked) => isGet(asked) && !asked.isStream;

/** The head of a stream's answer. */
async function headOf(port: number, asked: Asked): Promise<RawAnswer> {
  const talk = new Talk(port);
  const answer = await talk.connection.ask(bytesOf(asked), true);
  talk.end();
  return answer;
}

const answered: Check = async (port, asked) => {
  if (asked.isStream) {
    const head = await headOf(port, asked);
    assert.deepEqual([head.status, head.headers['transfer-encoding']], [200, 'chunked']);
    isSound(head);
    return;
  }
  const talk = new Talk(port);
  const answer = await talk.ask(asked);
  isSound(answer);
  assert.match(answer.headers['content-length'] ?? '', /^\d+$/);
  if (isGet(asked)) assert.equal(answer.status, 200, answer.body.slice(0, 200));
  await talk.isInStep();
};

/** They differ from one moment to the next. */
const LIVE = /^(?:date|ratelimit|x-position|x-slot|x-block-hash)/;
const FIXED_BODY = /\/(?:docs|ipfs|og|t)\//;

function lasting(answer: RawAnswer, isFixed: boolean): object {
  const fields = Object.entries(answer.headers).filter(
    ([name]) =>
      !LIVE.test(name) &&
      name !== 'transfer-encoding' &&
      (isFixed || (name !== 'content-length' && name !== 'etag')),
  );
  return Object.fromEntries(fields);
}

const head: Check = async (port, asked) => {
  const talk = new Talk(port);
  const full = asked.isStream ? await headOf(port, asked) : await talk.ask(asked);
  const only = await talk.ask(asked, { method: 'HEAD' });
  const isFixed = FIXED_BODY.test(asked.target);
  assert.deepEqual(lasting(only, isFixed), lasting(full, isFixed));
  assert.equal(only.status, full.status);
  assert.equal('content-length' in only.headers, 'content-length' in full.headers);
  isSound({ ...only, body: '' });
  await talk.isInStep();
  const last = new Talk(port);
  const closing = await last.ask(asked, { method: 'HEAD', lines: ['Connection: close'] });
  assert.equal(closing.headers.connection, 'close');
  await last.closes();
};

const options: Check = async (port, asked) => {
  const talk = new Talk(port);
  const answer = await talk.ask(asked, { method: 'OPTIONS', body: '' });
  assert.equal(answer.status, 204);
  isSound({ ...answer, headers: { ...answer.headers } });
  assert.deepEqual((answer.headers.allow ?? '').split(', ').sort(), asked.methods);
  await talk.isInStep();
};

const methods: Check = async (port, asked) => {
  const talk = new Talk(port);
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT']) {
    if (asked.methods.includes(method)) continue;
    const answer = await talk.ask(asked, { method, body: '' });
    assert.equal(answer.status, 405, method);
    assert.deepEqual((answer.headers.allow ?? '').split(', ').sort(), asked.methods);
    if (method !== 'HEAD') causeIs(answer, 405);
  }
  for (const method of ['FROB', 'PROPFIND', asked.method.toLowerCase(), 'head']) {
    causeIs(await talk.ask(asked, { method, body: '' }), 501);
  }
  await talk.isInStep();
};

const noneMatch: Check = async (port, asked) => {
  const talk = new Talk(port);
  const conditional = (...values: string[]): Sent => ({
    lines: values.map((value) => `If-None-Match: ${value}`),
  });
  const first = await talk.ask(asked);
  const { etag } = first.headers;
  for (const other of ['"other"', 'other', '"', ', ,', 'W/', '""', '"a", *', '']) {
    assert.equal((await talk.ask(asked, conditional(other))).status, 200, other);
  }
  if (etag === undefined) return talk.isInStep();
  const bare = etag.replace(/^W\//, '');
  const known = [
    ['*'],
    [etag],
    [bare],
    [`W/${bare}`],
    [`"a,b", ${etag}`],
    [`"x" , W/"y",${etag},`],
    ['"x"', etag],
    [` ${etag} `],
  ];
  for (const values of known) {
    // The tag of live data may be another by now.
    const now = (await talk.ask(asked)).headers.etag ?? '';
    const asNow = values.map((value) => value.replace(bare, now.replace(/^W\//, '')));
    for (const method of ['GET', 'HEAD']) {
      const answer = await talk.ask(asked, { ...conditional(...asNow), method });
      if (answer.status === 200 && answer.headers.etag !== now) continue;
      assert.equal(answer.status, 304, `${method} ${values.join(' | ')}`);
      isSound(answer);
      for (const name of ['vary', 'cache-control']) {
        assert.equal(answer.headers[name], first.headers[name], name);
      }
      assert.ok(answer.headers.etag !== undefined);
    }
  }
  await talk.isInStep();
};

const match: Check = async (port, asked) => {
  const talk = new Talk(port);
  const lines = (value: string) => ({ lines: [`If-Match: ${value}`] });
  causeIs(await talk.ask(asked, lines('"other"')), 412, 'headers.if-match');
  if (!isRead(asked)) return talk.end();
  const any = await talk.ask(asked, lines('*'));
  assert.equal(any.status, 200);
  const { etag = 'W/""' } = any.headers;
  const isStrong = !etag.startsWith('W/');
  assert.equal((await talk.ask(asked, lines(etag))).status, isStrong ? 200 : 412);
  await talk.isInStep();
};

/** Ranges and dates that this server does not honour: the whole answer, as without them. */
const ignored: Check = async (port, asked) => {
  const talk = new Talk(port);
  for (const line of [
    'Range: bytes=0-0',
    'Range: bytes=9-1',
    'Range: pages=1',
    'If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT',
    'If-Unmodified-Since: Mon, 01 Jan 1990 00:00:00 GMT',
    'If-Modified-Since: yesterday',
  ]) {
    const answer = await talk.ask(asked, { lines: [line, 'If-Range: "other"'] });
    assert.deepEqual([answer.status, answer.headers['content-range']], [200, undefined], line);
  }
  await talk.isInStep();
};

const expectation: Check = async (port, asked) => {
  for (const value of ['200-ok', '100-continue, other', 'x']) {
    const talk = new Talk(port);
    const refused = await talk.ask(asked, { lines: [`Expect: ${value}`] });
    if (asked.method !== 'HEAD') causeIs(refused, 417, 'headers.expect');
    assert.equal(refused.headers.connection, 'close');
    await talk.closes();
  }
  if (asked.isStream) return;
  const talk = new Talk(port);
  const whole = bytesOf(asked, { lines: ['Expect: 100-continue'] });
  const end = whole.length - asked.body.length;
  assert.equal((await talk.connection.ask(whole.slice(0, end))).status, 100);
  isSound(await talk.connection.ask(whole.slice(end)));
  await talk.isInStep();
};

const closing: Check = async (port, asked) => {
  for (const lines of [
    ['Connection: close'],
    ['Connection: Close'],
    ['Connection: keep-alive, close'],
    ['Connection: keep-alive', 'Connection: close'],
  ]) {
    const talk = new Talk(port);
    const answer = await talk.ask(asked, { lines });
    assert.equal(answer.headers.connection, 'close', lines.join());
    await talk.closes();
  }
  const talk = new Talk(port);
  await talk.ask(asked, { lines: ['Connection: keep-alive, x-close'] });
  await talk.isInStep();
};

const encodings: Check = async (port, asked) => {
  const ask = (value: string) => once(port, asked, { lines: [`Accept-Encoding: ${value}`] });
  const plain = await ask('identity');
  const { vary } = plain.headers;
  const varies = /accept-encoding/i.test(vary ?? '');
  for (const [value, isCoded] of [
    ['', false],
    ['gzip;q=0', false],
    ['gzip;q=0, br;q=0.000, *', false],
    ['*;q=0', false],
    ['deflate', false],
    ['gzip;q=0.5, identity', false],
    ['gzip, identity;q=0', true],
    ['*, identity;q=0', true],
    ['GZIP;Q=0.001, identity;q=0', true],
  ] as const) {
    const { headers, status } = await ask(value);
    assert.equal(status, 200);
    assert.equal(headers.vary, vary, 'Vary depends on the route alone');
    const coding = headers['content-encoding'];
    assert.equal(coding !== undefined, isCoded && varies, `${value}: ${coding}`);
  }
  const lines = ['Accept-Encoding: identity;q=0', 'Accept-Encoding: gzip'];
  const twice = await once(port, asked, { lines });
  assert.equal(twice.headers['content-encoding'], varies ? 'gzip' : undefined);
};

/** A body where none is read: it is skipped. */
const unreadBody: Check = async (port, asked) => {
  const talk = new Talk(port);
  for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT']) {
    if (asked.isStream && method === 'GET') continue;
    await talk.ask(asked, { method, body: bytesOf(asked, { body: '' }) });
  }
  await talk.isInStep();
};

const targets: Check = async (port, asked) => {
  const talk = new Talk(port);
  const mark = asked.target.includes('?') ? '&' : '?';
  for (const more of ['nothing', 'nothing=', '=', '&&', 'a=b=c', '%61=%62']) {
    const target = asked.target + mark + more;
    if (!asked.isStream) assert.equal((await talk.ask(asked, { target })).status, 200, more);
  }
  for (const target of [
    `/.${asked.target}`,
    `/x/..${asked.target}`,
    `/%2e%2e${asked.target}`,
    `/${asked.target}`,
  ]) {
    causeIs(await talk.ask(asked, { target }), 404);
  }
  const empty = ['X-A:', 'Accept:', 'Accept-Encoding:', 'If-None-Match:', 'If-Match:', 'Range:'];
  if (!asked.isStream) {
    const lines = [...empty, 'Expect:', 'Connection:', 'Content-Encoding:'];
    assert.equal((await talk.ask(asked, { lines })).status, 200);
  }
  await talk.isInStep();
};

const malformed: Check = async (port, asked) => {
  for (const sent of [
    { lines: ['Host: other'] },
    { lines: ['Transfer-Encoding: gzip'], body: '' },
  ]) {
    const talk = new Talk(port);
    const answer = await talk.ask(asked, sent);
    causeIs(answer, 400);
    assert.equal(answer.headers.connection, 'close');
    await talk.closes();
  }
  for (const host of ['a b', 'user@test', 'test/path', 'test:port', '[::1']) {
    const talk = new Talk(port);
    const request = bytesOf(asked).replace('Host: 127.0.0.1', `Host: ${host}`);
    const answer = await talk.connection.ask(request);
    assert.equal(answer.status, 400, host);
    causeIs(answer, 400);
    await talk.closes();
  }
};

const chunked: Check = async (port, asked) => {
  const talk = new Talk(port);
  const request = bytesOf(asked, {
    body: '',
    lines: [...asked.lines, 'Transfer-Encoding: chunked'],
  });
  const half = Math.ceil(asked.body.length / 2);
  const chunks = [asked.body.slice(0, half), asked.body.slice(half), '']
    .filter((chunk, at) => chunk !== '' || at === 2)
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  const answer = await talk.connection.ask(request + chunks.join(''));
  assert.ok(![400, 411, 415].includes(answer.status), answer.body);
  assert.equal(answer.headers.connection, 'close');
  await talk.closes();
};

const bodies: Check = async (port, asked) => {
  const talk = new Talk(port);
  causeIs(await talk.ask(asked, { lines: ['Content-Encoding: gzip'] }), 415);
  causeIs(await talk.ask(asked, { body: '{"', lines: [] }), 400);
  await talk.isInStep();
};

/** A request that comes while the one before it is being answered. */
const inOrder: Check = async (port, asked) => {
  const talk = new Talk(port);
  await talk.connection.write([bytesOf(asked), PROBE]);
  const answer = await talk.connection.ask('');
  isSound(answer);
  await talk.connection.ask('');
  talk.end();
};

/**
 * In the same packet, the library closes the connection where the first answer takes a turn of the
 * loop or more: then neither is answered, nor half of one.
 */
const together: Check = async (port, asked) => {
  const { connection } = new Talk(port);
  connection.socket.write(bytesOf(asked) + PROBE, 'latin1');
  const heads = () => connection.received.match(/HTTP\/1\.1 \d/g)?.length ?? 0;
  await until('two answers, or the end', () => connection.closed || heads() === 2);
  if (connection.closed) assert.equal(connection.received, '');
  else isSound(await connection.ask(''));
  connection.socket.destroy();
};

/** 404, 400, 405, 413, 415 of each route, as the RFC's schema and ours have them. */
const problems: Check = async (port, asked) => {
  const talk = new Talk(port);
  const lines = ['Accept: application/problem+json'];
  isProblem(await talk.ask(asked, { method: 'PUT', body: '', lines }), 405);
  isProblem(await talk.ask(asked, { target: '/v1/no/such/route', method: 'GET', lines }), 404);
  isProblem(await talk.ask(asked, { lines: [...lines, 'Expect: a miracle'] }), 417);
  if (asked.body === '') return;
  const other = new Talk(port);
  isProblem(await other.ask(asked, { lines: [...lines, 'Content-Encoding: gzip'] }), 415);
  isProblem(await other.ask(asked, { body: '{"', lines }), 400);
  const long = ['Content-Length: 99999999', ...lines];
  isProblem(await new Talk(port).ask({ ...asked, body: '' }, { lines: long }), 413);
};

interface Rule {
  readonly name: string;
  readonly applies: (asked: Asked) => boolean;
  readonly check: Check;
}

const takesBody = ({ body, isStream }: Asked) => body !== '' && !isStream;
const all = () => true;

export const RULES: readonly Rule[] = [
  { name: 'the answer is framed and dated', applies: all, check: answered },
  { name: 'HEAD answers the head of GET', applies: isGet, check: head },
  { name: 'OPTIONS tells the methods', applies: all, check: options },
  { name: 'other methods are 405, unknown ones 501', applies: all, check: methods },
  { name: 'If-None-Match', applies: isRead, check: noneMatch },
  { name: 'If-Match', applies: all, check: match },
  { name: 'ranges and dates are ignored', applies: isRead, check: ignored },
  { name: 'Expect', applies: all, check: expectation },
  { name: 'Connection: close', applies: ({ isStream }) => !isStream, check: closing },
  { name: 'Accept-Encoding and Vary', applies: isRead, check: encodings },
  { name: 'a body that is not read is skipped', applies: isGet, check: unreadBody },
  { name: 'targets and empty fields', applies: isGet, check: targets },
  { name: 'malformed heads are 400', applies: all, check: malformed },
  { name: 'a chunked body is read', applies: takesBody, check: chunked },
  { name: 'bodies that cannot be read are refused', applies: takesBody, check: bodies },
  { name: 'errors are problem details to who asks', applies: all, check: problems },
  { name: 'requests in one packet', applies: ({ isStream }) => !isStream, check: together },
  { name: 'answers come in order', applies: ({ isStream }) => !isStream, check: inOrder },
];
