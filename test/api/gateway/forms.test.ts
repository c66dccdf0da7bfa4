/** Forms over real sockets: bodies that browsers send, and bodies that no browser would send. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import Type from 'typebox';
import type { Answer, Route, RouteRequest } from '../../../src/api/gateway/port.ts';
import { until } from '../../support/until.ts';
import { startNode, type TestNode } from './node.ts';
import { get, post, type RawAnswer, RawConnection } from './raw.ts';
import { plain } from './routes.ts';

const MIB = 1_048_576;
const INFO = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 16 }),
  note: Type.Optional(Type.String()),
});

function echo({ body, files = [] }: RouteRequest): Answer {
  const told = files.map(({ bytes, ...file }) => ({ ...file, sha1: hash('sha1', bytes) }));
  return { body: JSON.stringify({ body, files: told }) };
}

const ROUTE: Route = {
  ...plain,
  method: 'POST',
  path: '/launch',
  rate: 'free',
  maxBodyBytes: MIB,
  form: {
    maxBodyBytes: 6 * MIB,
    fields: Type.Object({ info: INFO, more: Type.Optional(Type.Object({})) }),
    files: {
      image: { description: 'Logo.', required: true, mediaTypes: ['image/png'] },
      extra: { description: 'More.', required: false, mediaTypes: ['image/png'] },
    },
  },
  handle: echo,
};

const PIXELS = Buffer.from([
  0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255, 13, 10, 45, 45,
]);
const TYPE = 'Content-Type: multipart/form-data; boundary=b0';
const DISPOSITION = 'Content-Disposition: form-data; name=';

function part(head: string, content: string): string {
  return `--b0\r\n${head}\r\n\r\n${content}\r\n`;
}

const IMAGE = part(
  `${DISPOSITION}"image"; filename="a.png"\r\nContent-Type: image/PNG`,
  PIXELS.toString('latin1'),
);
const INFO_FIELD = part(`${DISPOSITION}"info"`, '{"name":"Gizmo","note":null}');
const INFO_FILE = part(
  `${DISPOSITION}"info"; filename="info.json"\r\nContent-Type: application/json`,
  '{"name":"Gizmo"}',
);
const END = '--b0--\r\n';
const GOOD = {
  body: { info: { name: 'Gizmo' } },
  files: [{ name: 'image', filename: 'a.png', mediaType: 'image/png', sha1: hash('sha1', PIXELS) }],
};

async function send(node: TestNode, body: string, type = TYPE): Promise<RawAnswer> {
  const connection = new RawConnection(node.port);
  const answer = await connection.ask(post('/launch', body, [type]));
  connection.socket.destroy();
  return answer;
}

/** The answer's status, its cause and message, and the path of the field at fault. */
async function refused(node: TestNode, body: string, type = TYPE) {
  const answer = await send(node, body, type);
  const { cause, message, details } = JSON.parse(answer.body);
  return { status: answer.status, cause, message, path: details?.[0]?.path };
}

async function start(t: Parameters<typeof startNode>[0]): Promise<TestNode> {
  return startNode(t, { routes: [ROUTE] });
}

test('a form arrives as its file and its checked JSON, in any order, text or file', async (t) => {
  const node = await start(t);
  const other = part(`${DISPOSITION}"unknown"`, 'x') + part('X-Nothing: here', 'y');
  for (const form of [IMAGE + INFO_FIELD, INFO_FIELD + IMAGE, INFO_FILE + other + IMAGE]) {
    const answer = await send(node, `preamble\r\n${form}${END}epilogue`);
    assert.equal(answer.status, 200, answer.body);
    assert.deepEqual(JSON.parse(answer.body), GOOD);
  }
  const quoted = 'content-type: Multipart/Form-Data; charset=utf-8; boundary="b0"';
  assert.equal((await send(node, IMAGE + INFO_FILE + END, quoted)).status, 200);
});

test('a form of a foreign client arrives byte for byte', async (t) => {
  const node = await start(t);
  const bytes = Buffer.alloc(5 * MIB, 'ab\r\n--');
  const form = new FormData();
  form.set('info', JSON.stringify({ name: 'Ünï ❤' }));
  form.set('image', new Blob([bytes], { type: 'image/gif' }), 'C:\\dir\\ü "x".gif');
  const response = await fetch(`${node.url}/launch`, { method: 'POST', body: form });
  assert.equal(response.status, 200);
  const { body, files } = JSON.parse(await response.text());
  assert.equal(body.info.name, 'Ünï ❤');
  assert.deepEqual([files[0].mediaType, files[0].sha1], ['image/gif', hash('sha1', bytes)]);
  assert.match(files[0].filename, /^ü .*x.*\.gif$/);
});

