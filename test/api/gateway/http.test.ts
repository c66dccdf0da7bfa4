import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { until } from '../../support/until.ts';
import { startNode } from './node.ts';
import { ask, get, post, RawConnection } from './raw.ts';
import { Gate, LONG, testRoutes } from './routes.ts';

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Position, X-Slot, X-Block-Hash, X-Next-To, X-Next-Before, ETag, Retry-After, ' +
    'RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, ' +
    'Idempotency-Replayed',
};

test('query parameters are converted, checked and cleaned', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const good: [string, unknown][] = [
    ['asset=abc', { asset: 'abc' }],
    ['asset=abc&limit=5&unknown=7', { asset: 'abc', limit: 5 }],
    ['asset=abc&limit=&fill=null', { asset: 'abc' }],
    ['asset=abc&limit=1&limit=2', { asset: 'abc', limit: 2 }],
    ['asset=%61b%63&fill=previous', { asset: 'abc', fill: 'previous' }],
    ['asset=null', { asset: 'null' }],
  ];
  for (const [query, expected] of good) {
    for (const _again of [1, 2]) {
      const answer = await ask(port, get(`/echo?${query}`));
      assert.equal(answer.status, 200, query);
      assert.deepEqual(JSON.parse(answer.body).query, expected);
    }
  }
  const bad: [string, string][] = [
    ['', 'query.asset'],
    ['asset=', 'query.asset'],
    ['asset=ABC', 'query.asset'],
    ['asset=abc&limit=1.5', 'query.limit'],
    ['asset=abc&limit=1e1', 'query.limit'],
    ['asset=abc&limit=0x10', 'query.limit'],
    ['asset=abc&limit=%201', 'query.limit'],
    ['asset=abc&limit=101', 'query.limit'],
    ['asset=abc&limit=-1', 'query.limit'],
    ['asset=abc&fill=next', 'query.fill'],
    ['asset=%zz', 'query'],
    ['asset=%c3', 'query'],
  ];
  for (const [query, path] of bad) {
    const answer = await ask(port, get(`/echo?${query}`));
    const body = JSON.parse(answer.body);
    assert.equal(answer.status, 400, query);
    assert.equal(body.cause, 'INVALID_PARAMS');
    assert.equal(body.details[0].path, path, query);
    assert.equal(typeof body.details[0].message, 'string');
  }
  const choice = JSON.parse((await ask(port, get('/echo?asset=a&fill=x'))).body);
  assert.equal(choice.details[0].message, 'must be one of "none", "previous"');
});

test('absent fields with a default have it, in the query and in the body', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  for (const [query, limit] of [
    ['', 10],
    ['limit=', 10],
    ['limit=null', 10],
    ['limit=3', 3],
  ] as const) {
    const answer = await ask(port, post(`/page?${query}`, '{"from":null}'));
    assert.deepEqual(JSON.parse(answer.body), { query: { limit }, params: {}, body: { from: 5 } });
  }
});

test('path parameters are decoded', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const answer = await ask(port, get('/items/a%20b+c/of/%C3%A9'));
  assert.deepEqual(JSON.parse(answer.body).params, {
    item: 'a b+c',
    owner: Buffer.from('é').toString('latin1'),
  });
  assert.equal((await ask(port, get('/items/%ff/of/x'))).status, 400);
});

test('bodies are checked by media type, size, syntax and schema', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const body = async (text: string, lines: string[] = []) => {
    const answer = await ask(port, post('/echo', text, lines));
    return { status: answer.status, ...JSON.parse(answer.body) };
  };
  assert.deepEqual((await body('{"pkh":"ab","note":null,"x":1}')).body, { pkh: 'ab' });
  assert.deepEqual((await body('{"pkh":"ab","inner":{"size":1,"tag":""}}')).body.inner, {
    size: 1,
  });
  const charset = ['content-type: Application/JSON; charset=utf-8'];
  assert.equal((await body('{"pkh":"ab"}', charset)).status, 200);
  assert.equal((await body('{"pkh":"ab"}', ['Content-Type: text/plain'])).status, 415);
  assert.equal((await body('{"pkh":"ab"}', ['Content-Type: application/jsonp'])).status, 415);
  for (const other of ['latin1', 'UTF-16', 'us-ascii', '""', "'utf-8'"]) {
    const type = [`Content-Type: application/json;charset=${other}`];
    assert.equal((await body('{"pkh":"ab"}', type)).status, 415, other);
  }
  assert.equal(
    (await body('{"pkh":"ab"}', ['Content-Type: application/json; charset="UTF8"'])).status,
    200,
  );
  const latin = await body('{"pkh":"ab","unread":"Caf\xe9"}');
  assert.deepEqual([latin.status, latin.cause], [400, 'INVALID_PARAMS']);
  assert.match(latin.message, /not UTF-8/);
  assert.match((await body('\xef\xbb\xbf{"pkh":"ab"}')).message, /byte order mark/);
  assert.equal((await body(Buffer.from('{"pkh":"ab"}', 'utf16le').toString('latin1'))).status, 400);
  const malformed = await body('{"pkh":');
  assert.deepEqual([malformed.status, malformed.cause], [400, 'INVALID_PARAMS']);
  const wrong = await body('{"pkh":"a","inner":{"size":"1"}}');
  assert.deepEqual(
    wrong.details.map((detail: { path: string }) => detail.path),
    ['body.pkh', 'body.inner.size'],
  );
  assert.equal((await body('')).status, 400);
  assert.equal((await body('null')).status, 400);
});

