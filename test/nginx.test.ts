/** config/nginx-one-node.conf, run by a real nginx in front of the real program. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ConnectionOptions } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { type ClientOptions, WebSocket } from 'ws';
import { systemRng } from '../src/engine/runtime/rng.ts';
import { freePorts } from '../src/server/cli/localServers.ts';
import { linesOf, rollbackLine, TOKEN_COIN, tradeAt } from './support/feeds.ts';
import { startServer, temporaryDirectory } from './support/server.ts';
import { untilAsked } from './support/until.ts';

const NAME = 'market.example.org';
const CONF = join(import.meta.dirname, '../config/nginx-one-node.conf');

/** Why this machine cannot run it; null: it can. */
function missing(): string | null {
  if (process.platform !== 'linux') return 'several loopback addresses (Linux)';
  const programs = { nginx: '-v', openssl: 'version' };
  const absent = Object.entries(programs).find(([name, asked]) => spawnSync(name, [asked]).error);
  return absent?.[0] ?? null;
}

interface Site {
  readonly folder: string;
  readonly http: number;
  readonly https: number;
  readonly certificate: Buffer;
}

/** The file as it is, with the ports and the certificate of this test. */
async function writeSite(server: number, admin: number): Promise<Site> {
  const folder = temporaryDirectory();
  const files = [join(folder, 'key.pem'), join(folder, 'cert.pem')] as const;
  const made = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj';
  const names = [`/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
  const place = ['-keyout', files[0], '-out', files[1]];
  execFileSync('openssl', ['req', ...made.split(' '), ...names, ...place], { stdio: 'ignore' });
  const [http = 0, https = 0] = await freePorts(2, systemRng);
  const changes = {
    'server 127.0.0.1:8080;': `server 127.0.0.1:${server};`,
    'server 127.0.0.1:9100;': `server 127.0.0.1:${admin};`,
    'listen 80;': `listen 127.0.0.1:${http};`,
    'listen [::]:80;': '',
    'listen 443 ssl http2;': `listen 127.0.0.1:${https} ssl http2;`,
    'listen [::]:443 ssl http2;': '',
    '/var/cache/nginx/upcurve': `${folder}/cache`,
    [`/etc/letsencrypt/live/${NAME}/fullchain.pem`]: files[1],
    [`/etc/letsencrypt/live/${NAME}/privkey.pem`]: files[0],
  };
  let site = readFileSync(CONF, 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    assert.ok(site.includes(from), from);
    site = site.replaceAll(from, to);
  }
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n');
  // A worker of another user could not enter the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${user} daemon off; pid ${folder}/pid; error_log stderr warn;
    events { worker_connections 256; }
    http { access_log off; ${temporary}\n${site}\n}`,
  );
  return { folder, http, https, certificate: readFileSync(files[1]) };
}

