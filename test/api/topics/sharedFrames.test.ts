/** A frame of a filtered stream is made once for all sockets that ask the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordOf } from '../../support/subscription.ts';
import { Listener, openMarketApi } from '../marketApi.ts';
import { launchBy, trade } from '../tickers/recounted.ts';

const SOCKETS = 12;

/** The same question, asked in another way by each socket. */
const ASKED: Readonly<Record<string, (index: number) => object>> = {
  NewestTrades: (index) =>
    index % 2 === 0
      ? { side: 'buy', minQuote: '1', minMarketCap: '0.50', maxAge: 3600, unknown: index }
      : { maxAge: 3600, minMarketCap: '00.5', minQuote: '01', side: 'buy', graduated: null },
  Tickers: (index) =>
    index % 2 === 0
      ? { maxTop10Percent: 100, minHolders: 1, minVolume24h: '0', sort: 'volume24h', x: index }
      : { minHolders: 1, minVolume24h: '0.0', maxTop10Percent: 100, order: 'desc', maxAge: null },
  NewLaunches: (index) => (index % 2 === 0 ? { unknown: index } : { author: '', assetType: null }),
};

for (const [topic, asked] of Object.entries(ASKED)) {
  test(`${topic} renders a frame once for ${SOCKETS} sockets with one filter`, async (t) => {
    const api = await openMarketApi(t);
    await api.block([launchBy(0, 60)]);
    const listeners: Listener[] = [];
    for (let index = 0; index < SOCKETS; index += 1) {
      listeners.push(await Listener.open(t, api, topic, asked(index)));
    }
    const event = `${topic}Update`;
    const ofTopic = () => {
      return api.published.filter((text) => recordOf(JSON.parse(text)).event === event).length;
    };
    const before = ofTopic();
    await api.block([launchBy(1, 50), ...trade('buy', 20)]);
    for (const listener of listeners) await listener.after(1, 1);
    const received = listeners.map(({ frames }) => JSON.stringify(frames[1]));
    assert.equal(new Set(received).size, 1, 'all received the same bytes');
    assert.equal(ofTopic() - before, 1, 'they were made once');
    assert.deepEqual(api.faults, []);
  });
}
