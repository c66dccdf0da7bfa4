/** Where a network blocks WebSockets, server-sent events take their place, and give it back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type ClientOptions, type Fetch, systemPlatform } from '../../src/client/index.ts';
import { newTestApp } from '../support/app.ts';
import { lineOf, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import type { Scope } from '../support/server.ts';
import { until } from '../support/until.ts';
import { assertSame, barsLikeHttp } from './sameAsHttp.ts';

const NOON_MS = Date.UTC(2026, 0, 5, 12);
const DEADLINE_MS = 30_000;
const ENV = { NETWORK: 'none' };
const GATEWAY = { heartbeatMs: 50, sweepMs: 10 };
const INTERVALS = ['min1', 'min3', 'min5', 'min15', 'min30', 'hour1', 'hour2', 'hour4'] as const;
const WAYS = [
  {},
  { fill: 'previous' },
  { price: 'spot' },
  { fill: 'previous', price: 'spot' },
] as const;

function trade(id: number, minute: number, price: string): string {
  return lineOf({ ...tradeAt(NOON_MS + minute * 60_000, price), id: `${id}` });
}

/** A client in a network that refuses upgrades while `network.isBlocked`. */
function clientOf(scope: Scope, options: ClientOptions) {
  const network = { isBlocked: true };
  const client = new Client({
    openSocket: (url, protocol) =>
      systemPlatform.openSocket(network.isBlocked ? `${url}/blocked` : url, protocol),
    ...options,
  });
  scope.after(() => client.close());
  const notices: string[] = [];
  client.connection.onNotice(({ reason }) => notices.push(reason));
  return { client, network, notices };
}

test('more subscriptions than a stream takes, by events and by a WebSocket again', async (t) => {
  const app = await newTestApp(t, { env: ENV, gateway: GATEWAY });
  const { client, network, notices } = clientOf(t, { url: app.url });
  await app.feed([trade(1, 0, '1'), trade(2, 1, '2')].join('\n'));
  const mirrors = INTERVALS.flatMap((interval) =>
    WAYS.map((way) => {
      const bars = client.bars(TOKEN_COIN, interval, way);
      return { bars, interval, isPlain: way === WAYS[0] };
    }),
  );
  const check = async (when: string) => {
    for (const { bars, interval, isPlain } of mirrors) {
      if (!isPlain) continue;
      await assertSame(barsLikeHttp(client, bars, TOKEN_COIN, interval), `${interval} ${when}`);
    }
  };
  for (const { bars } of mirrors) await bars.ready();
  const { connection } = client;
  await until('events', () => connection.state.transport === 'events', DEADLINE_MS);
  await until('open', () => connection.state.is === 'open', DEADLINE_MS);
  await app.feed(trade(3, 2, '3'));
  await check('by events');
  await until('a ping of all streams', () => connection.state.position !== null, DEADLINE_MS);

  const wrong = client.pool('nonsense');
  await assert.rejects(wrong.ready(), { cause: 'INVALID_PARAMS' });
  for (const { bars } of mirrors.splice(4)) bars.close();
  await app.feed(trade(4, 3, '4'));
  await check('beside one that was refused');

  network.isBlocked = false;
  await until('a WebSocket', () => connection.state.transport === 'socket', DEADLINE_MS);
  await app.feed(trade(5, 4, '5'));
  await check('by a WebSocket');
  assert.deepEqual(notices, [], 'nothing was loaded again');
});

test('an event that never came is noticed with the next one', async (t) => {
  const app = await newTestApp(t, { env: ENV, gateway: GATEWAY });
  const [bar, ping] = ['LastBarUpdate', 'event: Ping'];
  let refused: readonly string[] = [];
  let lost = 0;
  const keep = (event: string) => {
    const isKept = !refused.some((words) => event.includes(words));
    lost += !isKept && event.includes(bar) ? 1 : 0;
    return isKept;
  };
  const way = { fetch: lossyFetch(keep), transport: 'events', silenceMs: 2 * DEADLINE_MS } as const;
  const { client, notices } = clientOf(t, { url: app.url, ...way });
  await app.feed(trade(1, 0, '1'));
  const bars = client.bars(TOKEN_COIN, 'min1');
  await bars.ready();
  await app.feed(trade(2, 1, '2'));
  await until('live', () => bars.state.bars.at(-1)?.close === '2', DEADLINE_MS);
  // A ping before the next bar would say that all has come.
  refused = [bar, ping];
  await app.feed(trade(3, 2, '3'));
  await until('lost', () => lost > 0, DEADLINE_MS);
  refused = [ping];
  await app.feed(trade(4, 3, '4'));
  await until('whole again', () => bars.state.bars.length === 4, DEADLINE_MS);
  refused = [];
  await assertSame(barsLikeHttp(client, bars, TOKEN_COIN, 'min1'), 'after a loss');
  assert.deepEqual(notices, ['loss']);
});

test('a key that the server does not know ends the client', async (t) => {
  const app = await newTestApp(t, { env: ENV });
  const key = `upc_${'0'.repeat(43)}`;
  const { client } = clientOf(t, { url: app.url, key, transport: 'events' });
  await assert.rejects(client.health().ready(), { cause: 'CLOSED' });
  assert.match(client.connection.state.why ?? '', /4501/);
});

/** A fetch whose event streams lose the events that `keep` refuses. */
function lossyFetch(keep: (event: string) => boolean): Fetch {
  return async (url, init) => {
    const response = await systemPlatform.fetch(url, init);
    if (!url.endsWith('/v1/stream') || response.body === null) return response;
    let rest = '';
    const lossy = new TransformStream<string, string>({
      transform(part, controller) {
        const events = (rest + part).split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) if (keep(event)) controller.enqueue(`${event}\n\n`);
      },
    });
    const body = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(lossy)
      .pipeThrough(new TextEncoderStream());
    return new Response(body, response);
  };
}
