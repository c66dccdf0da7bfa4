/**
 * One client with thousands of different filters reaches its limit, reads why, and takes nothing
 * from others.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/until.ts';
import { Client } from '../gateway/client.ts';
import { openMarketApi } from '../marketApi.ts';
import { launchBy, trade } from '../tickers/recounted.ts';

const MOST = 1_000;
const RICH = { perSecond: 1_000_000, burst: 1_000_000 };
const OPTIONS = {
  trustedProxies: ['127.0.0.1'],
  maxStreamsEach: MOST,
  framesPerSecond: 1_000,
  reads: RICH,
};
const SOCKETS = 4;
const EACH = 400;

/** A filter of its own for each number, and how many of them a client may have. */
const TOPICS = {
  NewestTrades: { filter: (n: number) => ({ minQuote: String(n + 1) }), most: MOST / 20 },
  Tickers: { filter: (n: number) => ({ minMarketCap: String(n + 1) }), most: MOST / 200 },
  NewLaunches: { filter: (n: number) => ({ author: String(n).padStart(56, '0') }), most: MOST },
};

for (const [topic, { filter, most }] of Object.entries(TOPICS)) {
  test(`a client may have ${most} of ${MOST} different filters of ${topic}`, async (t) => {
    const api = await openMarketApi(t, OPTIONS);
    await api.block([launchBy(0, 60)]);
    const from = async (address: string) => {
      const client = await Client.open(api.port, { headers: { 'x-forwarded-for': address } });
      t.after(() => client.socket.terminate());
      return client;
    };
    const crowd: Client[] = [];
    for (let index = 0; index < SOCKETS; index += 1) {
      const client = await from('10.1.1.1');
      const topics = Array.from({ length: EACH }, (_, n) => {
        return { requestId: n, topic, data: filter(index * EACH + n) };
      });
      client.send({ messageType: 'subscribe', clientId: 't', topics });
      crowd.push(client);
    }
    const all = (event: string) =>
      crowd.flatMap(({ frames }) => frames.filter((frame) => frame.event === event));
    const answers = () => all(`${topic}Update`).length + all('Error').length;
    await until('all are answered', () => answers() === SOCKETS * EACH, 60_000);
    assert.equal(all(`${topic}Update`).length, most);
    const [refused] = all('Error');
    assert.equal(refused?.data.cause, 'LIMIT_EXCEEDED');
    assert.match(String(refused?.data.message), /different streams open, over all your sockets/);
    const [first = assert.fail()] = crowd;
    const again = filter(0);
    first.subscribe('again', topic, again);
    await first.frame({ requestId: 'again', event: `${topic}Update` });

    const other = await from('10.2.2.2');
    other.subscribe('other', topic, {});
    await other.frame({ requestId: 'other', snapshot: true });
    await api.block([launchBy(1, 50), ...trade('buy', 20)]);
    await until('another client gets what is new', () => other.of('other').length > 1);

    for (const client of crowd) client.socket.terminate();
    const later = await from('10.1.1.1');
    await until('what it held is free again', () => {
      later.subscribe('later', topic, filter(999_999));
      return later.of('later').some(({ snapshot }) => snapshot === true);
    });
    assert.deepEqual(api.faults, []);
  });
}
