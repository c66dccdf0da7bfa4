/** Lists, top pool and one pool on a socket. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { PoolListUpdate } from '../../../src/api/pools/schema.ts';
import type { Action } from '../../chain/foldMarket.ts';
import { type Frame, recordOf } from '../../support/subscription.ts';
import { ListClient } from '../../support/topicClients.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';

const launchBy = (user: number, buy: number): Action => ({ do: 'launch', user, buy });
const buyOf = (pool: number, amount: number): Action[] => [
  { do: 'place', user: 1, pool, side: 'buy', amount },
  { do: 'execute', pool },
];
const TOPICS = {
  Latest: 'Latest',
  New: 'New',
  MCapDesc: 'MCapDesc',
  CompletedCreateOn: 'CompletedCreateOn',
  CompletedMCap: 'CompletedMCap',
  Trending: 'Trending',
};

const shape = Compile(PoolListUpdate);

/** Applies the frames so far and checks each against the contract. */
function replay(frames: readonly Frame[], event: string): ListClient {
  const client = new ListClient();
  for (const frame of frames) {
    if (frame.event === 'Subscribed') continue;
    assert.equal(frame.event, event);
    assert.deepEqual([...shape.Errors(frame.data)], []);
    client.take(frame.data, frame.snapshot === true);
  }
  return client;
}

async function page(api: MarketApi, filter: string): Promise<string> {
  return JSON.stringify(await api.json('/v1/pools-main-page/initial/state', { filter }));
}

test('a list is on the socket what it is over HTTP, through trades and rollbacks', async (t) => {
  const api = await openMarketApi(t);
  const listeners = await Promise.all(
    Object.entries(TOPICS).map(async ([topic, list]) => {
      const { frames } = await Listener.open(t, api, topic, {});
      return { frames, list, event: `${topic}Update` };
    }),
  );
  for (const { frames } of listeners) {
    assert.deepEqual(frames[0]?.data, { items: [], order: [], crc32: 0 });
  }
  const same = async () => {
    for (const { frames, list, event } of listeners) {
      const expected = await page(api, list);
      await until(
        () => `${event}: ${frames.length} frames`,
        () => JSON.stringify(replay(frames, event).page) === expected,
      );
    }
  };
  await api.block([launchBy(0, 30), launchBy(1, 10), launchBy(2, 20)]);
  await same();
  await api.block(buyOf(1, 60));
  await same();
  await api.block([...buyOf(0, 150), ...buyOf(0, 23), { do: 'execute', pool: 0 }]);
  assert.equal(api.pool(0).venue, 'AMM');
  await same();
  await api.back(2);
  await same();
  await api.block(Array.from({ length: 105 }, (_, at) => launchBy(at % 4, at % 6)));
  await same();
  await api.back(3);
  await same();
  assert.deepEqual(api.faults, []);
});

test('an update has the pools that changed, and none comes where nothing did', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 30), launchBy(1, 10), launchBy(2, 20)]);
  const { frames } = await Listener.open(t, api, 'MCapDesc', {});
  const before = api.world.node.applied();
  // Neither an order nor a transfer changes anything that the list of pools shows.
  await api.block([buyOf(1, 5)[0] ?? launchBy(0, 0)]);
  await api.block([{ do: 'transfer', user: 2, pool: 2, to: 3 }]);
  await api.block([{ do: 'execute', pool: 1 }]);
  await until('the trade', () => frames.length > 1);
  assert.equal(frames[1]?.seq, api.world.node.applied().seq);
  const { items } = recordOf(frames[1]?.data);
  assert(Array.isArray(items));
  const changed = items.map((item) => recordOf(recordOf(item).info).asset);
  assert.deepEqual(changed, [api.pool(1).token]);
  await api.block([{ do: 'lock', user: 2, pool: 2, to: 3 }]);
  await until('the lock', () => frames.length > 2);
  const expected = await page(api, 'MCapDesc');
  assert.equal(JSON.stringify(replay(frames, 'MCapDescUpdate').page), expected);

  const since = await Listener.open(t, api, 'MCapDesc', {}, { since: before });
  await until('what changed since', () => since.frames.length > 1);
  const [answer, update] = since.frames;
  assert.equal(recordOf(answer?.data).recovered, true);
  const client = new ListClient();
  client.take(frames[0]?.data, true);
  const came = client.take(update?.data, false);
  assert.deepEqual(came.toSorted(), [api.pool(1).token, api.pool(2).token].toSorted());
  assert.equal(JSON.stringify(client.page), expected);
  assert.deepEqual(api.faults, []);
});

test('KOTH: none, then the top pool whenever it or its pool changed', async (t) => {
  const api = await openMarketApi(t);
  const { frames } = await Listener.open(t, api, 'KOTH', {});
  assert.deepEqual([frames[0]?.event, frames[0]?.data], ['KOTHUpdate', null]);
  const shows = async (count: number) => {
    const top = await api.json('/v1/pools-main-page/koth', {});
    await until('the top pool', () => frames.length === count);
    assert.deepEqual(frames.at(-1)?.data, top);
  };
  await api.block([launchBy(0, 30), launchBy(1, 10)]);
  await shows(2);
  await api.block(buyOf(1, 5));
  await api.block(buyOf(0, 5));
  await shows(3);
  await api.block(buyOf(1, 100));
  await shows(4);
  assert.equal(frames.filter(({ prev }) => prev !== null).length, 3);
  await api.back(1);
  await shows(5);
  await api.back(3);
  await until('none again', () => frames.length === 6);
  assert.equal(frames.at(-1)?.data, null);
  assert.deepEqual(api.faults, []);
});

test('PoolFeed is silent while only orders and holdings change', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 30), launchBy(1, 10)]);
  const { token } = api.pool(0);
  const { frames } = await Listener.open(t, api, 'PoolFeed', { asset: token });
  await api.block([{ do: 'place', user: 1, pool: 0, side: 'buy', amount: 5 }]);
  await api.block([{ do: 'transfer', user: 0, pool: 0, to: 2 }]);
  await api.block(buyOf(1, 5));
  const silent = api.world.node.applied();
  await api.block([{ do: 'execute', pool: 0 }]);
  await until('the trade', () => frames.length > 1);
  assert.equal(frames.length, 2);
  assert.equal(frames[1]?.seq, silent.seq + 1);
  const info = await api.json('/v1/pools-feed/initial/state', { asset: token });
  assert.deepEqual(frames[1]?.data, info);
});
