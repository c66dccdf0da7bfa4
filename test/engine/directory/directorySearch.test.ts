/**
 * Search against looking at every pool.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PoolRecord } from '../../../src/engine/store/records.ts';
import { directoryOf, naiveSearch, rowsOf, somePool, tokenAt, tokensOf } from './directoryPools.ts';

/** Short alphabets, so that much is found; with what could be taken for a separator. */
const text = fc
  .array(
    fc.constantFrom('a', 'B', 'b', 'é', 'Ж', '猫', '🚀', '.', ' ', '\n', '\0', '%', '*', '"'),
    {
      maxLength: 5,
    },
  )
  .map((signs) => signs.join(''));
const pool = fc.record({ name: text, ticker: text, amount: fc.constantFrom(0, 5, 1_000_000) });
const sought = fc.oneof(
  text.filter((each) => each !== ''),
  fc.constantFrom('0', 'ab', 'f.7', '.', tokenAt(3), tokenAt(3).toUpperCase(), '\ud83d', 'b\na'),
);

test('a search finds, ranks and pages as looking at every pool does', () => {
  fc.assert(
    fc.property(
      fc.array(pool, { maxLength: 20 }),
      fc.array(fc.tuple(sought, fc.nat(6), fc.integer({ min: 1, max: 8 })), { minLength: 1 }),
      fc.array(fc.nat(19), { maxLength: 3 }),
      (some, questions, gone) => {
        const pools = new Map(
          some.map((say, at): [string, PoolRecord] => [tokenAt(at), somePool(tokenAt(at), say)]),
        );
        const directory = directoryOf(rowsOf(pools.values()), 1);
        const ask = () => {
          for (const [pattern, offset, limit] of questions) {
            const expected = naiveSearch(pattern, [...pools.values()]);
            const { count, items } = directory.search(pattern, offset, limit);
            assert.equal(count, expected.length, JSON.stringify(pattern));
            assert.deepEqual(tokensOf(items), expected.slice(offset, offset + limit));
          }
        };
        ask();
        for (const at of gone) {
          pools.delete(tokenAt(at));
          directory.set(tokenAt(at), null, 2);
        }
        ask();
        const again = somePool(tokenAt(30), { name: 'ab', amount: 3_000_000 });
        pools.set(again.token, again);
        directory.set(again.token, JSON.stringify(again), 3);
        ask();
      },
    ),
    { numRuns: 300 },
  );
});

test('every page of thousands of matches is right, also when market caps move', () => {
  const pools = Array.from({ length: 2_600 }, (_, at) => {
    const name = at % 40 === 0 ? 'Cat' : at % 3 === 0 ? `cat ${at}` : `a cat ${at}`;
    return somePool(tokenAt(at), { name, amount: (at * 7_919) % 1_000 });
  });
  const directory = directoryOf(rowsOf(pools), 1);
  const check = () => {
    const expected = naiveSearch('CAT', pools);
    assert.equal(expected.length, 2_600);
    const found = [];
    for (let offset = 0; offset < 2_700; offset += 100) {
      const { count, items } = directory.search('CAT', offset, 100);
      assert.equal(count, 2_600);
      found.push(...tokensOf(items));
    }
    assert.deepEqual(found, expected);
  };
  check();
  for (const at of [5, 40, 1_000, 2_599]) {
    const traded = somePool(tokenAt(at), { name: pools[at]?.name ?? '', amount: 500_000 + at });
    pools[at] = traded;
    directory.set(traded.token, JSON.stringify(traded), 2);
  }
  check();
});

test('case does not count in any script, nor which form of Unicode a letter has', () => {
  const named = (name: string) => somePool(tokenAt(0), { name, ticker: 'TOK' });
  for (const [name, pattern, isFound] of [
    ['Straße', 'STRAß', true],
    ['ΟΔΟΣ', 'οδος', true],
    ['ΟΔΟΣΑ', 'ΟΔΟΣ', true],
    ['Cafe\u0301', 'CAF\u00c9', true],
    ['ПРИВЕТ', 'привет', true],
    ['I', 'i', true],
    ['Café', 'cafe', false],
    ['100%', '%', true],
    ['100', '%', false],
    ['cat', 'c.t', false],
    ['(cat', '(', true],
  ] as const) {
    const directory = directoryOf(rowsOf([named(name)]), 1);
    assert.equal(directory.search(pattern, 0, 10).count, isFound ? 1 : 0, `${name} ${pattern}`);
  }
});
