/** The check of a receiver: the signature that the server makes, as the client reads it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signatureOf } from '../../src/api/webhooks/sender.ts';
import { isFromWebhook } from '../../src/client/index.ts';

const SECRET = 'a-secret-of-this-test';
const BODY = '[{"event":"TradesUpdate","data":"ä"}]';
const AT_S = 1_800_000_000;
const NOW_MS = AT_S * 1000;

/** The same in clients/python/tests/test_webhooks.py. */
const KNOWN = 't=1800000000,v1=01c9e9934f774bde1e9a6288a9ef74716c609ffcfa9c0af1212d7fbb4a11bbdd';

test('a delivery of the server is known, as text and as bytes', async () => {
  const signature = signatureOf(SECRET, AT_S, BODY);
  assert.equal(signature, KNOWN);
  assert.equal(await isFromWebhook(SECRET, signature, BODY, NOW_MS), true);
  assert.equal(await isFromWebhook(SECRET, signature, Buffer.from(BODY), NOW_MS + 299_000), true);
});

test('another body, secret or time is refused, and what is no signature', async () => {
  const signature = signatureOf(SECRET, AT_S, BODY);
  const is = (secret: string, sent: string, body: string, nowMs = NOW_MS) =>
    isFromWebhook(secret, sent, body, nowMs);
  assert.equal(await is(SECRET, signature, `${BODY} `), false);
  assert.equal(await is(`${SECRET}x`, signature, BODY), false);
  assert.equal(await is(SECRET, signature, BODY, NOW_MS + 301_000), false);
  assert.equal(await is(SECRET, signature, BODY, NOW_MS - 301_000), false);
  const later = signature.replace('t=18', 't=19');
  assert.equal(await is(SECRET, later, BODY, 1_900_000_000_000), false);
  for (const sent of ['', 'v1=00', signature.toUpperCase(), `${signature},v2=0`, 't=1,v1=']) {
    assert.equal(await is(SECRET, sent, BODY), false, sent);
  }
});