async function runNginx(t: TestContext, { folder, https }: Site): Promise<void> {
  const place = ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
  const checked = spawnSync('nginx', ['-t', ...place], { encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stderr);
  const nginx = spawn('nginx', place, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  nginx.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  t.after(async () => {
    nginx.kill('SIGTERM');
    if (nginx.exitCode === null) await once(nginx, 'exit');
  });
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connectTcp(https, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false)).on('close', () => socket.destroy());
      socket.on('connect', () => socket.end());
    });
  await untilAsked(`nginx listens; it said ${said}`, answers, (is) => is);
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Over HTTP/2. */
function ask(
  { https, certificate }: Site,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> {
  const client = connect(`https://127.0.0.1:${https}`, { ca: certificate, servername: NAME });
  return new Promise<Answer>((resolve, reject) => {
    client.on('error', reject);
    const stream = client.request({ ':path': path, ':authority': NAME, ...headers });
    let answer: Omit<Answer, 'text'> = { status: 0, headers: {} };
    const parts: Buffer[] = [];
    stream.on('response', (headers) => {
      answer = { status: Number(headers[':status']), headers };
    });
    stream.on('data', (part: Buffer) => void parts.push(part));
    stream.on('error', reject).on('end', () => {
      const isPacked = answer.headers['content-encoding'] === 'gzip';
      const bytes = Buffer.concat(parts);
      resolve({ ...answer, text: (isPacked ? gunzipSync(bytes) : bytes).toString() });
    });
  }).finally(() => client.close());
}

/** 101 when it is served, otherwise the code with which it is closed. */
function openSocket(
  t: TestContext,
  site: Site,
  path: string,
  from: string,
  headers = {},
): Promise<number> {
  // The types of `ws` leave out the options that it passes on to TLS.
  const options: ClientOptions & ConnectionOptions = {
    ca: site.certificate,
    servername: NAME,
    localAddress: from,
    headers: { Host: NAME, ...headers },
  };
  const socket = new WebSocket(`wss://127.0.0.1:${site.https}${path}`, options);
  t.after(() => socket.terminate());
  return new Promise((resolve, reject) => {
    socket.on('error', reject).on('close', resolve);
    // An answer to a frame: both directions work.
    socket.on('open', () => socket.send('no frame')).on('message', () => resolve(101));
  });
}

test('nginx serves HTTP/2 and sockets with TLS, shows clients, hides metrics', async (t) => {
  const absent = missing();
  if (absent !== null) return t.skip(`${absent} is missing`);
  const server = await startServer(t, [], {
    DATA_DIR: temporaryDirectory(),
    TRUSTED_PROXIES: '127.0.0.1',
    RATE_LIMIT_LOOPBACK: 'true',
    MAX_SOCKETS_PER_ADDRESS: '1',
  });
  // Without ADMIN_PORT: metrics are on the port that goes out, and nginx alone hides them.
  const site = await writeSite(server.port, server.port);
  await runNginx(t, site);

  const docs = await ask(site, '/docs');
  assert.deepEqual([docs.status, docs.headers['content-type']], [200, 'text/html; charset=utf-8']);
  const ready = await ask(site, '/health/ready');
  assert.equal(ready.status, 200);
  assert.equal(JSON.parse(ready.text).synced, true);

  // JSON is compressed, and a client's cached copy is recognised.
  const accepts = { 'accept-encoding': 'gzip' };
  const packed = await ask(site, '/v1/docs/openapi.json', accepts);
  const { 'content-encoding': coding, vary, etag = '' } = packed.headers;
  assert.deepEqual([coding, String(vary).toLowerCase()], ['gzip', 'accept-encoding']);
  assert.deepEqual(
    JSON.parse(packed.text),
    await (await server.get('/v1/docs/openapi.json')).json(),
  );
  const again = await ask(site, '/v1/docs/openapi.json', { ...accepts, 'if-none-match': etag });
  assert.deepEqual([again.status, again.text], [304, '']);

  assert.match(await (await server.get('/metrics')).text(), /^# HELP upcurve_/m);
  for (const path of ['/metrics', '//metrics', '/metrics/', '/%6detrics', '/health/../metrics']) {
    const { status, text } = await ask(site, path);
    assert.deepEqual([status, text.includes('# HELP')], [404, false], path);
  }

  const options = { port: site.http, host: '127.0.0.1', path: '/a?b=c', headers: { host: NAME } };
  const [redirect] = await once(request(options).end(), 'response');
  redirect.resume();
  assert.deepEqual(
    [redirect.statusCode, redirect.headers.location],
    [301, `https://${NAME}/a?b=c`],
  );

  // One socket for each address: the server sees the addresses of the clients, and no client can
  // choose its own.
  assert.equal(await openSocket(t, site, '/ws', '127.0.0.2'), 101);
  assert.equal(await openSocket(t, site, '/v1/websocket/ws', '127.0.0.3'), 101);
  const claimed = { 'X-Forwarded-For': '192.0.2.9' };
  assert.equal(await openSocket(t, site, '/ws', '127.0.0.2', claimed), 4403);
});

/** Requests of histories that the node itself has answered. */
async function historiesAnswered(server: { get(path: string): Promise<Response> }) {
  const metrics = await (await server.get('/metrics')).text();
  const name = 'upcurve_http_request_seconds_count';
  const counts = metrics.matchAll(new RegExp(`^${name}{route="chartHistory".*} (\\d+)$`, 'gm'));
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test('nginx keeps histories that nothing can change, under their epoch alone', async (t) => {
  const absent = missing();
  if (absent !== null) return t.skip(`${absent} is missing`);
  const dayMs = 86_400_000;
  const startMs = Date.UTC(2024, 4, 1, 12);
  const server = await startServer(t, ['replay', '-'], {
    DATA_DIR: temporaryDirectory(),
    HORIZON_BLOCKS: '2',
  });
  const path = (toMs: number, epoch: string | null) => {
    const { base, quote } = TOKEN_COIN;
    const span = `from=0&to=${toMs / 1000}&resolution=hour1`;
    const kept = epoch === null ? '' : `&epoch=${epoch}`;
    return `/v1/charts/history?base=${base}&quote=${quote}&${span}${kept}`;
  };
  const endMs = startMs + 99 * dayMs;
  for (let day = 0; day < 7; day += 1) {
    server.program.stdin.write(linesOf([tradeAt(startMs + day * dayMs, `${day + 1}`)]));
    const bars = async () => (await server.get(path(endMs, null))).text();
    await untilAsked(`day ${day}`, bars, (text) => text.split('"time"').length === day + 2);
  }
  const site = await writeSite(server.port, server.port);
  await runNginx(t, site);
  const position = (await server.get(path(endMs, null))).headers.get('x-position');
  const epoch = position?.split(':')[0] ?? assert.fail('a position');
  const old = path(startMs + 2 * dayMs, epoch);

  const before = await historiesAnswered(server);
  const first = await ask(site, old);
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(site, old)));
  assert.equal(await historiesAnswered(server), before + 1, 'the node was asked once');
  for (const { text } of answers) assert.equal(text, first.text);
  for (const toMs of [startMs + 5 * dayMs, endMs]) {
    assert.equal((await ask(site, path(toMs, epoch))).headers['x-cache-status'], 'MISS');
    assert.equal((await ask(site, path(toMs, epoch))).headers['x-cache-status'], 'MISS');
  }
  assert.equal(
    (await ask(site, path(startMs + 2 * dayMs, null))).headers['x-cache-status'],
    'MISS',
  );

  // The feed rolls back almost everything. A new epoch begins, with other answers.
  server.program.stdin.write(`${rollbackLine(startMs + dayMs / 2)}\n`);
  const now = async () => (await server.get(path(endMs, null))).headers.get('x-position') ?? '';
  const next = await untilAsked('the new epoch', now, (at) => !at.startsWith(`${epoch}:`));
  const fresh = await ask(site, path(startMs + 2 * dayMs, next.split(':')[0] ?? ''));
  assert.equal(JSON.parse(fresh.text).length, 1);
  const gone = await ask(site, path(startMs + 3 * dayMs, epoch));
  assert.deepEqual([gone.status, gone.headers['cache-control']], [409, 'no-store']);
});

test('the site, the unit file and the guide name the same ports', () => {
  const conf = readFileSync(CONF, 'utf8');
  const guide = readFileSync(join(import.meta.dirname, '../docs/one-node.md'), 'utf8');
  const environment = /^Environment=(.+)$/m.exec(guide)?.[1] ?? '';
  for (const key of ['PORT', 'ADMIN_PORT']) {
    const port = new RegExp(`(?:^| )${key}=(\\d+)`).exec(environment)?.[1];
    assert.ok(port !== undefined && conf.includes(`  server 127.0.0.1:${port};`), key);
  }
  assert.match(environment, / TRUSTED_PROXIES=127\.0\.0\.1( |$)/);
});
