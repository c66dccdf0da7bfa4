/** The official library of Standard Webhooks for JavaScript judges our deliveries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { answerWith, Receiver } from './receiver.ts';
import { BODY, delivered, OWN_SECRET } from './standardDelivery.ts';
import { WebhookWorld } from './world.ts';

test('the official library accepts a delivery with the secret as it was given', async (t) => {
  const { headers, body } = await delivered(t, OWN_SECRET);
  assert.deepEqual(new Webhook(OWN_SECRET).verify(body, headers), JSON.parse(BODY));
  assert.match(headers['webhook-id'] ?? '', /^wh_1_abc$/);
  assert.match(headers['webhook-timestamp'] ?? '', /^\d{10}$/);
});

test('another body, id, time or secret is refused by it', async (t) => {
  const { headers, body } = await delivered(t, OWN_SECRET);
  const webhook = new Webhook(OWN_SECRET);
  const later = String(Number(headers['webhook-timestamp']) + 1);
  assert.throws(() => webhook.verify(`${body} `, headers));
  assert.throws(() => webhook.verify(body, { ...headers, 'webhook-id': 'wh_2' }));
  assert.throws(() => webhook.verify(body, { ...headers, 'webhook-timestamp': later }));
  assert.throws(() => new Webhook(OWN_SECRET.replace('0', '1')).verify(body, headers));
});

test('a secret of the user verifies in each way in which the library can read it', async (t) => {
  const words = 'a secret, with no base64';
  const text = await delivered(t, words);
  new Webhook(words, { format: 'raw' }).verify(text.body, text.headers);
  const both = 'c2VjcmV0LW9mLWEtdXNlci0yNC1ieXRlcw==';
  const { headers, body } = await delivered(t, both);
  new Webhook(both).verify(body, headers);
  new Webhook(both, { format: 'raw' }).verify(body, headers);
  const prefixed = `whsec_${both}`;
  const own = await delivered(t, prefixed);
  new Webhook(prefixed).verify(own.body, own.headers);
});

test('the id is the same where the same frames come again, and another for others', async (t) => {
  const world = new WebhookWorld(t);
  const receiver = await Receiver.start(t);
  world.start();
  receiver.behaviour = answerWith(503);
  await world.add(receiver.url, [{ topic: 'Bars', data: { series: 'a' } }]);
  await receiver.received(1);
  await world.ticksUntil('it failed', () => world.errors.length === 1);
  await world.clock.advance(1_000);
  await receiver.received(2);
  await world.ticksUntil('it failed again', () => world.errors.length === 2);
  world.market.trade('a', 1, { final: true });
  await world.clock.advance(2_000);
  await receiver.received(3);
  const [first, again, more] = receiver.all.map(({ messageId }) => messageId);
  assert.notEqual(receiver.all[0]?.body, receiver.all[1]?.body, 'the time in it differs');
  assert.equal(first, again);
  assert.notEqual(again, more);
});
