/** A launched token that nobody has traded: one flat bar at its spot, the same everywhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deed } from '../../chain/foldMarket.ts';
import { INTERVALS, startOf } from '../../support/model.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { type Door, Listener, openDoor } from '../door.ts';

const LAUNCH: Deed = { do: 'launch', user: 0, buy: 0 };
const BUY: Deed = { do: 'place', user: 1, pool: 0, side: 'buy', amount: 10 };
const EXECUTE: Deed = { do: 'execute', pool: 0 };
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
  const door = await openDoor(t);
  await door.block([LAUNCH]);
  const { token, createdMs } = door.pool();
  for (const interval of INTERVALS) {
    const pair = { base: token, quote: '.' };
    const query = { ...pair, resolution: interval };
    const time = startOf(interval, createdMs);
    const none = { volume: '0', baseVolume: '0', trades: 0, final: false };
    const bar = { pair, time, ...flat(SPOT), ...none };
    const cap = { pair, time, mCap: CAP, isRelevant: true, ...flat(CAP), trades: 0, final: false };
    for (const kind of ['history', 'mcap/history']) {
      assert.deepEqual(await door.json(`/v1/charts/${kind}`, { ...query, ...SPAN }), []);
      const filled = { ...query, ...SPAN, fill: 'previous' };
      assert.deepEqual(await door.json(`/v1/charts/${kind}`, filled), []);
    }
    assert.deepEqual(await door.json('/v1/charts/last', query), bar);
    const state = await door.json('/v1/charts/initial-state', query);
    assert.deepEqual(state, { bar, isRelevant: true });
    const caps = await door.json('/v1/charts/mcap/initial-state', query);
    assert.deepEqual(caps, { bar: cap, isRelevant: true });
    const reversed = { base: '.', quote: token, resolution: interval };
    const { close } = recordOf(await door.json('/v1/charts/last', reversed));
    assert.equal(close, REVERSED.replace(/0+$/, ''));
  }
});

test('HTTP: the bar ends with its interval, and gives way to a trade', async (t) => {
  const door = await openDoor(t);
  await door.block([LAUNCH]);
  const query = { base: door.pool().token, quote: '.', resolution: 'min1' };
  await door.pass(120_000);
  for (const path of ['/v1/charts/initial-state', '/v1/charts/mcap/initial-state']) {
    const { bar, isRelevant } = recordOf(await door.json(path, query));
    assert.deepEqual([recordOf(bar).final, isRelevant], [true, false]);
  }
  await door.block([BUY, EXECUTE], 130_000);
  const { trades, time } = recordOf(await door.json('/v1/charts/last', query));
  assert.deepEqual([trades, time], [1, startOf('min1', door.maker.state.atMs)]);
  const history = await door.json('/v1/charts/history', { ...query, ...SPAN });
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
  async function listen(t: Parameters<typeof openDoor>[0], interval: string, fill?: string) {
    const ahead = await openDoor(t);
    await ahead.block([LAUNCH]);
    const { token } = ahead.pool();
    const door = await openDoor(t);
    const pair = { base: token, quote: '.' };
    const data = { pair, interval, ...(fill === undefined ? {} : { fill }) };
    const listener = await Listener.open(t, door, topic, data);
    return { door, listener, data, token };
  }

  async function sameAsHttp(door: Door, listener: Listener, data: { interval: string }) {
    const { token } = door.pool();
    const query = { base: token, quote: '.', resolution: data.interval };
    const answer = recordOf(await door.json(path, query));
    const bar = topic === 'LastBar' ? answer : recordOf(answer.bar);
    const { isRelevant: _, pair, ...said } = recordOf(listener.last?.data);
    const { isRelevant: __, pair: ___, ...expected } = bar;
    assert.equal(pair, `${token}_.`);
    assert.deepEqual(said, expected);
  }

  for (const fill of [undefined, 'previous']) {
    test(`${topic} ${fill ?? ''}: from nothing to a trade and back`, async (t) => {
      const { door, listener, data } = await listen(t, 'min1', fill);
      assert.deepEqual(saidBy(listener), [{ event: update, trades: null, final: null }]);
      await door.pass(600_000);
      await door.block([LAUNCH], 700_000);
      await listener.after(1, 1);
      assert.deepEqual(saidBy(listener)[1], { event: update, trades: 0, final: false });
      await sameAsHttp(door, listener, data);
      await door.block([], 61_000);
      await listener.after(2, 1);
      assert.deepEqual(saidBy(listener)[2], { event: update, trades: 0, final: true });
      await sameAsHttp(door, listener, data);
      await door.block([BUY, EXECUTE], 61_000);
      await until('the trade', () => saidBy(listener).at(-1)?.trades === 1);
      await sameAsHttp(door, listener, data);
      const finals = saidBy(listener).filter(({ trades, final }) => trades === 0 && final === true);
      if (fill === undefined) assert.equal(finals.length, 1, 'final once');
      const seen = listener.frames.length;
      await door.back(1);
      await until('the launch again', () => saidBy(listener).at(-1)?.trades === 0);
      await sameAsHttp(door, listener, data);
      const revised = listener.frames.slice(seen).find(({ event }) => event === 'BarsRevised');
      assert.equal(revised !== undefined, fill === undefined);
      await door.back(2);
      await until('nothing', () => listener.last?.data === null);
      assert.deepEqual(door.faults, []);
    });
  }

  test(`${topic}: a trade in the interval of the launch takes the bar's place`, async (t) => {
    const { door, listener, data } = await listen(t, 'hour1');
    await door.block([LAUNCH]);
    await listener.after(1, 1);
    await door.block([BUY, EXECUTE]);
    await listener.after(2, 1);
    await sameAsHttp(door, listener, data);
    const times = listener.frames.slice(1).map((frame) => recordOf(frame.data).time);
    assert.equal(new Set(times).size, 1);
    const seen = listener.frames.length;
    await door.back(1);
    await listener.after(seen, 2);
    const { bars } = recordOf(listener.frames[seen]?.data);
    assert(Array.isArray(bars));
    assert.deepEqual(
      bars.map(({ removed, trades }) => [removed, trades]),
      [[undefined, 0]],
    );
    await sameAsHttp(door, listener, data);
  });

  test(`${topic}: time that goes back opens the bar again, which is a revision`, async (t) => {
    const { door, listener, data } = await listen(t, 'min1');
    await door.block([LAUNCH]);
    await door.block([], 61_000);
    await listener.after(2, 1);
    assert.equal(recordOf(listener.last?.data).final, true);
    await door.back(1);
    await listener.after(3, 2);
    const { reason, bars } = recordOf(listener.frames[3]?.data);
    assert(Array.isArray(bars));
    assert.deepEqual([reason, bars.length, recordOf(bars[0]).final], ['rollback', 1, false]);
    await sameAsHttp(door, listener, data);
  });

  test(`${topic}: since before a launch that was traded at once`, async (t) => {
    const { door, listener, token } = await listen(t, 'hour1');
    await door.block([]);
    const since = door.world.node.applied();
    listener.close();
    const wish = { pair: { base: token, quote: '.' }, interval: 'hour1' };
    await door.pass(1_000);
    await door.block([LAUNCH]);
    await door.block([BUY, EXECUTE]);
    const { frames } = await Listener.open(t, door, topic, wish, { since });
    await until('the trade', () => frames.length === 2);
    assert.equal(recordOf(frames[1]?.data).trades, 1);
    await door.block([{ ...BUY, amount: 5 }, EXECUTE]);
    await until('the next', () => frames.length === 3);
    assert.equal(recordOf(frames[2]?.data).trades, 2);
  });

  test(`${topic}: since before, at and after the launch`, async (t) => {
    const { door, listener, data } = await listen(t, 'min1');
    await door.block([{ do: 'launch', user: 2, buy: 0 }]);
    const before = door.world.node.applied();
    await door.block([LAUNCH]);
    const launched = door.world.node.applied();
    listener.close();
    const token = door.pool(1).token;
    const wish = { ...data, pair: { base: token, quote: '.' } };
    const ask = async (since: { epoch: string; seq: number }) => {
      const { frames } = await Listener.open(t, door, topic, wish, { since });
      const ack = frames.find(({ event }) => event === 'Subscribed');
      assert.equal(recordOf(ack?.data).recovered, true);
      return () => frames.filter(({ event }) => event !== 'Subscribed').map(({ data: of }) => of);
    };
    const early = await ask(before);
    await until('the launch', () => early().length === 1);
    const late = await ask(launched);
    await door.block([], 61_000);
    await until('the end', () => late().length === 1 && early().length === 2);
    assert.equal(recordOf(late()[0]).final, true);
    const over = await ask(before);
    await until('its newest state', () => over().length === 1);
    assert.equal(recordOf(over()[0]).final, true);
    assert.equal((await ask(door.world.node.applied()))().length, 0);
  });
}
