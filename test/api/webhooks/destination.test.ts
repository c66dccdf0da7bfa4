/** Where webhooks lead: URLs of strangers, a real DNS server that lies, certificates. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Destinations } from '../../../src/api/webhooks/destination.ts';
import type { Webhook } from '../../../src/api/webhooks/port.ts';
import { rangesOf } from '../../../src/api/webhooks/publicAddress.ts';
import { Sender } from '../../../src/api/webhooks/sender.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
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
    sender.send(webhookTo(url), { body: '[]', position: '1-a:1', attempt });
  const checked = async (url: string) => {
    const found = await destinations.check(url);
    return found instanceof Failure ? (found.details?.[0]?.message ?? '') : found.href;
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

test('what the operator allows is reached also without TLS; others need it', async (t) => {
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