test('a route that takes no or an optional body answers without one', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const bodyOf = async (path: string, text: string) =>
    JSON.parse((await ask(port, post(path, text))).body).body;
  assert.equal(await bodyOf('/nothing', ''), 'absent');
  assert.equal(await bodyOf('/nothing', '{}'), 'absent');
  assert.equal(await bodyOf('/filter', ''), null);
  assert.equal(await bodyOf('/filter', 'null'), null);
  assert.deepEqual(await bodyOf('/filter', '["a"]'), ['a']);
  const noType = get('/nothing', ['Content-Type: text/plain', 'Content-Length: 0'], 'POST');
  assert.equal((await ask(port, noType)).status, 200);
});

test('a body above the limit is refused, declared or not', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes(), options: { maxBodyBytes: 1000 } });
  const connection = new RawConnection(port);
  const declared = await connection.ask(post('/nothing', `"${'x'.repeat(999)}"`));
  assert.equal(declared.status, 413);
  assert.equal(JSON.parse(declared.body).cause, 'PAYLOAD_TOO_LARGE');
  assert.equal((await connection.ask(post('/nothing', `"${'x'.repeat(998)}"`))).status, 200);
  const chunked = get('/nothing', ['Transfer-Encoding: chunked'], 'POST');
  const chunk = `258\r\n${'x'.repeat(600)}\r\n`;
  const undeclared = await connection.ask(`${chunked + chunk + chunk}0\r\n\r\n`);
  assert.equal(undeclared.status, 413);
  connection.socket.destroy();
});

test('a body with more values than its route takes is refused before it is parsed', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const refused = async (path: string, text: string) => {
    const { status, body } = await ask(port, post(path, text));
    return [status, JSON.parse(body).message];
  };
  const spare = (count: number) => Array.from({ length: count }, (_, at) => `"x${at}":1`).join();
  const few = `{"pkh":"ab",${spare(90)}}`;
  assert.equal((await ask(port, post('/echo', few))).status, 200);
  const [status, message] = await refused('/echo', `{"pkh":"ab",${spare(1_000)}}`);
  assert.equal(status, 400);
  assert.match(message, /^JSON of this route may hold at most \d+ values/);
  // Cut off in the middle: it was not parsed.
  assert.match((await refused('/echo', `[${'1,'.repeat(2_000)}`))[1], /values/);
  // Separators inside texts are none.
  const text = JSON.stringify({ pkh: 'ab', note: '[{,"\\'.repeat(500) });
  assert.equal((await ask(port, post('/echo', text))).status, 200);
  const large = await refused('/echo', `{"pkh":"ab","note":"${'x'.repeat(16_400)}"}`);
  assert.equal(large[0], 413);
});

test('large bodies of one caller leave room for small ones and for other callers', async (t) => {
  const { port } = await startNode(t, {
    routes: testRoutes(),
    options: { maxArrivingEach: 40_000, maxArrivingBytes: 100_000, trustedProxies: ['127.0.0.1'] },
  });
  const from = (address: string) => [`X-Forwarded-For: ${address}`];
  const slow = (address: string) => {
    const connection = new RawConnection(port);
    const request = post('/long', JSON.stringify('x'.repeat(30_000)), from(address));
    connection.socket.write(request.slice(0, -10));
    return connection;
  };
  const opened = Array.from({ length: 8 }, () => slow('10.0.0.1'));
  await until('six end', () => opened.filter(({ received }) => received).length >= 6);
  for (const { received } of opened) assert.match(received, /^$|^HTTP\/1.1 503 .*OVERLOADED/s);
  const statusOf = async (path: string, size: number, address: string) =>
    (await ask(port, post(path, JSON.stringify('x'.repeat(size)), from(address)))).status;
  assert.equal(await statusOf('/long', 30_000, '10.0.0.1'), 503);
  assert.equal(await statusOf('/long', 100, '10.0.0.1'), 200);
  assert.equal(await statusOf('/long', 30_000, '10.0.0.2'), 200);
  for (const { socket } of opened) socket.destroy();
});

