/** The client through everything that a network and a server may do to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type ClientOptions, type Notice } from '../../src/client/index.ts';
import { newTestApp, startTestApp } from '../support/app.ts';
import { lineOf, rollbackLine, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import { TcpProxy } from '../support/tcpProxy.ts';
import { until } from '../support/until.ts';
import { assertSame, barsLikeHttp } from './sameAsHttp.ts';

const NOON_MS = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const DEADLINE_MS = 30_000;
/** Without a chain: the bars come from a feed. */
const ENV = { NETWORK: 'none' };
const GATEWAY = { heartbeatMs: 50, sweepMs: 10 };

function clientOf(scope: Scope, options: ClientOptions): Client {
  const client = new Client(options);
  scope.after(() => client.close());
  return client;
}

let made = 0;

function trade(minute: number, price: string): string {
  made += 1;
  return lineOf({ ...tradeAt(NOON_MS + minute * MINUTE_MS, price), id: `${made}` });
}

const WAYS = {
  json: {},
  msgpack: { encoding: 'msgpack' },
  'server-sent events': { transport: 'events' },
} as const;

for (const [way, options] of Object.entries(WAYS)) {
  test(`bars continue after a cut, a silence and a killed server, in ${way}`, async (t) => {
    const directory = temporaryDirectory();
    const first = await startTestApp(t, { directory, env: ENV, gateway: GATEWAY });
    const proxy = await TcpProxy.start(t, first.app.port);
    const client = clientOf(t, { url: proxy.url, silenceMs: 1_000, ...options });
    await first.feed([trade(0, '1'), trade(1, '2'), trade(2, '3')].join('\n'));
    const bars = client.bars(TOKEN_COIN, 'min1', { limit: 2 });
    const compared = barsLikeHttp(client, bars, TOKEN_COIN, 'min1');
    await bars.ready();
    await assertSame(compared, 'loaded');
    assert.deepEqual([bars.state.bars.length, bars.state.hasOlder], [2, true]);
    const notices: Notice[] = [];
    client.connection.onNotice((notice) => notices.push(notice));

    await until('open', () => client.connection.state.is === 'open', DEADLINE_MS);
    proxy.cut();
    await first.feed([trade(3, '4'), trade(4, '5')].join('\n'));
    await until('what happened meanwhile', () => bars.state.bars.length === 4, DEADLINE_MS);
    await assertSame(compared, 'after a cut');

    proxy.hold();
    await first.feed([trade(4, '9'), trade(5, '6')].join('\n'));
    await until('it gave up waiting', () => client.connection.state.is !== 'open', DEADLINE_MS);
    proxy.release();
    await until('and came back', () => client.connection.state.is === 'open', DEADLINE_MS);
    await until('with the news', () => bars.state.bars.at(-1)?.close === '6', DEADLINE_MS);
    await assertSame(compared, 'after a silence');

    await first.stop();
    await until('waiting', () => client.connection.state.is === 'waiting', DEADLINE_MS);
    assert.equal(bars.state.bars.at(-1)?.close, '6', 'what is known stays');
    const second = await startTestApp(t, { directory, env: ENV, gateway: GATEWAY });
    await second.feed([trade(6, '7'), rollbackLine(NOON_MS + 4 * MINUTE_MS)].join('\n'));
    await second.feed(trade(7, '8'));
    proxy.target = second.app.port;
    await until('back', () => bars.state.bars.at(-1)?.close === '8', DEADLINE_MS);
    await assertSame(compared, 'after a restart with a rollback');
    assert.deepEqual(notices, [], 'everything came, nothing had to be loaded again');
    assert.equal(await bars.loadOlder(), true);
    await assertSame(compared, 'with older bars');
    assert.equal(bars.state.hasOlder, false);
  });
}

