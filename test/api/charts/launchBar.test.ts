/** A launched token without trades: one flat bar at its spot, the same everywhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Action } from '../../chain/foldMarket.ts';
import { INTERVALS, startOf } from '../../support/model.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';

const LAUNCH: Action = { do: 'launch', user: 0, buy: 0 };
const BUY: Action = { do: 'place', user: 1, pool: 0, side: 'buy', amount: 10 };
const EXECUTE: Action = { do: 'execute', pool: 0 };
const SPAN = { from: 0, to: 253_402_300_799 };
/** 2.545182 lovelace, times 10^9. */
const SPOT = '0.000002545182';
const CAP = '2545.182';
/** 1 / SPOT, 18 digits. */
const REVERSED = '392899.211136963879203923';

function flat(close: string) {
  return { open: close, high: close, low: close, close };
}

test('HTTP: history is empty, the others answer the bar of the launch', async (t) => {
  const api = await openMarketApi(t);
  await api.block([LAUNCH]);
  const { token, createdMs } = api.pool();
  for (const interval of INTERVALS) {
    const pair = { base: token, quote: '.' };
    const query = { ...pair, resolution: interval };
    const time = startOf(interval, createdMs);
    const none = { volume: '0', baseVolume: '0', trades: 0, final: false };
    const bar = { pair, time, ...flat(SPOT), ...none };
    const cap = { pair, time, mCap: CAP, isRelevant: true, ...flat(CAP), trades: 0, final: false };
    for (const kind of ['history', 'mcap/history']) {
      assert.deepEqual(await api.json(`/v1/charts/${kind}`, { ...query, ...SPAN }), []);
      const filled = { ...query, ...SPAN, fill: 'previous' };
      assert.deepEqual(await api.json(`/v1/charts/${kind}`, filled), []);
    }
    assert.deepEqual(await api.json('/v1/charts/last', query), bar);
    const state = await api.json('/v1/charts/initial-state', query);
    assert.deepEqual(state, { bar, isRelevant: true });
    const caps = await api.json('/v1/charts/mcap/initial-state', query);
    assert.deepEqual(caps, { bar: cap, isRelevant: true });
    const reversed = { base: '.', quote: token, resolution: interval };
    const { close } = recordOf(await api.json('/v1/charts/last', reversed));
    assert.equal(close, REVERSED.replace(/0+$/, ''));
  }
});

test('HTTP: the bar ends with its interval, and gives way to a trade', async (t) => {
  const api = await openMarketApi(t);
  await api.block([LAUNCH]);
  const query = { base: api.pool().token, quote: '.', resolution: 'min1' };
  await api.pass(120_000);
  for (const path of ['/v1/charts/initial-state', '/v1/charts/mcap/initial-state']) {
    const { bar, isRelevant } = recordOf(await api.json(path, query));
    assert.deepEqual([recordOf(bar).final, isRelevant], [true, false]);
  }
  await api.block([BUY, EXECUTE], 130_000);
  const { trades, time } = recordOf(await api.json('/v1/charts/last', query));
  assert.deepEqual([trades, time], [1, startOf('min1', api.maker.state.atMs)]);
  const history = await api.json('/v1/charts/history', { ...query, ...SPAN });
  assert(Array.isArray(history) && history.length === 1);
});

interface Said {
  readonly event: string;
  readonly trades: unknown;
  readonly final: unknown;
}

function saidBy(listener: Listener): Said[] {
  return listener.frames.map(({ event, data }) => {
    const { trades = null, final = null } = data === null ? {} : recordOf(data);
    return { event, trades, final };
  });
}

