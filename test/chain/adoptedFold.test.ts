/** A pool that is taken over is a pool as any other: in rows, pairs, bars, and under roll-backs. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { recogniseBlock } from '../../src/chain/recognise/block.ts';
import { foldMarket } from '../../src/chain/recognise/knownMarket.ts';
import { type PoolRecord, readRecord } from '../../src/engine/store/records.ts';
import { checkRebuild } from '../support/foldCheck.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { appendBlock, rollBackTo, rowsOf } from './foldChain.ts';
import { hashOf, START_MS } from './foldState.ts';
import { MiddleMarket, REAL, type Step } from './middleMarket.ts';

test('begins with what its first output tells, and trades on', async (t) => {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const market = new MiddleMarket();
  const order: Step = { do: 'order', pool: 0, side: 'buy', size: 30 };
  const foreign: Step = { do: 'foreign', pool: 0, size: 20 };
  const execute: Step = { do: 'execute', pool: 0, most: 5 };
  const steps: Step[] = [{ do: 'launch' }, { do: 'block' }, foreign, { do: 'block' }];
  for (const step of [...steps, order, { do: 'block' } as const, execute]) market.perform(step);
  const [, ...seen] = market.blocks;
  for (const [index, transactions] of seen.entries()) {
    const [slot, height] = [100 + index, 1 + index];
    const events = recogniseBlock(slot, transactions, foldMarket(world.fold.store), REAL);
    const atMs = START_MS + height * 20_000;
    await appendBlock(world, { slot, hash: hashOf(`block ${height}`), height, atMs, events });
  }
  assert.deepEqual(world.said.foldFailures, []);
  const [text = '{}'] = rowsOf(world, 'pools').values();
  const pool = readRecord<PoolRecord>(text);
  assert.deepEqual([pool.launchTx, pool.fills, pool.graduatedMs], ['', 1, null]);
  assert.equal(pool.createdMs, START_MS + 20_000, 'since it was seen');
  assert.equal(pool.sinceSlot, 100, 'its history is cut, and says so');
  assert.equal(rowsOf(world, 'pairs').size, 2);
  assert.equal(rowsOf(world, 'trades').size, 1, 'the trade after it was seen, and no other');
  await checkRebuild(world);
  await rollBackTo(world, 1);
  assert.equal(rowsOf(world, 'trades').size, 0);
  assert.equal(rowsOf(world, 'pools').size, 1);
  await rollBackTo(world, 0);
  assert.equal(rowsOf(world, 'pools').size, 0);
  await checkRebuild(world);
});