test('a chunked body of another media type is refused', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const head = get('/nothing', ['Transfer-Encoding: chunked', 'Content-Type: text/csv'], 'POST');
  assert.equal((await ask(port, `${head}3\r\na,b\r\n0\r\n\r\n`)).status, 415);
});

test('unknown routes, methods and failures have a cause and a message', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const expected: [string, number, string][] = [
    [get('/nowhere'), 404, 'NOT_FOUND'],
    [get('/ws'), 404, 'NOT_FOUND'],
    [get('/missing'), 404, 'ASSET_NOT_FOUND'],
    [get('/invalid'), 400, 'INVALID_PARAMS'],
    [get('/overloaded'), 503, 'OVERLOADED'],
    [get('/long', [], 'DELETE'), 405, 'METHOD_NOT_ALLOWED'],
    [get('/nothing'), 405, 'METHOD_NOT_ALLOWED'],
    [get('/nothing', [], 'HEAD'), 405, ''],
  ];
  for (const [request, status, cause] of expected) {
    const answer = await ask(port, request);
    assert.equal(answer.status, status, request);
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.equal(answer.headers['ratelimit-limit'], '200');
    for (const [name, value] of Object.entries(CORS)) assert.equal(answer.headers[name], value);
    if (cause !== '') assert.equal(JSON.parse(answer.body).cause, cause);
    if (status === 405) assert.match(answer.headers.allow ?? '', /OPTIONS/);
  }
  assert.equal((await ask(port, get('/overloaded'))).headers['retry-after'], '7');
  const allow = (await ask(port, get('/echo', [], 'PUT'))).headers.allow;
  assert.equal(allow, 'GET, HEAD, POST, OPTIONS');
});

test('HEAD answers the headers of GET without a body', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  for (const path of ['/small', '/long', '/bytes', '/missing', '/nowhere']) {
    const connection = new RawConnection(port);
    const full = await connection.ask(get(path));
    const head = await connection.ask(get(path, [], 'HEAD'), true);
    assert.equal(head.status, full.status);
    const { date: _a, ...fullHeaders } = full.headers;
    const { date: _b, ...headHeaders } = head.headers;
    assert.deepEqual(headHeaders, fullHeaders, path);
    assert.equal(connection.received, '');
    assert.equal((await connection.ask(get('/small'))).body, '{"a":1}');
    connection.socket.destroy();
  }
});

test('OPTIONS is answered for browsers', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  for (const path of ['/echo', '/nowhere']) {
    const answer = await ask(port, get(path, ['Origin: http://a.b'], 'OPTIONS'));
    assert.equal(answer.status, 204);
    for (const [name, value] of Object.entries(CORS)) assert.equal(answer.headers[name], value);
    assert.equal(
      answer.headers['access-control-allow-methods'],
      'GET, HEAD, POST, DELETE, OPTIONS',
    );
    assert.equal(
      answer.headers['access-control-allow-headers'],
      'Content-Type, If-None-Match, X-Min-Position, Authorization, Idempotency-Key, Last-Event-ID',
    );
    assert.equal(answer.headers['access-control-max-age'], '86400');
    assert.equal(answer.headers['ratelimit-limit'], '200');
  }
});

test('duplicate Host or Content-Length is refused and the connection closed', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const requests = [
    get('/small', ['Host: other']),
    get('/nowhere', ['host: test']),
    get('/small', ['Host: other'], 'HEAD'),
    get('/nothing', ['Content-Length: 2', 'Content-Length: 3'], 'POST'),
    get('/nothing', ['Content-Length: 2', 'content-length: 2'], 'POST'),
  ];
  for (const request of requests) {
    const connection = new RawConnection(port);
    const answer = await connection.ask(request, request.startsWith('HEAD'));
    assert.equal(answer.status, 400, request);
    assert.equal(answer.headers.connection, 'close');
    await until('closed', () => connection.closed);
  }
});

test('a handler that throws or rejects is answered 500 and does no harm', async (t) => {
  const { port, faults } = await startNode(t, { routes: testRoutes() });
  for (const path of ['/throws', '/rejects', '/breaks']) {
    const answer = await ask(port, get(path));
    assert.equal(answer.status, 500);
    assert.equal(JSON.parse(answer.body).cause, 'SERVER_ERROR');
  }
  assert.equal(faults.length, 3);
  assert.equal((await ask(port, get('/small'))).status, 200);
});

test('an answer that another server cannot give now is NOT_READY and no fault', async (t) => {
  const { port, faults } = await startNode(t, { routes: testRoutes() });
  const answer = await ask(port, get('/unavailable'));
  assert.equal(answer.status, 503);
  assert.equal(answer.headers['retry-after'], '3');
  assert.equal(JSON.parse(answer.body).cause, 'NOT_READY');
  assert.deepEqual(faults, []);
});

