import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { pathEvents } from '../../../src/engine/runtime/entryPath.ts';
import { createRegistry, metersIn } from '../../../src/engine/runtime/meters.ts';

function path() {
  let ms = 1_000;
  const registry = createRegistry();
  const { entryAt } = pathEvents({ ...systemClock, monotonicMs: () => ms }, metersIn(registry));
  const after = (step: number, stop: Parameters<typeof entryAt>[0], seq: number) => {
    ms += step;
    return entryAt(stop, seq);
  };
  const sum = async (stop: string) => {
    const text = await registry.metrics();
    const value = (of: string) =>
      Number(new RegExp(`trade_path_seconds_${of}\\{stop="${stop}"\\} (\\S+)`).exec(text)?.[1]);
    return [value('count'), Math.round(value('sum') * 1e6)];
  };
  return { after, sum };
}

test('each stop counts the time since the one before, and the last one the whole way', async () => {
  const { after, sum } = path();
  after(0, 'read', 0);
  after(0.1, 'appended', 8);
  after(0.4, 'synced', 8);
  after(0.2, 'applied', 8);
  assert.equal(after(0, 'heard', 8), true);
  after(2, 'rendered', 8);
  after(0.3, 'written', 8);
  assert.deepEqual(await sum('appended'), [1, 100]);
  assert.deepEqual(await sum('synced'), [1, 400]);
  assert.deepEqual(await sum('applied'), [1, 200]);
  assert.deepEqual(await sum('rendered'), [1, 2_000]);
  assert.deepEqual(await sum('written'), [1, 300]);
  assert.deepEqual(await sum('whole'), [1, 3_000]);
});

test('time of earlier entries does not count for the traced one', async () => {
  const { after, sum } = path();
  after(0, 'applied', 3);
  after(0, 'read', 0);
  after(1, 'appended', 8);
  assert.equal(after(1, 'synced', 7), false);
  assert.equal(after(1, 'applied', 7), false);
  assert.equal(after(1, 'synced', 9), true);
  assert.deepEqual(await sum('synced'), [1, 3_000]);
});

test('a trade that no stream tells of ends at the fold', async () => {
  const { after, sum } = path();
  after(0, 'read', 0);
  after(1, 'appended', 8);
  after(1, 'synced', 8);
  after(1, 'applied', 8);
  after(0, 'unheard', 8);
  assert.equal(after(9, 'rendered', 8), false);
  assert.deepEqual(await sum('applied'), [1, 1_000]);
  assert.deepEqual(await sum('whole'), [0, 0]);
});

test('one trade is traced at a time, and not more often than every 50 ms', async () => {
  const { after, sum } = path();
  assert.equal(after(0, 'read', 0), true);
  assert.equal(after(1, 'read', 0), false);
  for (const stop of ['appended', 'synced', 'applied', 'unheard'] as const) after(1, stop, 8);
  assert.equal(after(1, 'read', 0), false);
  assert.equal(after(50, 'read', 0), true);
  assert.equal(after(9_999, 'read', 0), false, 'it may still end');
  assert.equal(after(1, 'read', 0), true, 'it never will');
  assert.deepEqual(await sum('appended'), [1, 2_000]);
});
