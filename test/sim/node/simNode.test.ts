import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { DOGE_COIN } from '../../support/feeds.ts';
import { aloneNode, BARS, feed, trades } from './aloneNode.ts';

test('a node answers over HTTP and a socket, and what was synced outlives a kill', async (t) => {
  const { time, node } = aloneNode(t);
  await time.settle(node.start(), 60_000);
  await time.settle(
    node.run((app) => feed(app, trades(0, 200))),
    60_000,
  );
  const frames: string[] = [];
  const socket = node.connect();
  assert.ok(socket !== null);
  let code = 0;
  socket.onMessage = (text) => void frames.push(text);
  socket.onClose = (given) => {
    code = given;
  };
  socket.send(
    JSON.stringify({
      messageType: 'subscribe',
      requestId: 'r1',
      topic: 'LastBar',
      data: { pair: { base: DOGE_COIN.base, quote: 'ADA' }, interval: 'min1' },
    }),
  );
  await time.run(time.nowMs + 100);
  assert.match(frames[0] ?? '', /"snapshot":true/);
  const before = await time.settle(node.request('GET', BARS), 1000);
  assert.equal(before?.status, 200);
  node.kill();
  await time.run(time.nowMs + 10);
  assert.equal(code, 1006);
  assert.equal(await time.settle(node.request('GET', '/health/live'), 1000), null);
  await time.settle(node.start(), 60_000);
  // It reads the end of its log from a thread while it listens already.
  await time.run(time.nowMs + 100);
  const after = await time.settle(node.request('GET', BARS), 1000);
  assert.equal(after?.body, before?.body);
  assert.equal(after?.headers['x-position'], before?.headers['x-position']);
});

test('a node that is paused answers late, one that stops says so to its sockets', async (t) => {
  const { time, node } = aloneNode(t);
  await time.settle(node.start(), 60_000);
  node.pause();
  const asked = node.request('GET', '/health/live');
  await assert.rejects(time.settle(asked, 60_000), /not settled/);
  node.resume();
  assert.equal((await time.settle(asked, 10))?.status, 200);
  const socket = node.connect();
  const frames: string[] = [];
  const codes: number[] = [];
  if (socket !== null) {
    socket.onMessage = (text) => void frames.push(text);
    socket.onClose = (code) => void codes.push(code);
  }
  await time.run(time.nowMs + 50);
  await time.settle(node.stop(), 20_000);
  assert.match(frames.at(-1) ?? '', /"Shutdown"/);
  assert.deepEqual(codes, [4001]);
  assert.equal(node.ended, null);
});

test('a socket that stops reading is held back, and gets all once it reads', async (t) => {
  const { time, node } = aloneNode(t, {
    connectionBytes: 2_048,
    gateway: { behindBytes: 2_048, wakeBytes: 1_024, bufferBytes: 8_192 },
  });
  await time.settle(node.start(), 60_000);
  await time.settle(
    node.run((app) => feed(app, trades(0, 10))),
    60_000,
  );
  const socket = node.connect();
  assert.ok(socket !== null);
  const frames: string[] = [];
  socket.onMessage = (text) => void frames.push(text);
  socket.send(
    JSON.stringify({
      messageType: 'subscribe',
      requestId: 'r1',
      topic: 'LastBar',
      data: { pair: { base: DOGE_COIN.base, quote: 'ADA' }, interval: 'min1' },
    }),
  );
  await time.run(time.nowMs + 100);
  socket.stopReading();
  for (let round = 1; round < 20; round += 1) {
    await time.settle(
      node.run((app) => feed(app, trades(round * 10, 10))),
      60_000,
    );
    await time.run(time.nowMs + 500);
  }
  const unread = frames.length;
  socket.read();
  await time.run(time.nowMs + 1000);
  assert.ok(frames.length > unread);
  const { seq } = await time.settle(
    node.run((app) => app.node.applied()),
    1000,
  );
  const late = frames.slice(unread).join('\n');
  assert.match(late, /"event":"(BarsRevised|Resync)"/);
  assert.match(late, new RegExp(`"event":"LastBarUpdate","messageType":"Response".*"seq":${seq}`));
});

test('a full disk refuses commits and is reported; with room the node continues', async (t) => {
  const { time, disk, node, lines } = aloneNode(t);
  await time.settle(node.start(), 60_000);
  disk.fill(node.directory);
  const fed = node.run((app) => feed(app, trades(0, 50)));
  fed.catch(() => {});
  await time.run(time.nowMs + 30_000);
  assert.ok(lines.some((line) => line.includes('SQLITE_FULL')));
  disk.free(node.directory);
  await time.run(time.nowMs + 30_000);
  await time.settle(
    node.run((app) => feed(app, trades(0, 50))).catch(() => {}),
    60_000,
  );
  const bars = await time.settle(node.request('GET', BARS), 1000);
  assert.equal(bars?.status, 200);
});

test('the same seed gives the same run', async (t) => {
  const digests: string[] = [];
  for (let run = 0; run < 2; run += 1) {
    const { time, node, lines, end } = aloneNode(t);
    await time.settle(node.start(), 60_000);
    await time.settle(
      node.run((app) => feed(app, trades(0, 300))),
      60_000,
    );
    await time.run(time.nowMs + 60_000);
    node.kill();
    await time.settle(node.start(), 60_000);
    const applied = node.run((app) => JSON.stringify(app.node.applied()));
    const position = await time.settle(applied, 1000);
    digests.push(hash('sha256', [...lines, position, String(time.events)].join('\n')));
    end();
  }
  assert.equal(digests[0], digests[1]);
});

test('a node without clients sleeps', async (t) => {
  const { time, node } = aloneNode(t);
  await time.settle(node.start(), 60_000);
  const before = time.events;
  await time.run(time.nowMs + 3_600_000);
  assert.ok(time.events - before <= 3_600 / 10, `${time.events - before} events in an hour`);
});