test('each fault of a form is named with its place', async (t) => {
  const node = await start(t);
  const info = (text: string) => part(`${DISPOSITION}"info"`, text);
  const cases: [string, string, RegExp][] = [
    [IMAGE, 'body.info', /required/],
    [INFO_FIELD, 'body.image', /required/],
    [IMAGE + info(''), 'body.info', /must be object/],
    [IMAGE + info('{"name":'), 'body.info', /malformed JSON/],
    [IMAGE + info('{"name":""}'), 'body.info.name', /fewer than 1/],
    [IMAGE + INFO_FILE + INFO_FIELD, 'body.info', /once only/],
    [IMAGE + IMAGE + INFO_FILE, 'body.image', /once only/],
    [
      IMAGE + part(`${DISPOSITION}"info"\r\nContent-Type: text/plain; charset=utf-16`, 'x'),
      'body',
      /UTF-8/,
    ],
    [IMAGE + info('{"name":"Caf\xe9"}'), 'body', /UTF-8/],
    [IMAGE + INFO_FILE.replace('Gizmo', 'Caf\xe9'), 'body.info', /UTF-8/],
    [INFO_FILE + part(`${DISPOSITION}"image"`, 'text'), 'body.image', /as a file/],
  ];
  for (const [form, path, message] of cases) {
    const answer = await refused(node, form + END);
    assert.deepEqual([answer.status, answer.cause, answer.path], [400, 'INVALID_PARAMS', path]);
    assert.match(answer.message, message);
  }
});

test('another media type is 415, declared or chunked; no body is 400', async (t) => {
  const node = await start(t);
  for (const type of ['application/json', 'multipart/mixed; boundary=b0', 'text/plain', '']) {
    const answer = await refused(node, IMAGE + INFO_FIELD + END, `Content-Type: ${type}`);
    assert.deepEqual([answer.status, answer.cause], [415, 'UNSUPPORTED_MEDIA_TYPE'], type);
    assert.match(answer.message, /multipart\/form-data/);
    const head = get('/launch', ['Transfer-Encoding: chunked', `Content-Type: ${type}`], 'POST');
    const connection = new RawConnection(node.port);
    assert.equal((await connection.ask(`${head}3\r\nabc\r\n0\r\n\r\n`)).status, 415);
    connection.socket.destroy();
  }
  const latin = await refused(node, IMAGE + INFO_FIELD + END, `${TYPE}; charset=iso-8859-1`);
  assert.deepEqual([latin.status, latin.cause], [415, 'UNSUPPORTED_MEDIA_TYPE']);
  const empty = await refused(node, '');
  assert.deepEqual([empty.status, empty.path], [400, 'body']);
});

test('malformed and truncated forms are 400', async (t) => {
  const node = await start(t);
  const whole = IMAGE + INFO_FIELD + END;
  const bodies = [
    whole.slice(0, -6),
    whole.slice(0, 60),
    IMAGE,
    '--b0--',
    '--b0\r\nno colon\r\n\r\nx\r\n--b0--\r\n',
    `--b0\r\n${DISPOSITION}"image"; filename="a"\r\n--b0--\r\n`,
    `--b0\r\n${'X: y\r\n'.repeat(4_000)}\r\nx\r\n--b0--\r\n`,
    'no boundary in here at all',
    `--b0--\r\n${INFO_FIELD}${IMAGE.slice(0, -4)}`,
  ];
  for (const body of bodies) {
    const answer = await refused(node, body);
    assert.deepEqual([answer.status, answer.cause], [400, 'INVALID_PARAMS'], body.slice(0, 80));
  }
  const types = [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary=b0; boundary=b1',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
    'multipart/form-data; boundary="b0',
  ];
  for (const type of types) {
    const answer = await refused(node, whole, `Content-Type: ${type}`);
    assert.deepEqual([answer.status, answer.path], [400, 'body'], type);
  }
  assert.deepEqual(node.faults, []);
});

test('the number of parts and the size of a field are bounded', async (t) => {
  const node = await start(t);
  const rest = part(`${DISPOSITION}"x"`, '1');
  assert.equal((await send(node, IMAGE + INFO_FIELD + rest.repeat(14) + END)).status, 200);
  for (const count of [15, 80_000]) {
    const answer = await refused(node, IMAGE + INFO_FIELD + rest.repeat(count) + END);
    assert.equal(answer.status, 400);
    assert.match(answer.message, /at most 16 parts/);
  }
  const padded = (size: number) => `{"name":"a"}${' '.repeat(size - 12)}`;
  for (const head of [`${DISPOSITION}"info"`, `${DISPOSITION}"info"; filename="i"`]) {
    assert.equal((await send(node, IMAGE + part(head, padded(MIB)) + END)).status, 200);
    const answer = await refused(node, IMAGE + part(head, padded(MIB + 1)) + END);
    assert.deepEqual([answer.status, answer.cause], [413, 'PAYLOAD_TOO_LARGE']);
  }
});

