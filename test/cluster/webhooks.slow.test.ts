/** Webhooks of several nodes: the leader delivers, and continues where the last leader stopped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf, register, sameTape, tradedToken, webhookEnv } from '../api/webhooks/market.ts';
import { Receiver } from '../api/webhooks/receiver.ts';
import { NatsServer } from '../support/nats.ts';
import { type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { startSharedDevnet } from './sharedDevnet.ts';

const LIMIT_MS = 90_000;

async function roleOf({ url }: Server): Promise<unknown> {
  const answer = await fetch(`${url}/health/ready`);
  return answer.status === 200 ? Reflect.get(Object(await answer.json()), 'role') : null;
}

test('the next leader delivers what the killed one did not', async (t) => {
  const nats = await NatsServer.start(t);
  const { env: chain } = await startSharedDevnet(t, 250);
  const receiver = await Receiver.start(t);
  const keys = webhookEnv();
  const start = (name: string) =>
    startServer(t, [], {
      ...chain,
      ...keys,
      NATS_URL: nats.url,
      NODE_NAME: name,
      // Long enough that a busy machine changes the leader only where the test kills it.
      LEASE_MS: '3000',
      TRADERS_PACE: '10',
      DATA_DIR: temporaryDirectory(),
    });
  const first = await start('first');
  const leads = (server: Server) =>
    untilAsked(
      'it leads',
      () => roleOf(server),
      (role) => role === 'leader',
      LIMIT_MS,
    );
  await leads(first);
  const second = await start('second');
  await untilAsked(
    'it follows',
    () => roleOf(second),
    (role) => role === 'follower',
    LIMIT_MS,
  );
  const client = clientOf(second.url);
  const asset = await tradedToken(client);
  // Registered with a node that does not lead.
  const { id } = await register(client, receiver, asset);
  const known = await sameTape(client, receiver, asset, 1);
  receiver.behaviour = receiver.hold;
  const before = receiver.all.length;
  await until('one is under way', () => receiver.all.length > before);
  await first.program.kill();
  receiver.behaviour = (response) => void response.writeHead(200).end();
  for (const held of receiver.held.splice(0)) held.writeHead(200).end();
  await leads(second);
  await sameTape(client, receiver, asset, known + 1);
  const { data } = await client.webhooks.get(id);
  assert.deepEqual([data.state, data.failures], ['active', 0]);
  const frames = receiver.accepted.flatMap((received) => received.frames);
  const started = frames.filter(({ event }) => event === 'Subscribed');
  const positions = started.map(({ epoch, seq }) => `${epoch}:${seq}`).join();
  assert.equal(started.length, 2, `one snapshot each, not those of ${positions}`);
  await client.webhooks.remove(id);
  client.close();
  await second.stop();
});
