/** Clients that saw more than a restored server has: they load everything again. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client, type Notice } from '../../src/client/index.ts';
import { assertSound, startTestApp, type TestApp, verifyDirectory } from '../support/app.ts';
import { lineOf, rollbackLine, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { temporaryDirectory } from '../support/server.ts';
import { TcpProxy } from '../support/tcpProxy.ts';
import { until } from '../support/until.ts';
import { assertSame, barsLikeHttp } from './sameAsHttp.ts';

const NOON_MS = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const DEADLINE_MS = 30_000;
const ENV = { NETWORK: 'none', HORIZON_BLOCKS: '3' };

let made = 0;

function trades(from: number, count: number, price = (minute: number) => minute + 1): string {
  const lines = Array.from({ length: count }, (_, index) => {
    made += 1;
    const minute = from + index;
    const trade = tradeAt(NOON_MS + minute * MINUTE_MS, `${price(minute)}`);
    return lineOf({ ...trade, id: `${made}` });
  });
  return lines.join('\n');
}

const WAYS = {
  json: {},
  msgpack: { encoding: 'msgpack' },
  'server-sent events': { transport: 'events' },
} as const;

/** `epochs`: what happened after the backup, beside new trades. */
async function restores(t: test.TestContext, epochs: number, way: keyof typeof WAYS) {
  const directory = temporaryDirectory();
  const backup = temporaryDirectory();
  const first = await startTestApp(t, { directory, env: ENV });
  await first.feed(trades(0, 10));
  await first.stop();
  cpSync(directory, backup, { recursive: true });
  const second = await startTestApp(t, { directory, env: ENV });
  const address = await TcpProxy.start(t, second.app.port);
  const client = new Client({ url: address.url, ...WAYS[way] });
  t.after(() => client.close());
  const bars = client.bars(TOKEN_COIN, 'min1');
  const compared = barsLikeHttp(client, bars, TOKEN_COIN, 'min1');
  await bars.ready();
  await second.feed(trades(10, 10));
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    await second.feed(`${rollbackLine(NOON_MS + 5 * MINUTE_MS)}\n${trades(5, 15)}`);
  }
  const seen = second.app.node.applied();
  assert.match(seen.epoch, new RegExp(`^${1 + epochs}-`));
  // The bars of an earlier epoch are as many; its end would be told before the test listens.
  await assertSame(compared, 'before the restore');
  assert.equal(bars.state.bars.length, 20);
  await second.stop();
  rmSync(directory, { recursive: true });
  cpSync(backup, directory, { recursive: true });
  const notices: Notice[] = [];
  client.connection.onNotice((notice) => notices.push(notice));
  const third = await startTestApp(t, { directory, env: ENV });
  address.target = third.app.port;
  await until('the client is back', () => bars.state.bars.length === 10, DEADLINE_MS);
  await assertSame(compared, 'restored');
  assert(notices.length > 0, 'and says that all was loaded again');
  await continues(third, bars, compared);
  const headers = { 'x-min-position': `${seen.epoch}:${seen.seq}` };
  const asked = await fetch(`${third.url}/v1/utility/server/time`, { headers });
  assert.equal(asked.status, 200);
}

async function continues(
  app: TestApp,
  bars: { readonly state: { readonly bars: readonly unknown[] } },
  compared: Parameters<typeof assertSame>[0],
): Promise<void> {
  await app.feed(trades(10, 2));
  await until('new trades come', () => bars.state.bars.length === 12, DEADLINE_MS);
  await assertSame(compared, 'after new trades');
}

for (const way of ['json', 'msgpack', 'server-sent events'] as const) {
  test(`a client of two later epochs loads a restored market again, in ${way}`, (t) => {
    return restores(t, 2, way);
  });
}

test('a client beyond the end of a restored log, in the same epoch', (t) => {
  return restores(t, 0, 'json');
});

/** Puts the backup in the place of what served; `in place`: over its files, as cp does. */
const RESTORES = {
  'an empty directory': (backup: string, directory: string) => {
    rmSync(directory, { recursive: true });
    cpSync(backup, directory, { recursive: true });
  },
  'the files in place': (backup: string, directory: string) => {
    for (const name of readdirSync(backup)) {
      const from = join(backup, name);
      if (statSync(from).isFile()) writeFileSync(join(directory, name), readFileSync(from));
    }
  },
} as const;

async function growsPast(
  t: test.TestContext,
  way: keyof typeof WAYS,
  restore: keyof typeof RESTORES,
) {
  const directory = temporaryDirectory();
  const backup = temporaryDirectory();
  const start = () => startTestApp(t, { directory, env: ENV });
  const first = await start();
  await first.feed(trades(0, 10));
  await first.stop();
  cpSync(directory, backup, { recursive: true });
  const second = await start();
  const before = second.app.node.applied();
  const address = await TcpProxy.start(t, second.app.port);
  const client = new Client({ url: address.url, ...WAYS[way] });
  t.after(() => client.close());
  const bars = client.bars(TOKEN_COIN, 'min1');
  const compared = barsLikeHttp(client, bars, TOKEN_COIN, 'min1');
  await bars.ready();
  await second.feed(trades(10, 10));
  const seen = second.app.node.applied();
  assert.equal(seen.epoch, before.epoch, 'a start of the same directory stays in its epoch');
  await assertSame(compared, 'before the restore');
  assert.equal(bars.state.bars.length, 20);
  address.isClosed = true;
  await second.stop();
  RESTORES[restore](backup, directory);
  // The client cannot reach this server, whose log grows past the client's position.
  const third = await start();
  await third.feed(trades(10, 30, (minute) => 100 + minute));
  const grown = third.app.node.applied();
  assert(grown.seq > seen.seq);
  assert.match(grown.epoch, /^2-/);
  await third.stop();
  const fourth = await start();
  address.target = fourth.app.port;
  address.isClosed = false;
  assert.equal(fourth.app.node.applied().epoch, grown.epoch, 'once for a restore');
  await until('the client is back', () => bars.state.bars.length === 40, DEADLINE_MS);
  await assertSame(compared, 'restored');
  await fourth.stop();
  assertSound(await verifyDirectory(directory, 3));
}

for (const way of ['json', 'msgpack', 'server-sent events'] as const) {
  test(`a restored log that grew past a client, in ${way}`, (t) => {
    return growsPast(t, way, 'an empty directory');
  });
}

test('a backup that was written over the files that served', (t) => {
  return growsPast(t, 'json', 'the files in place');
});

test('a node behind X-Min-Position of before a restore answers what it has', async (t) => {
  const directory = temporaryDirectory();
  const first = await startTestApp(t, { directory, env: ENV });
  await first.feed(trades(0, 10));
  const seen = first.app.node.applied();
  await first.stop();
  // The file that an operator writes after restoring the whole disk from a copy.
  writeFileSync(join(directory, 'created-at'), 'restored\n');
  const second = await startTestApp(t, { directory, env: ENV });
  assert.match(second.app.node.applied().epoch, /^2-/);
  const headers = { 'x-min-position': `${seen.epoch}:${seen.seq + 100}` };
  const asked = await fetch(`${second.url}/v1/utility/server/time`, { headers });
  assert.equal(asked.status, 200);
});