test('a body of 7 MiB is 413, declared or not, and of 6 MiB taken', async (t) => {
  const node = await start(t);
  const around = INFO_FIELD + part(`${DISPOSITION}"image"; filename="a"`, '') + END;
  const form = (size: number) =>
    INFO_FIELD +
    part(`${DISPOSITION}"image"; filename="a"`, 'x'.repeat(size - around.length)) +
    END;
  assert.equal((await send(node, form(6 * MIB))).status, 200);
  for (const size of [6 * MIB + 1, 7 * MIB]) {
    assert.equal((await refused(node, form(size))).status, 413);
    const connection = new RawConnection(node.port);
    const answer = await connection.ask(chunked(form(size), 65_536));
    assert.equal(answer.status, 413);
    await until('closed', () => connection.closed);
  }
});

function chunked(body: string, size: number): string {
  const chunks: string[] = [get('/launch', ['Transfer-Encoding: chunked', TYPE], 'POST')];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.slice(at, at + size);
    chunks.push(`${piece.length.toString(16)}\r\n${piece}\r\n`);
  }
  return `${chunks.join('')}0\r\n\r\n`;
}

test('a boundary may be split anywhere: bytes one by one, chunks of one', async (t) => {
  const node = await start(t);
  const body = IMAGE + INFO_FILE + END;
  const first = new RawConnection(node.port);
  assert.deepEqual(JSON.parse((await first.ask(chunked(body, 1))).body), GOOD);
  const connection = new RawConnection(node.port);
  const request = post('/launch', body, [TYPE]);
  connection.socket.setNoDelay(true);
  // The library wants a request line in one piece.
  connection.socket.write(request.slice(0, -body.length), 'latin1');
  for (let at = request.length - body.length; at < request.length - 1; at += 7) {
    connection.socket.write(request.slice(at, Math.min(at + 7, request.length - 1)), 'latin1');
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(JSON.parse((await connection.ask(request.slice(-1))).body), GOOD);
  connection.socket.destroy();
});

test('a body that ends midway, or a client that leaves after it, does no harm', async (t) => {
  const node = await start(t);
  const request = post('/launch', IMAGE + INFO_FIELD + END, [TYPE]);
  for (const length of [1, 100, request.length - 1, request.length]) {
    for (const leave of ['destroy', 'resetAndDestroy', 'end'] as const) {
      const connection = new RawConnection(node.port);
      await new Promise<void>((resolve) => {
        connection.socket.write(request.slice(0, length), 'latin1', () => resolve());
      });
      connection.socket[leave]();
    }
  }
  assert.equal((await send(node, IMAGE + INFO_FIELD + END)).status, 200);
  assert.deepEqual(node.faults, []);
});

test('bodies that arrive at once are bounded together, and free again when they end', async (t) => {
  const node = await startNode(t, { routes: [ROUTE], options: { maxArrivingBytes: 2_000 } });
  const body = IMAGE + INFO_FIELD + END + ' '.repeat(600);
  const request = post('/launch', body, [TYPE]);
  const slow = Array.from({ length: 5 }, () => new RawConnection(node.port));
  const told = () => slow.filter(({ received }) => received !== '');
  for (const connection of slow) connection.socket.write(request.slice(0, -10), 'latin1');
  await until('one is refused', () => told().length > 0);
  for (const connection of told()) {
    assert.match(connection.received, /^HTTP\/1.1 503 .*"OVERLOADED"/s);
    assert.match(connection.received, /Retry-After: 1\r\n/);
  }
  assert.ok(told().length < 4);
  for (const connection of slow) connection.socket.destroy();
  for (let tries = 0; tries < 100 && (await send(node, body)).status === 503; tries += 1);
  for (let round = 0; round < 10; round += 1) {
    const answer = await send(node, body);
    assert.equal(answer.status, 200, answer.body);
  }
});

test('no bytes break the reading of a form', async (t) => {
  const node = await start(t);
  const connection = new RawConnection(node.port);
  const whole = IMAGE + INFO_FIELD + INFO_FILE + END;
  const splice = fc.tuple(
    fc.nat(whole.length),
    fc.nat(12),
    fc.constantFrom('\r\n', '--b0', '--', ':', '\0', '"', 'filename*=', '\r\n\r\n', 'ÿ', ''),
  );
  const bodies = fc
    .array(splice, { minLength: 1, maxLength: 6 })
    .map((splices) =>
      splices.reduce(
        (text, [at, gone, put]) => text.slice(0, at) + put + text.slice(at + gone),
        whole,
      ),
    );
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const { status } = await connection.ask(post('/launch', body, [TYPE]));
      assert.ok([200, 400].includes(status), String(status));
    }),
    { numRuns: 500, endOnFailure: true },
  );
  connection.socket.destroy();
  assert.deepEqual(node.faults, []);
});
