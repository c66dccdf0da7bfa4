/**
 * The directory against lists that are sorted every time.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PoolDirectory } from '../../../src/engine/directory/directory.ts';
import { POOL_LISTS } from '../../../src/engine/market/poolView.ts';
import type { PoolRecord } from '../../../src/engine/store/records.ts';
import {
  directoryOf,
  naiveList,
  rowsOf,
  type Say,
  somePool,
  tokenAt,
  tokensOf,
} from './directoryPools.ts';

type Step =
  | { readonly do: 'set'; readonly index: number; readonly say: Say }
  | { readonly do: 'remove' | 'touch'; readonly index: number };

const index = fc.nat(11);
/** Few values, so that there are ties. */
const say: fc.Arbitrary<Say> = fc.record({
  createdMs: fc.constantFrom(null, 0, 400, 1_000, 61_000),
  lastTradeMs: fc.constantFrom(null, 1_200, 1_900, 70_000),
  graduated: fc.boolean(),
  amount: fc.constantFrom(0, 1, 1_000_000, 300_000_000),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('set' as const), index, say }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'touch'), index }) },
);

/** Each step has its own entry, and every third entry has no step. */
const seqOf = (at: number) => 10 + Math.floor(at * 1.5);

test('lists, top and positions of changes are those of freshly sorted pools', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(index, say), { selector: ([at]) => at }),
      fc.array(step, { maxLength: 40 }),
      (first, steps) => {
        const pools = new Map<string, PoolRecord>();
        for (const [at, what] of first) pools.set(tokenAt(at), somePool(tokenAt(at), what));
        const directory = directoryOf(rowsOf(pools.values()), 9);
        const changed = new Map([...pools.keys()].map((token) => [token, 9]));
        const seqs: number[] = [];
        check(directory, pools, changed);
        for (const [at, each] of steps.entries()) {
          const seq = seqOf(at);
          if (!perform(each, seq, pools, directory)) continue;
          changed.set(tokenAt(each.index), seq);
          seqs.push(seq);
          check(directory, pools, changed);
        }
        checkChanges(directory, seqs);
      },
    ),
    { numRuns: 300 },
  );
});

/** Whether a field that clients see changed. */
function perform(
  each: Step,
  seq: number,
  pools: Map<string, PoolRecord>,
  directory: PoolDirectory,
) {
  const token = tokenAt(each.index);
  const before = pools.get(token);
  if (each.do === 'touch') {
    directory.markChanged(token, seq);
    return before !== undefined;
  }
  const pool = each.do === 'set' ? somePool(token, each.say) : null;
  directory.set(token, pool === null ? null : JSON.stringify(pool), seq);
  if (pool === null) return pools.delete(token);
  pools.set(token, pool);
  return JSON.stringify(pool) !== JSON.stringify(before);
}

function check(
  directory: PoolDirectory,
  pools: ReadonlyMap<string, PoolRecord>,
  changed: ReadonlyMap<string, number>,
): void {
  const all = [...pools.values()];
  assert.equal(directory.size, all.length);
  for (const list of POOL_LISTS) {
    const expected = naiveList(list, all);
    assert.deepEqual(tokensOf(directory.page(list, 100)), expected, list);
    assert.deepEqual(tokensOf(directory.page(list, 3)), expected.slice(0, 3));
  }
  const [top] = naiveList('all', all);
  assert.equal(directory.top()?.pool.token, top);
  for (const token of changed.keys()) {
    const found = directory.find(token);
    assert.deepEqual(found?.pool, pools.get(token));
    if (found !== null) assert.equal(found.changedSeq, changed.get(token));
  }
}

function checkChanges(directory: PoolDirectory, seqs: readonly number[]): void {
  for (let from = 9; from < 75; from += 3) {
    for (const to of [from, from + 1, from + 2, from + 20]) {
      const expected = seqs.some((seq) => seq > from && seq <= to);
      assert.equal(directory.changedBetween(from, to), expected, `(${from}, ${to}]`);
    }
  }
}

test('the top has changed when its pool, its place or what is seen of it did', () => {
  const of = (at: number, amount: number) => {
    const pool = somePool(tokenAt(at), { amount });
    return [pool.token, JSON.stringify(pool)] as const;
  };
  const directory = directoryOf([], 5);
  const steps: [change: () => void, topSeq: number][] = [
    [() => directory.set(...of(0, 1_000_000), 6), 6],
    [() => directory.set(...of(1, 2), 7), 6],
    [() => directory.markChanged(tokenAt(1), 8), 6],
    [() => directory.markChanged(tokenAt(0), 9), 9],
    [() => directory.set(...of(1, 3_000_000), 10), 10],
    [() => directory.set(...of(0, 2_000_000), 11), 10],
    [() => directory.set(tokenAt(1), null, 12), 12],
    [() => directory.set(tokenAt(0), null, 13), 13],
    [() => directory.set(tokenAt(0), null, 14), 13],
  ];
  assert.equal(directory.topSeq, 5);
  for (const [change, topSeq] of steps) {
    change();
    assert.equal(directory.topSeq, topSeq);
  }
  assert.equal(directory.top(), null);
});

test('an equal row is no change, and a change makes another object', () => {
  const token = tokenAt(0);
  const pool = somePool(token);
  const text = JSON.stringify(pool);
  const directory = directoryOf([{ key: token, value: text }], 1);
  const first = directory.find(token);
  directory.set(token, text, 2);
  assert.equal(directory.find(token), first);
  assert.equal(directory.changedBetween(1, 2), false);
  directory.markChanged(token, 3);
  const touched = directory.find(token);
  assert.notEqual(touched, first);
  assert.deepEqual([touched?.pool, touched?.changedSeq, first?.changedSeq], [pool, 3, 1]);
});

test('for a position long ago, changes count as possible', () => {
  const token = tokenAt(0);
  const directory = directoryOf([], 100);
  assert.equal(directory.changedBetween(99, 100), true, 'before its time');
  assert.equal(directory.changedBetween(100, 5_000), false);
  for (let seq = 101; seq < 20_000; seq += 2) {
    directory.set(token, JSON.stringify(somePool(token, { createdMs: seq })), seq);
  }
  assert.equal(directory.changedBetween(200, 200), false, 'nothing lies between');
  assert.equal(directory.changedBetween(201, 202), true, 'forgotten, so not sure');
  assert.equal(directory.changedBetween(19_001, 19_002), false);
  assert.equal(directory.changedBetween(19_002, 19_003), true);
});