for (const topic of ['LastBar', 'MCapBar'] as const) {
  const update = `${topic}Update`;
  const path = topic === 'LastBar' ? '/v1/charts/last' : '/v1/charts/mcap/initial-state';

  /** Subscribes before the launch: the ids of a maker's tokens can be told beforehand. */
  async function listen(t: Parameters<typeof openMarketApi>[0], interval: string, fill?: string) {
    const ahead = await openMarketApi(t);
    await ahead.block([LAUNCH]);
    const { token } = ahead.pool();
    const api = await openMarketApi(t);
    const pair = { base: token, quote: '.' };
    const data = { pair, interval, ...(fill === undefined ? {} : { fill }) };
    const listener = await Listener.open(t, api, topic, data);
    return { api, listener, data, token };
  }

  async function sameAsHttp(api: MarketApi, listener: Listener, data: { interval: string }) {
    const { token } = api.pool();
    const query = { base: token, quote: '.', resolution: data.interval };
    const answer = recordOf(await api.json(path, query));
    const bar = topic === 'LastBar' ? answer : recordOf(answer.bar);
    const { isRelevant: _, pair, ...said } = recordOf(listener.last?.data);
    const { isRelevant: __, pair: ___, ...expected } = bar;
    assert.equal(pair, `${token}_.`);
    assert.deepEqual(said, expected);
  }

  for (const fill of [undefined, 'previous']) {
    test(`${topic} ${fill ?? ''}: from nothing to a trade and back`, async (t) => {
      const { api, listener, data } = await listen(t, 'min1', fill);
      assert.deepEqual(saidBy(listener), [{ event: update, trades: null, final: null }]);
      await api.pass(600_000);
      await api.block([LAUNCH], 700_000);
      await listener.after(1, 1);
      assert.deepEqual(saidBy(listener)[1], { event: update, trades: 0, final: false });
      await sameAsHttp(api, listener, data);
      await api.block([], 61_000);
      await listener.after(2, 1);
      assert.deepEqual(saidBy(listener)[2], { event: update, trades: 0, final: true });
      await sameAsHttp(api, listener, data);
      await api.block([BUY, EXECUTE], 61_000);
      await until('the trade', () => saidBy(listener).at(-1)?.trades === 1);
      await sameAsHttp(api, listener, data);
      const finals = saidBy(listener).filter(({ trades, final }) => trades === 0 && final === true);
      if (fill === undefined) assert.equal(finals.length, 1, 'final once');
      const seen = listener.frames.length;
      await api.back(1);
      await until('the launch again', () => saidBy(listener).at(-1)?.trades === 0);
      await sameAsHttp(api, listener, data);
      const revised = listener.frames.slice(seen).find(({ event }) => event === 'BarsRevised');
      assert.equal(revised !== undefined, fill === undefined);
      await api.back(2);
      await until('nothing', () => listener.last?.data === null);
      assert.deepEqual(api.faults, []);
    });
  }

  test(`${topic}: a trade in the interval of the launch takes the bar's place`, async (t) => {
    const { api, listener, data } = await listen(t, 'hour1');
    await api.block([LAUNCH]);
    await listener.after(1, 1);
    await api.block([BUY, EXECUTE]);
    await listener.after(2, 1);
    await sameAsHttp(api, listener, data);
    const times = listener.frames.slice(1).map((frame) => recordOf(frame.data).time);
    assert.equal(new Set(times).size, 1);
    const seen = listener.frames.length;
    await api.back(1);
    await listener.after(seen, 2);
    const { bars } = recordOf(listener.frames[seen]?.data);
    assert(Array.isArray(bars));
    assert.deepEqual(
      bars.map(({ removed, trades }) => [removed, trades]),
      [[undefined, 0]],
    );
    await sameAsHttp(api, listener, data);
  });

  test(`${topic}: time that goes back opens the bar again, which is a revision`, async (t) => {
    const { api, listener, data } = await listen(t, 'min1');
    await api.block([LAUNCH]);
    await api.block([], 61_000);
    await listener.after(2, 1);
    assert.equal(recordOf(listener.last?.data).final, true);
    await api.back(1);
    await listener.after(3, 2);
    const { reason, bars } = recordOf(listener.frames[3]?.data);
    assert(Array.isArray(bars));
    assert.deepEqual([reason, bars.length, recordOf(bars[0]).final], ['rollback', 1, false]);
    await sameAsHttp(api, listener, data);
  });

  for (const [interval, actions] of [
    ['min1', []],
    ['min3', [BUY, EXECUTE]],
  ] as const) {
    test(`${topic} ${interval}: an end that was undone and came again is a revision`, async (t) => {
      const { api, token } = await listen(t, interval);
      await api.block([LAUNCH, ...actions]);
      if (interval === 'min3') await api.block([], 61_000);
      await api.block([], 240_000);
      const since = api.world.node.applied();
      await api.back(1);
      await api.block([], 240_000);
      const params = { pair: { base: token, quote: '.' }, interval };
      const { frames } = await Listener.open(t, api, topic, params, { since });
      await until('the end again', () => frames.length > 1);
      assert.equal(frames[1]?.event, 'BarsRevised');
      const { reason, bars } = recordOf(frames[1]?.data);
      assert(Array.isArray(bars));
      assert.deepEqual([reason, recordOf(bars[0]).final], ['rollback', true]);
    });
  }

  test(`${topic}: since before a launch that was traded at once`, async (t) => {
    const { api, listener, token } = await listen(t, 'hour1');
    await api.block([]);
    const since = api.world.node.applied();
    listener.close();
    const params = { pair: { base: token, quote: '.' }, interval: 'hour1' };
    await api.pass(1_000);
    await api.block([LAUNCH]);
    await api.block([BUY, EXECUTE]);
    const { frames } = await Listener.open(t, api, topic, params, { since });
    await until('the trade', () => frames.length === 2);
    assert.equal(recordOf(frames[1]?.data).trades, 1);
    await api.block([{ ...BUY, amount: 5 }, EXECUTE]);
    await until('the next', () => frames.length === 3);
    assert.equal(recordOf(frames[2]?.data).trades, 2);
  });

  test(`${topic}: since before, at and after the launch`, async (t) => {
    const { api, listener, data } = await listen(t, 'min1');
    await api.block([{ do: 'launch', user: 2, buy: 0 }]);
    const before = api.world.node.applied();
    await api.block([LAUNCH]);
    const launched = api.world.node.applied();
    listener.close();
    const token = api.pool(1).token;
    const params = { ...data, pair: { base: token, quote: '.' } };
    const ask = async (since: { epoch: string; seq: number }) => {
      const { frames } = await Listener.open(t, api, topic, params, { since });
      const ack = frames.find(({ event }) => event === 'Subscribed');
      assert.equal(recordOf(ack?.data).recovered, true);
      return () => frames.filter(({ event }) => event !== 'Subscribed').map(({ data: of }) => of);
    };
    const early = await ask(before);
    await until('the launch', () => early().length === 1);
    const late = await ask(launched);
    await api.block([], 61_000);
    await until('the end', () => late().length === 1 && early().length === 2);
    assert.equal(recordOf(late()[0]).final, true);
    const over = await ask(before);
    await until('its newest state', () => over().length === 1);
    assert.equal(recordOf(over()[0]).final, true);
    assert.equal((await ask(api.world.node.applied()))().length, 0);
  });
}
