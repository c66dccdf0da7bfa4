/**
 * A fork that undoes a launch: `BarsRevised` takes away each bar that a client may have, and every
 * topic about the token sends its empty state as a snapshot. Source: protocol.md 10.0.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { appendBlock } from '../../chain/foldChain.ts';
import type { Action } from '../../chain/foldMarket.ts';
import { INTERVALS, startOf } from '../../support/model.ts';
import { type Frame, recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';

const OTHER: Action = { do: 'launch', user: 2, buy: 0 };
const LAUNCH: Action = { do: 'launch', user: 0, buy: 0 };
const TRADE: readonly Action[] = [
  { do: 'place', user: 1, pool: 1, side: 'buy', amount: 10 },
  { do: 'execute', pool: 1 },
];

/** The market, with the id that its second token will have. */
async function open(t: TestContext): Promise<{ api: MarketApi; token: string }> {
  const ahead = await openMarketApi(t);
  await ahead.block([OTHER]);
  await ahead.block([LAUNCH]);
  const { token } = ahead.pool(1);
  const api = await openMarketApi(t);
  await api.block([OTHER]);
  return { api, token };
}

/** Bars as a client keeps them that has read /docs: by event, seq and `snapshot`, nothing else. */
class Bars {
  readonly times = new Set<number>();
  readonly removed: number[] = [];
  #seq = -1;

  hear({ event, seq, data, snapshot }: Frame): void {
    if (event === 'Subscribed') return;
    if (snapshot === true) this.times.clear();
    else if (seq <= this.#seq) return;
    this.#seq = seq;
    if (data === null) return;
    const { bars } = recordOf(data);
    const listed = event === 'BarsRevised' ? bars : [data];
    assert.ok(Array.isArray(listed));
    for (const bar of listed.map(recordOf)) {
      const time = Number(bar.time);
      if (bar.removed !== true) this.times.add(time);
      else if (this.times.delete(time)) this.removed.push(time);
    }
  }
}

function barsOf(frames: readonly Frame[]): Bars {
  const bars = new Bars();
  for (const frame of frames) bars.hear(frame);
  return bars;
}

for (const topic of ['LastBar', 'MCapBar']) {
  for (const traded of [false, true]) {
    const what = traded ? 'traded' : 'untraded';
    test(`${topic}: each bar of an ${what} token is taken away`, async (t) => {
      const { api, token } = await open(t);
      const intervals = [...INTERVALS, 'min3', 'hour4'] as const;
      const datas = intervals.flatMap((interval) => [
        { pair: { base: token, quote: '.' }, interval },
        ...(topic === 'LastBar' ? [{ pair: { base: '.', quote: token }, interval }] : []),
      ]);
      const listeners = await Promise.all(datas.map((data) => Listener.open(t, api, topic, data)));
      const before = api.world.node.applied();
      const made = api.maker.block([LAUNCH], 20_000);
      await appendBlock(api.world, made);
      const { createdMs } = api.pool(1);
      const launched = api.world.node.applied();
      let blocks = 1;
      if (traded) {
        for (let index = 0; index < 4; index += 1) await api.block(TRADE, 61_000);
        blocks += 4;
      }
      const newest = api.world.node.applied();
      for (const { frames } of listeners) {
        await until('all bars', () => (frames.at(-1)?.seq ?? 0) >= newest.seq);
      }
      const shown = listeners.map(({ frames }) => [...barsOf(frames).times]);
      for (const times of shown) if (traded && times.length === 0) assert.fail();
      await api.back(blocks);
      for (const { frames } of listeners) {
        await until('the empty state', () => frames.at(-1)?.snapshot === true);
      }
      for (const [index, { frames }] of listeners.entries()) {
        const bars = barsOf(frames.slice(0, -1));
        assert.deepEqual([...bars.times], [], JSON.stringify(datas[index]));
        assert.deepEqual(bars.removed.sort(), shown[index]?.sort());
        const { data, prev } = frames.at(-1) ?? assert.fail();
        assert.deepEqual([data, prev], [null, null]);
      }
      // A client that comes back with a position of before the fork.
      for (const since of [launched, newest]) {
        const [data] = datas;
        const { frames } = await Listener.open(t, api, topic, data ?? {}, { since });
        await until('the empty state', () => frames.at(-1)?.snapshot === true);
        assert.equal(
          recordOf(frames.find(({ event }) => event === 'Subscribed')?.data).recovered,
          true,
        );
        const { bars, reason } = recordOf(
          frames.find(({ event }) => event === 'BarsRevised')?.data,
        );
        assert.ok(Array.isArray(bars) && bars.every((bar) => recordOf(bar).removed === true));
        const times = bars.map((bar) => recordOf(bar).time);
        assert.ok(times.includes(startOf('min1', createdMs)), 'the bar that stands for the launch');
        assert.equal(reason, 'rollback');
      }
      const since = api.world.node.applied();
      const quiet = await Listener.open(t, api, topic, datas[0] ?? {}, { since });
      await api.block([]);
      // The launch again, in another interval: a new bar, and the old one stays away.
      const later = api.maker.block([], 300_000);
      await appendBlock(api.world, { ...later, events: made.events });
      await until('the launch', () => barsOf(quiet.frames).times.size === 1);
      const early = await Listener.open(t, api, topic, datas[0] ?? {}, { since: before });
      await until('the launch', () => barsOf(early.frames).times.size === 1);
      const again = startOf('min1', later.atMs);
      for (const { frames } of [quiet, early]) assert.deepEqual([...barsOf(frames).times], [again]);
      assert.deepEqual(api.faults, []);
    });
  }
}

for (const traded of [false, true]) {
  const what = traded ? 'a traded' : 'an untraded';
  test(`other topics about ${what} token send their empty state as a snapshot`, async (t) => {
    const { api, token } = await open(t);
    const empty = { items: [], order: [], crc32: 0 };
    const address = 'addr_test1vqneq3v0dqh3x3muv6ee3lt8e5729xymnxuavx6tndcjc2cv24ef9';
    const topics: [string, object, unknown][] = [
      ['PoolFeed', { asset: token }, null],
      ['Trades', { asset: token }, null],
      ['OrderBook', { asset: token }, null],
      ['LiveOrdersFeed', { asset: token }, null],
      ['UserHistoryByAddressAndAsset', { address, asset: token }, null],
      ['Tickers', { assets: [token] }, empty],
    ];
    const listeners = await Promise.all(
      topics.map(([topic, data]) => Listener.open(t, api, topic, data)),
    );
    await api.block([LAUNCH]);
    if (traded) await api.block(TRADE);
    const since = api.world.node.applied();
    const [pool] = listeners;
    await until('the token', () => pool?.frames.at(-1)?.data !== null);
    await api.back(traded ? 2 : 1);
    for (const [index, { frames }] of listeners.entries()) {
      const [topic = '', data = {}, state] = topics[index] ?? [];
      const isEmpty = (frame: Frame | undefined) =>
        frame?.snapshot === true && frame.prev === null && frame.event === `${topic}Update`;
      await until(`the empty ${topic}`, () => frames.length > 1 && isEmpty(frames.at(-1)), 10_000);
      assert.deepEqual(frames.at(-1)?.data, state);
      const late = await Listener.open(t, api, topic, data, { since });
      await until(`the empty ${topic} since`, () => isEmpty(late.frames.at(-1)), 10_000);
      assert.deepEqual(late.frames.at(-1)?.data, state);
      assert.ok(!late.frames.some(({ event }) => event === 'Resync'));
    }
    assert.deepEqual(api.faults, []);
  });
}
