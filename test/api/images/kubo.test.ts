/** Images on an IPFS node: the contract, and nodes that answer wrong, late or not at all. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { cidOf } from '../../../src/api/images/cid.ts';
import { KuboImages } from '../../../src/api/images/kubo.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { imagesContract, NOWHERE } from '../../contracts/images.ts';
import { startNode } from './node.ts';
import { png } from './samples.ts';

const BYTES = png(8, 8, Buffer.alloc(400_000, 'kubo'));

function imagesAt(url: string, timeoutMs = 60_000): KuboImages {
  return new KuboImages({ url, clock: systemClock, timeoutMs });
}

imagesContract('images on an IPFS node', async (scope) => {
  const node = await startNode(scope);
  return { open: async () => imagesAt(node.url) };
});

async function putFails(images: KuboImages, why: RegExp): Promise<void> {
  const answer = await images.put(BYTES, 'image/png');
  assert.ok(answer instanceof Failure, String(answer));
  assert.equal(answer.cause, 'NOT_READY');
  assert.match(answer.message, why);
}

async function getFails(images: KuboImages, why: RegExp): Promise<void> {
  const answer = await images.get(await cidOf(BYTES));
  assert.ok(answer instanceof Failure, 'got an image');
  assert.equal(answer.cause, 'NOT_READY');
  assert.match(answer.message, why);
}

test('it is asked to pin, with the settings that make our ids, and never to search', async (t) => {
  const node = await startNode(t);
  const images = imagesAt(`${node.url}/`);
  const cid = await images.put(BYTES, 'image/png');
  await images.get(String(cid));
  for (const text of NOWHERE.slice(2)) await images.get(text);
  assert.deepEqual(node.asked, [
    'POST /api/v0/add?cid-version=1&raw-leaves=true&chunker=size-262144&pin=true&progress=false',
    `POST /api/v0/cat?arg=${cid}&length=5242881&offline=true`,
  ]);
});

test('user and password of the url are sent, and a path before the api is kept', async (t) => {
  const node = await startNode(t);
  const url = new URL(`${node.url}/tenant/`);
  url.username = 'me';
  url.password = 'p:w/é';
  await imagesAt(url.href).get(await cidOf(BYTES));
  assert.match(node.asked[0] ?? '', /^POST \/tenant\/api\/v0\/cat\?/);
  const basic = `Basic ${Buffer.from('me:p:w/é').toString('base64')}`;
  assert.deepEqual(node.authorizations, [basic]);
});

test('a node that calls the image otherwise is not believed', async (t) => {
  const node = await startNode(t);
  const other = await cidOf(Buffer.from('other'));
  const texts = [
    JSON.stringify({ Name: 'x', Hash: other }),
    JSON.stringify({ Name: 'x', Hash: 'QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn' }),
    JSON.stringify({ Name: 'x', Bytes: 400_000 }),
    JSON.stringify({ Hash: 5 }),
    '<html>It works!</html>',
    '',
    'null',
    `${JSON.stringify({ Hash: await cidOf(BYTES) })}\n${JSON.stringify({ Hash: other })}`,
  ];
  for (const text of texts) {
    node.respond = (_request, response) => void response.end(text);
    await putFails(imagesAt(node.url), /it calls the image (bafk|Qm|nothing).*, not bafybei/);
  }
});

test('a node that gives other bytes for an id is not believed', async (t) => {
  const node = await startNode(t);
  for (const bytes of [png(1, 1), BYTES.subarray(0, -1), Buffer.from('<html>')]) {
    node.respond = (_request, response) => void response.end(bytes);
    await getFails(imagesAt(node.url), /has another id/);
  }
});

test('other files of a node are not given away', async (t) => {
  const node = await startNode(t);
  for (const bytes of [Buffer.from('<script>'), png(1, 1, Buffer.alloc(6 << 20))]) {
    const cid = await cidOf(bytes);
    node.held.set(cid, bytes);
    assert.equal(await imagesAt(node.url).get(cid), null);
  }
});

test('errors of a node carry its message', async (t) => {
  const node = await startNode(t);
  const responders: [(response: ServerResponse) => void, RegExp][] = [
    [(to) => to.writeHead(500).end('{"Message":"disk is full"}'), /500: disk is full/],
    [(to) => to.writeHead(500).end('oh'), /it answered 500;/],
    [(to) => to.writeHead(403).end('403 - Forbidden'), /it answered 403;/],
    [(to) => to.writeHead(302, { location: '/' }).end(), /redirect/],
    [(to) => to.destroy(), /SOCKET|other side closed/],
    [(to) => to.writeHead(200, { 'content-length': '100' }).write('{', () => to.destroy()), /./],
  ];
  for (const [respond, why] of responders) {
    node.respond = (request, response) => {
      request.resume();
      request.on('end', () => respond(response));
    };
    await putFails(imagesAt(node.url), why);
    await getFails(imagesAt(node.url), why);
  }
  node.respond = null;
  assert.equal(await imagesAt(node.url).put(BYTES, 'image/png'), await cidOf(BYTES));
});

test('a node that hangs, before or in the middle of its answer, is left in time', {
  timeout: 60_000,
}, async (t) => {
  const node = await startNode(t);
  const responders: ((response: ServerResponse) => void)[] = [
    () => {},
    (to) => to.writeHead(200).flushHeaders(),
    (to) => void to.writeHead(200).write('{"Hash":'),
  ];
  for (const respond of responders) {
    node.respond = (_request, response) => respond(response);
    await putFails(imagesAt(node.url, 200), /no answer within 200 ms/);
    await getFails(imagesAt(node.url, 200), /no answer within 200 ms/);
  }
});

test('an answer without end is not read to its end', async (t) => {
  const node = await startNode(t);
  let sent = 0;
  node.respond = (_request, response) => {
    const more = () => {
      while (!response.destroyed) {
        sent += 65_536;
        if (!response.write(Buffer.alloc(65_536, 32))) return void response.once('drain', more);
      }
    };
    more();
  };
  await putFails(imagesAt(node.url), /nothing/);
  assert.equal(await imagesAt(node.url).get(await cidOf(BYTES)), null);
  assert.ok(sent < 40 * 1_048_576, `${sent} bytes`);
});

test('no node there is a failure', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  server.close();
  await putFails(imagesAt(`http://127.0.0.1:${port}`), /ECONNREFUSED/);
});