test('a client that goes away while its answer is prepared does no harm', async (t) => {
  const gate = new Gate();
  const { port } = await startNode(t, { routes: testRoutes(gate) });
  for (let i = 0; i < 20; i++) {
    const connection = new RawConnection(port);
    connection.socket.write(get('/held'));
    await until('handler runs', () => gate.waiting.length === i + 1);
    connection.socket.destroy();
  }
  const patient = new RawConnection(port);
  const answer = patient.ask(get('/held'));
  await until('handler runs', () => gate.waiting.length === 21);
  for (const release of gate.waiting) release({ body: 'late' });
  assert.equal((await answer).body, 'late');
  const halfBody = new RawConnection(port);
  halfBody.socket.write(`${get('/nothing', ['Content-Length: 100'], 'POST')}{`);
  halfBody.socket.destroy();
  assert.equal((await patient.ask(get('/small'))).status, 200);
  patient.socket.destroy();
});

test('a request that comes while the one before is being answered waits for it', async (t) => {
  const gate = new Gate();
  const { port } = await startNode(t, { routes: testRoutes(gate) });
  for (const first of [get('/held'), post('/held', '{}')]) {
    const connection = new RawConnection(port);
    await connection.write([first]);
    await until('the handler runs', () => gate.waiting.length === 1);
    await connection.write([get('/small'), get('/small', ['Connection: close'])]);
    assert.deepEqual([connection.received, connection.closed], ['', false]);
    gate.waiting.pop()?.({ body: '"held"' });
    const answers = [await connection.ask(''), await connection.ask(''), await connection.ask('')];
    assert.deepEqual(
      answers.map(({ body }) => body),
      ['"held"', '{"a":1}', '{"a":1}'],
    );
    await until('it ends', () => connection.closed);
  }
});

test('the library closes connections that it cannot answer in order, as documented', async (t) => {
  const gate = new Gate();
  const { port } = await startNode(t, { routes: testRoutes(gate) });
  const connection = new RawConnection(port);
  connection.socket.write(get('/held') + get('/small'));
  await until('it ends', () => connection.closed);
  assert.equal(connection.received, '');
});

test('ETag and If-None-Match give 304', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const first = await ask(port, get('/small'));
  const tag = first.headers.etag ?? '';
  assert.match(tag, /^W\/"[\w-]+"$/);
  for (const match of [tag, tag.slice(2), `"x", ${tag}`, '*']) {
    const again = await ask(port, get('/small', [`If-None-Match: ${match}`]));
    assert.equal(again.status, 304);
    assert.equal(again.headers.etag, tag);
    assert.equal(again.headers['x-position'], '1-aaaa:10');
  }
  assert.equal((await ask(port, get('/small', ['If-None-Match: "other"']))).status, 200);
  // A weak tag equals none, strongly.
  for (const match of ['"other"', tag, tag.slice(2)]) {
    const refused = await ask(port, get('/small', [`If-Match: ${match}`]));
    assert.deepEqual([refused.status, refused.headers.etag], [412, tag]);
  }
  assert.equal((await ask(port, get('/small', ['If-Match: *']))).status, 200);
  assert.equal((await ask(port, post('/build', '{}', ['If-Match: "1"']))).status, 412);
});

test('a strong tag is compared strongly', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const statusOf = async (line: string) => (await ask(port, get('/named', [line]))).status;
  assert.equal(await statusOf('If-Match: "x", "a,b"'), 200);
  assert.equal(await statusOf('If-Match: W/"a,b"'), 412);
  assert.equal(await statusOf('If-Match: "a", "b"'), 412);
  assert.equal(await statusOf('If-None-Match: W/"a,b"'), 304);
  assert.equal(await statusOf('If-None-Match: "a", "b"'), 200);
});

test('long bodies are gzipped for those who take it', async (t) => {
  const { url, port } = await startNode(t, { routes: testRoutes() });
  for (const _again of [1, 2]) {
    const answer = await fetch(`${url}/long`, { headers: { 'accept-encoding': 'br, gzip;q=0.5' } });
    assert.equal(answer.headers.get('content-encoding'), 'gzip');
    assert.equal(answer.headers.get('vary'), 'Accept-Encoding');
    assert.equal(await answer.text(), LONG);
  }
  const raw = await ask(port, get('/long', ['Accept-Encoding: gzip']));
  assert.equal(gunzipSync(Buffer.from(raw.body, 'latin1')).toString(), LONG);
  for (const refused of ['identity', 'gzip;q=0, *', 'br', '']) {
    const answer = await ask(port, get('/long', [`Accept-Encoding: ${refused}`]));
    assert.equal(answer.headers['content-encoding'], undefined);
    assert.equal(answer.headers.vary, 'Accept-Encoding');
    assert.equal(answer.body, LONG);
  }
});
