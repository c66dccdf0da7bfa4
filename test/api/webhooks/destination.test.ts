/** Where webhooks lead: URLs of strangers, a real DNS server that lies, certificates. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Destinations } from '../../../src/api/webhooks/destination.ts';
import type { Webhook } from '../../../src/api/webhooks/port.ts';
import { rangesOf } from '../../../src/api/webhooks/publicAddress.ts';
import { Sender } from '../../../src/api/webhooks/sender.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { HandClock } from '../../support/handClock.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { NameServer } from './nameServer.ts';
import { Receiver } from './receiver.ts';

const PUBLIC = '93.184.216.34';

async function setUp(t: TestContext, allowed: readonly string[] = []) {
  const dns = await NameServer.start(t);
  const ranges = allowed.length === 0 ? null : rangesOf(allowed);
  const destinations = new Destinations(ranges, dns.resolver());
  const sender = new Sender({ destinations, clock: systemClock });
  t.after(() => sender.close());
  const send = (url: string, attempt = 0) =>
    sender.send(webhookTo(url), { body: '[]', position: '1-a:1', digest: '0', attempt });
  const checked = async (url: string) => {
    const found = await destinations.check(url);
    if (!(found instanceof Failure)) return found.href;
    const rule = found.details?.[0]?.message ?? '';
    assert.equal(found.message, `body.url ${rule}`, 'it says what it is about');
    return rule;
  };
  return { dns, destinations, send, checked };
}

function webhookTo(url: string): Webhook {
  return { id: 'wh_1', owner: 'bot', url, secret: 'x'.repeat(16), topics: [], createdMs: 0 };
}

test('URLs that lead to a private address in any spelling are refused at once', async (t) => {
  const { checked, send, dns } = await setUp(t);
  dns.names.set('inside.example', ['10.0.0.5']);
  dns.names.set('mixed.example', [PUBLIC, '192.168.1.1']);
  dns.names.set('six.example', ['fd00::1']);
  dns.names.set('mapped.example', ['::ffff:7f00:1']);
  for (const host of [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0',
    '169.254.169.254',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[fe80::1]',
    '[64:ff9b::7f00:1]',
    'localhost',
    'LOCALHOST.',
    'x.localhost',
    'inside.example',
    'mixed.example',
    'six.example',
    'mapped.example',
  ]) {
    assert.match(await checked(`https://${host}/x`), /not of the public internet/, host);
    assert.match(String(await send(`https://${host}/x`)), /not of the public internet/, host);
  }
});

test('only whole https URLs are taken', async (t) => {
  const { checked, dns } = await setUp(t);
  dns.names.set('bot.example', [PUBLIC]);
  assert.equal(await checked('https://bot.example/hook?a=1#top'), 'https://bot.example/hook?a=1');
  assert.equal(await checked(`https://${PUBLIC}:8443`), `https://${PUBLIC}:8443/`);
  for (const [url, why] of [
    ['http://bot.example/', /https:/],
    ['ftp://bot.example/', /https:/],
    ['file:///etc/passwd', /https:/],
    ['bot.example', /must be a URL/],
    ['https://', /must be a URL/],
    ['https://1.2.3.4.5/', /must be a URL/],
    ['https://user@bot.example/', /user or a password/],
    ['https://:secret@bot.example/', /user or a password/],
    [`https://bot.example/${'x'.repeat(2048)}`, /2048 characters/],
    ['https://unknown.example/', /DNS does not know/],
  ] as const) {
    assert.match(await checked(url), why, url);
  }
});

test('a name that means another address a moment later reaches nothing', async (t) => {
  const { dns, send, checked } = await setUp(t, ['127.0.0.1']);
  const receiver = await Receiver.start(t);
  const inside = await Receiver.start(t, '127.0.0.2');
  const url = `http://bot.example:${receiver.port}/hook`;
  dns.names.set('bot.example', ['127.0.0.1']);
  assert.equal(await checked(url), url);
  dns.onAnswer = () => void dns.names.set('bot.example', ['127.0.0.2']);
  dns.asked.length = 0;
  dns.names.set('bot.example', ['127.0.0.1']);
  assert.equal(await send(url), null, 'it goes to the address that was checked');
  assert.deepEqual(dns.asked, ['bot.example'], 'it was asked once');
  assert.equal(receiver.all[0]?.host, `bot.example:${receiver.port}`);
  assert.match(String(await send(url)), /not of the public internet/, 'each attempt asks again');
  assert.match(String(await send(`http://bot.example:${inside.port}/`)), /not of the public/);
  assert.deepEqual([receiver.all.length, inside.all.length], [1, 0]);
});

test('networks that the operator allows need no TLS; others do', async (t) => {
  const { dns, send, checked } = await setUp(t, ['127.0.0.0/8']);
  const receiver = await Receiver.start(t);
  dns.names.set('outside.example', [PUBLIC]);
  assert.equal(await send(receiver.url), null);
  assert.match(await checked('http://outside.example/'), /https:/);
  assert.match(await checked('https://10.0.0.1/'), /not of the public internet/);
  assert.equal(await checked('https://outside.example/'), 'https://outside.example/');
});

test('a host with several addresses gets each in turn', async (t) => {
  const { dns, send } = await setUp(t, ['127.0.0.0/8']);
  const receiver = await Receiver.start(t);
  dns.names.set('bot.example', ['127.0.0.9', '127.0.0.1']);
  const url = `http://bot.example:${receiver.port}/`;
  assert.match(String(await send(url)), /no answer \(ECONNREFUSED\)/);
  assert.equal(await send(url, 1), null);
});

test('unknown names, and name servers that are away, are failures', async (t) => {
  const { send, dns } = await setUp(t);
  assert.match(String(await send('https://unknown.example/')), /DNS does not know/);
  dns.names.set('empty.example', []);
  assert.match(String(await send('https://empty.example/')), /DNS does not know/);
});

test('an answer without an end is accepted, and costs its connection', async (t) => {
  const receiver = await Receiver.start(t);
  const clock = new HandClock();
  const sender = new Sender({ destinations: new Destinations(rangesOf(['127.0.0.1'])), clock });
  t.after(() => sender.close());
  let isClosed = false;
  receiver.behaviour = (response) => {
    response.on('close', () => {
      isClosed = true;
    });
    response.writeHead(200).write('and');
  };
  let hasStatus = false;
  subscribe('http.client.response.finish', () => {
    hasStatus = true;
  });
  const sent = sender.send(webhookTo(receiver.url), {
    body: '[]',
    position: '1-a:1',
    digest: '0',
    attempt: 0,
  });
  await until('its status', () => hasStatus);
  await clock.advance(10_000);
  assert.equal(await sent, null);
  await until('the end of the connection', () => isClosed);
});

const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

test('over TLS: a certificate for the name, of an authority that the operator gives', {
  skip: HAS_OPENSSL ? false : 'openssl is missing',
}, async (t) => {
  const directory = temporaryDirectory(t);
  const file = (name: string) => join(directory, name);
  const files = ['-keyout', file('key.pem'), '-out', file('cert.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', '/CN=bot', '-addext', 'subjectAltName=DNS:bot.example,IP:127.0.0.1'];
  const made = spawnSync('openssl', ['req', '-x509', ...key, '-days', '2', ...files, ...names]);
  assert.equal(made.status, 0, made.stderr.toString());
  const seen: string[] = [];
  const [cert, secret] = [readFileSync(file('cert.pem')), readFileSync(file('key.pem'))];
  const server = createServer({ cert, key: secret }, (request, response) => {
    seen.push(`${request.headers.host}`);
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  // trust: it listens on a port
  const { port } = server.address() as AddressInfo;
  const deliver = async (name: string, authorities?: string) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'deliverOnce.ts')], {
      env: { URL_TO: `https://${name}:${port}/hook`, NODE_EXTRA_CA_CERTS: authorities ?? '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return text(child.stdout);
  };
  const [bot, other] = [`bot.example:${port}`, `127.0.0.1:${port}`];
  assert.match(await deliver('bot.example'), /^no answer \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/);
  assert.equal(await deliver('bot.example', file('cert.pem')), 'accepted, then accepted');
  assert.equal(await deliver('127.0.0.1', file('cert.pem')), 'accepted, then accepted');
  const wrong = await deliver('other.example', file('cert.pem'));
  assert.match(wrong, /^no answer \(ERR_TLS_CERT_ALTNAME_INVALID\)$/);
  assert.deepEqual(seen, [bot, bot, other, other]);
});