test('another node continues where the first one was; calls go there too', async (t) => {
  const [one, two] = [await newTestApp(t, { env: ENV }), await newTestApp(t, { env: ENV })];
  const proxies = [await TcpProxy.start(t, one.app.port), await TcpProxy.start(t, one.app.port)];
  const [near, far] = proxies;
  assert(near !== undefined && far !== undefined);
  await one.feed([trade(0, '1'), trade(1, '2')].join('\n'));
  const client = clientOf(t, { url: [near.url, far.url], silenceMs: 2_000 });
  const bars = client.bars(TOKEN_COIN, 'min1');
  await bars.ready();
  await until('open', () => client.connection.state.is === 'open', DEADLINE_MS);
  near.isClosed = true;
  near.cut();
  await until('elsewhere', () => client.connection.state.node === far.url, DEADLINE_MS);
  await one.feed(trade(1, '3'));
  await until('the news', () => bars.state.bars.at(-1)?.close === '3', DEADLINE_MS);
  assert.equal((await client.server.ready()).data.synced, true);
  await assertSame(barsLikeHttp(client, bars, TOKEN_COIN, 'min1'), 'on another node');
  // In another log, nothing of the client's state is valid.
  await two.feed([trade(0, '5'), trade(3, '6')].join('\n'));
  far.target = two.app.port;
  far.cut();
  await until('the other market', () => bars.state.bars.at(-1)?.close === '6', DEADLINE_MS);
  await assertSame(barsLikeHttp(client, bars, TOKEN_COIN, 'min1'), 'in another log');
});

test('a pair that the server does not know yet; two ways to listen; an end', async (t) => {
  const app = await newTestApp(t, { env: ENV });
  const client = clientOf(t, { url: app.url });
  const bars = client.bars(TOKEN_COIN, 'min5');
  assert.deepEqual(await bars.ready(), {
    isKnown: false,
    bars: [],
    standing: null,
    hasOlder: false,
  });
  const closes: string[] = [];
  bars.onChange(({ bars: now }) => closes.push(now.at(-1)?.close ?? ''));
  const fed = app.feed([trade(0, '1'), trade(5, '2'), trade(10, '4')].join('\n'));
  for await (const { bars: now } of bars) if (now.at(-1)?.close === '4') break;
  await fed;
  assert.equal(closes.at(-1), '4');
  assert.deepEqual([bars.isClosed, bars.error], [true, null], 'leaving the loop closes it');
  assert.equal(await bars.loadOlder(), false);
});

test('refusals end a mirror in the words of the API; a closed client is quiet', async (t) => {
  const app = await newTestApp(t, { env: ENV });
  const client = clientOf(t, { url: app.url });
  const wrong = client.pool('nonsense');
  const ended = Promise.withResolvers<string>();
  wrong.onError(({ cause }) => ended.resolve(cause));
  await assert.rejects(wrong.ready(), { name: 'ApiError', cause: 'INVALID_PARAMS' });
  assert.equal(await ended.promise, 'INVALID_PARAMS');
  assert.equal(wrong.error?.cause, 'INVALID_PARAMS');
  const health = client.health();
  await health.ready();
  const rest = (async () => {
    let seen = 0;
    for await (const state of health) seen += state === null ? 0 : 1;
    return seen;
  })();
  await until('open', () => client.connection.state.is === 'open', DEADLINE_MS);
  client.close();
  assert((await rest) > 0, 'the loop ends');
  assert.deepEqual([health.isClosed, health.error], [true, null]);
  assert.equal(client.connection.state.is, 'closed');
  await assert.rejects(client.topPool().ready(), { cause: 'STOPPED' });
  await assert.rejects(client.server.time(), { cause: 'STOPPED' });
});

test('a server that closes for good is obeyed', async (t) => {
  const app = await newTestApp(t, { env: ENV });
  const client = clientOf(t, {
    url: app.url,
    // Offers a protocol that the server does not know.
    openSocket: (url) => new WebSocket(url, ['carrier-pigeon']) as never,
  });
  const top = client.topPool();
  await assert.rejects(top.ready(), { cause: 'CLOSED' });
  assert.equal(client.connection.state.is, 'closed');
  assert.match(client.connection.state.why ?? '', /4500/);
});
