/** The client notices frames that do not fit, and asks again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { DevnetWorld } from '../e2e/devnet/world.ts';
import { newTestApp } from '../support/app.ts';
import { lineOf, rollbackLine, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { until } from '../support/until.ts';
import { lossySockets, type Tamper } from './lossySocket.ts';
import { Person } from './person.ts';
import { assertSame, barsLikeHttp } from './sameAsHttp.ts';

const NOON_MS = Date.UTC(2026, 0, 5, 12);
const DEADLINE_MS = 30_000;
const passed: Tamper = (text) => text;

function trade(id: number, minute: number, price: string): string {
  return lineOf({ ...tradeAt(NOON_MS + minute * 60_000, price), id: `${id}` });
}

test('a frame that never came is noticed with the next one', async (t) => {
  const app = await newTestApp(t, { env: { NETWORK: 'none' } });
  const tamper = { with: passed };
  const openSocket = lossySockets(tamper);
  const client = new Client({ url: app.url, openSocket, silenceMs: 2 * DEADLINE_MS });
  t.after(() => client.close());
  const reasons: string[] = [];
  client.connection.onNotice(({ reason }) => reasons.push(reason));
  await app.feed(trade(1, 0, '1'));
  const bars = client.bars(TOKEN_COIN, 'min1');
  await bars.ready();
  await app.feed(trade(2, 1, '2'));
  await until('live', () => bars.state.bars.at(-1)?.close === '2', DEADLINE_MS);
  let dropped = 0;
  // Pings are kept, with an old position: a newer one would reveal the loss. Without any ping the
  // client would send no pong, and after 30 s, which a slow machine may need, the server would
  // close the socket.
  const oldPings: Tamper = (text) => {
    const frame = JSON.parse(text);
    if (frame.event !== 'Ping') return text;
    return JSON.stringify({ ...frame, data: { ...frame.data, seq: 0 } });
  };
  tamper.with = (text) => {
    if (!text.includes('LastBarUpdate')) return oldPings(text);
    dropped += 1;
    return null;
  };
  await app.feed([trade(3, 2, '3'), trade(4, 3, '4')].join('\n'));
  await until('dropped', () => dropped > 0, DEADLINE_MS);
  tamper.with = oldPings;
  await app.feed(trade(5, 5, '5'));
  await until('whole again', () => bars.state.bars.length === 5, DEADLINE_MS);
  tamper.with = passed;
  await assertSame(barsLikeHttp(client, bars, TOKEN_COIN, 'min1'), 'after a loss');
  assert(reasons.includes('loss'), `${reasons}`);
});

test('an unreadable frame ends the socket, not the mirror', async (t) => {
  const app = await newTestApp(t, { env: { NETWORK: 'none' } });
  const tamper = { with: passed };
  const client = new Client({ url: app.url, openSocket: lossySockets(tamper) });
  t.after(() => client.close());
  const bars = client.bars(TOKEN_COIN, 'min1');
  await bars.ready();
  const states: string[] = [];
  client.connection.onState(({ is, why }) => states.push(`${is} ${why}`));
  tamper.with = (text) => (text.includes('LastBarUpdate') ? text.slice(0, -1) : text);
  await app.feed(trade(1, 0, '1'));
  await until(
    'given up',
    () => states.some((state) => /unreadable frame/.test(state)),
    DEADLINE_MS,
  );
  tamper.with = passed;
  await until('back', () => bars.state.bars.length === 1, DEADLINE_MS);
});

test('a list whose checksum does not fit is loaded again', async (t) => {
  const world = await DevnetWorld.start(t);
  const tamper = { with: passed };
  const client = new Client({ url: world.url, openSocket: lossySockets(tamper) });
  t.after(() => client.close());
  const person = new Person(client);
  await person.fund(900, 4, () => world.mine());
  const pools = client.pools('New');
  const reasons: string[] = [];
  client.connection.onNotice(({ reason, topic }) => reasons.push(`${topic} ${reason}`));
  await pools.ready();
  let isTold = false;
  tamper.with = (text) => {
    if (isTold || !text.includes('"NewUpdate"')) return text;
    isTold = true;
    return text.replace(/"crc32":\d+/, '"crc32":1');
  };
  await person.launch('Rocket');
  await world.mine();
  await until('the token', () => pools.state[0]?.info.name === 'Rocket', DEADLINE_MS);
  assert(isTold);
  assert.deepEqual(reasons, ['New checksum']);
});

test('a rollback beyond the horizon starts an epoch: all is loaded again', async (t) => {
  const app = await newTestApp(t, { env: { NETWORK: 'none', HORIZON_BLOCKS: '3' } });
  const client = new Client({ url: app.url });
  t.after(() => client.close());
  const reasons: string[] = [];
  client.connection.onNotice(({ reason }) => reasons.push(reason));
  for (let minute = 0; minute < 12; minute += 1) {
    await app.feed(trade(minute, minute, `${minute + 1}`));
  }
  const bars = client.bars(TOKEN_COIN, 'min1');
  await bars.ready();
  await until('open', () => client.connection.state.is === 'open', DEADLINE_MS);
  const epoch = bars.position?.epoch;
  await app.feed(rollbackLine(NOON_MS + 30_000));
  await until('another log', () => (bars.position?.epoch ?? epoch) !== epoch, DEADLINE_MS);
  await assertSame(barsLikeHttp(client, bars, TOKEN_COIN, 'min1'), 'in the new epoch');
  assert.deepEqual(
    bars.state.bars.map(({ close }) => close),
    ['1'],
  );
  assert(
    reasons.length > 0 && reasons.every((reason) => ['epoch', 'horizon'].includes(reason)),
    `${reasons}`,
  );
});
