/** A process that is killed while it delivers: the receiver misses nothing, in order. */
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { clientOf, register, sameTape, tradedToken, webhookEnv } from '../api/webhooks/market.ts';
import { answerWith, isSigned, Receiver } from '../api/webhooks/receiver.ts';
import { startServer, temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';

const KILLS = 2;

test('kill -9 in the middle of deliveries loses none and reorders none', async (t) => {
  const directory = temporaryDirectory(t);
  const receiver = await Receiver.start(t);
  const env = {
    ...webhookEnv(),
    NETWORK: 'devnet',
    DATA_DIR: directory,
    BLOCK_EVERY_MS: '250',
    TRADERS_PACE: '10',
  };
  let server = await startServer(t, [], env);
  let client = clientOf(server.url);
  const asset = await tradedToken(client);
  const { id, secret } = await register(client, receiver, asset);
  let known = await sameTape(client, receiver, asset, 1);
  for (let kill = 0; kill < KILLS; kill += 1) {
    // One round refuses the delivery, the other does not answer it.
    receiver.behaviour = kill === 0 ? answerWith(503) : receiver.hold;
    const before = receiver.all.length;
    await until('one is under way', () => receiver.all.length > before);
    await server.program.kill();
    client.close();
    receiver.behaviour = (response) => void response.writeHead(200).end();
    for (const held of receiver.held.splice(0)) held.writeHead(200).end();
    server = await startServer(t, [], env);
    client = clientOf(server.url);
    known = await sameTape(client, receiver, asset, known + 1);
  }
  const found = (await client.webhooks.get(id)).data;
  assert.deepEqual([found.state, found.failures], ['active', 0]);
  assert(receiver.all.every((received) => received.id === id && isSigned(received, secret)));
  const frames = receiver.accepted.flatMap((received) => received.frames);
  assert.equal(frames.filter(({ event }) => event === 'Subscribed').length, 2, 'one snapshot each');
  await client.webhooks.remove(id);
  client.close();
  await server.stop();
});

test('a restored server begins with a snapshot: nothing that is gone stays', async (t) => {
  const [directory, backup] = [temporaryDirectory(t), temporaryDirectory(t)];
  const receiver = await Receiver.start(t);
  const env = {
    ...webhookEnv(),
    NETWORK: 'devnet',
    DATA_DIR: directory,
    BLOCK_EVERY_MS: '250',
    TRADERS_PACE: '4',
  };
  const started = async () => {
    const server = await startServer(t, [], env);
    return { server, client: clientOf(server.url) };
  };
  const stopped = async ({ server, client }: Awaited<ReturnType<typeof started>>) => {
    client.close();
    await server.stop();
  };
  const first = await started();
  const asset = await tradedToken(first.client);
  await register(first.client, receiver, asset);
  const known = await sameTape(first.client, receiver, asset, 1);
  await stopped(first);
  cpSync(directory, backup, { recursive: true });
  const second = await started();
  await sameTape(second.client, receiver, asset, known + 1);
  await stopped(second);
  rmSync(directory, { recursive: true });
  cpSync(backup, directory, { recursive: true });
  const snapshots = () => {
    const frames = receiver.accepted.flatMap((received) => received.frames);
    return frames.filter(({ event }) => event === 'Subscribed').length;
  };
  const before = snapshots();
  const third = await started();
  // The tapes are the same already where nothing was traded after the backup.
  await until('both topics begin again', () => snapshots() === before + 2);
  await sameTape(third.client, receiver, asset, known + 1);
  await stopped(third);
});
