import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Destinations } from '../../../src/api/webhooks/destination.ts';
import { rangesOf } from '../../../src/api/webhooks/publicAddress.ts';
import { webhookRoutes } from '../../../src/api/webhooks/routes.ts';
import { SharedWebhooks } from '../../../src/api/webhooks/sharedStore.ts';
import { Bucket } from '../../../src/cluster/nats/bucket.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { Market } from '../../api/gateway/market.ts';
import { webhooksContract } from '../../contracts/webhooks.ts';
import { NatsServer, PATIENT_MS } from '../../support/nats.ts';

const server = await NatsServer.start({ after });
let made = 0;

webhooksContract('NATS', async (scope) => {
  made += 1;
  const shape = { name: `market${made}-webhooks`, replicas: 1, ttlMs: 0 };
  return {
    open: async () => {
      const link = await server.connect(scope);
      return new SharedWebhooks(new Bucket(link, shape, PATIENT_MS));
    },
  };
});

test('what another program wrote into the bucket is dropped and told of', async (scope) => {
  const link = await server.connect(scope);
  const shape = { name: 'spoiled-webhooks', replicas: 1, ttlMs: 0 };
  const bucket = new Bucket(link, shape, PATIENT_MS);
  const dropped: string[] = [];
  link.messages.onDropped((kind) => dropped.push(kind));
  const all = ['nonsense', 'null', '{}', '{"webhook":{},"progress":{}}'];
  for (const [index, text] of all.entries()) await bucket.put(`webhook.a.${index}`, text);
  assert.deepEqual(await new SharedWebhooks(bucket).all(), []);
  assert.deepEqual(dropped, ['webhook', 'webhook', 'webhook', 'webhook']);
});

test('registrations at several nodes at once do not pass the limit', async (scope) => {
  const shape = { name: 'crowded-webhooks', replicas: 1, ttlMs: 0 };
  const nodes = await Promise.all(
    [1, 2].map(async () => {
      const store = new SharedWebhooks(new Bucket(await server.connect(scope), shape, PATIENT_MS));
      const destinations = new Destinations(rangesOf(['127.0.0.0/8']));
      const topics = new Market().topics();
      const observer = { webhooksNotSaved: (why: string) => assert.fail(why) };
      const common = { clock: systemClock, rng: systemRng, observer };
      const deps = { store, destinations, topics, ...common };
      const [register = assert.fail()] = webhookRoutes(deps);
      return { store, register };
    }),
  );
  const body = {
    url: 'https://127.0.0.1:9009/hook',
    topics: [{ topic: 'Bars', data: { series: 'a' } }],
  };
  const asked = Array.from({ length: 30 }, (_, at) => nodes[at % 2] ?? assert.fail());
  const answers = await Promise.all(
    asked.map(({ register }) => register.handle({ query: {}, params: {}, body, apiKey: 'bot' })),
  );
  const made = answers.filter((answer) => !(answer instanceof Failure)).length;
  for (const answer of answers) {
    assert.ok(!(answer instanceof Failure) || answer.cause === 'LIMIT_EXCEEDED');
  }
  const kept = (await nodes[0]?.store.ownedBy('bot')) ?? assert.fail();
  assert.ok(!(kept instanceof Failure));
  assert.equal(kept.length, made, 'each that was answered is there, and no other');
  assert.ok(made <= 20, `${made} webhooks`);
  // Webhooks that were refused in the race succeed afterwards, up to the limit.
  for (let at = made; at < 21; at += 1) {
    const [node] = nodes;
    const again = await node?.register.handle({ query: {}, params: {}, body, apiKey: 'bot' });
    assert.equal(again instanceof Failure, at === 20, `webhook ${at + 1}`);
  }
});
