/** How far following has come, by a clock of the test. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { chainTip } from '../../src/chain/chainPoints.ts';
import type { ChainTip } from '../../src/chain/port.ts';
import { SyncMeter, silenceMessage } from '../../src/chain/syncMeter.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';
import { followFrom, MadeElsewhere, SLOTS_APART } from './distantChain.ts';

async function open(t: TestContext) {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const chain = new MadeElsewhere();
  chain.empty(1_000);
  chain.tellTo(0);
  followFrom(t, world, chain);
  let nowMs = 0;
  let tip: ChainTip | null = null;
  let isEmpty = false;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const store = () => world.fold.store;
  const meter = new SyncMeter({
    store,
    tip: () => tip,
    isEmpty: () => isEmpty,
    clock,
    startSlot: 0,
  });
  const followTo = async (height: number) => {
    chain.tellTo(height);
    await until('it is followed', () => chainTip(store())?.height === height);
  };
  const pass = (ms: number) => {
    nowMs += ms;
    meter.sample();
  };
  const tell = (told: ChainTip | null) => {
    tip = told;
  };
  const tellEmpty = () => {
    isEmpty = true;
  };
  return { meter, chain, followTo, pass, tell, tellEmpty };
}

test('nothing is known before the node tells', async (t) => {
  const { meter, pass } = await open(t);
  pass(1_000);
  assert.equal(meter.isSynced, false);
  assert.deepEqual(meter.progress(), {
    slot: null,
    tipSlot: null,
    blocksBehind: null,
    percent: null,
    blocksPerSecond: 0,
    secondsLeft: null,
  });
});

test('slots, per cent, pace and time left are those of the last seconds', async (t) => {
  const { meter, chain, followTo, pass, tell } = await open(t);
  tell(chain.tip);
  await followTo(100);
  pass(0);
  await followTo(300);
  pass(10_000);
  assert.deepEqual(meter.progress(), {
    slot: 300 * SLOTS_APART,
    tipSlot: 1_000 * SLOTS_APART,
    blocksBehind: 700,
    percent: 30,
    blocksPerSecond: 20,
    secondsLeft: 35,
  });
  // It stands still for longer than it looks back.
  for (let second = 0; second < 25; second += 1) pass(1_000);
  const { blocksPerSecond, secondsLeft } = meter.progress();
  assert.deepEqual([blocksPerSecond, secondsLeft], [0, null]);
});

test('it has caught up within a few blocks, and that is not taken back', async (t) => {
  const { meter, chain, followTo, tell } = await open(t);
  tell(chain.tip);
  await followTo(996);
  assert.equal(meter.isSynced, false);
  await followTo(997);
  assert.equal(meter.isSynced, true);
  tell({ slot: 900_000, hash: 'ab', height: 40_000 });
  assert.equal(meter.isSynced, true);
  tell(null);
  assert.equal(meter.isSynced, true);
});

test('an empty chain is caught up with, once its node says that it is empty', async (t) => {
  const { meter, tellEmpty } = await open(t);
  assert.equal(meter.isSynced, false);
  tellEmpty();
  assert.equal(meter.isSynced, true);
});

test('a chain without blocks is blamed on the clock where it is behind the newest block', () => {
  assert.match(silenceMessage(15_000, 600_000), /for 15 s, and the newest is 600 s ahead of this/);
  assert.match(silenceMessage(15_000, -14_000), /for 15 s: see the Cardano node/);
});
