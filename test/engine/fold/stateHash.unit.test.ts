/** The state hash names what entries changed: no other rows or trades have the same one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateHashAfter } from '../../../src/engine/fold/stateHash.ts';
import { type RowChange, RowRecord, type RowValue } from '../../../src/engine/store/rows.ts';
import { CountedTrades } from '../../../src/engine/store/tradeIds.ts';

const change = (key: string, after: RowValue | null, table: RowChange['table'] = 'orders') =>
  ({ table, key, before: null, after, cause: 'trade' }) satisfies RowChange;

function tradesOf(...trades: readonly (readonly [pair: number, id: string, base: bigint])[]) {
  const counted = new CountedTrades();
  for (const [pair, id, baseAmount] of trades) {
    counted.push(pair, { id, timeMs: 1_000, baseAmount, quoteAmount: 7n });
  }
  return counted;
}

test('each row, its absence, each trade, their order and the hash before tell in it', () => {
  const rows = [change('a', 'x'), change('b', 'y')];
  const trades = tradesOf([1, '1', 5n], [2, '2', 5n]);
  const all = [
    stateHashAfter('', rows, trades),
    stateHashAfter('0', rows, trades),
    stateHashAfter('', rows.toReversed(), trades),
    stateHashAfter('', [change('a', 'x')], trades),
    stateHashAfter('', [change('a', 'x'), change('b', null)], trades),
    stateHashAfter('', [change('a', 'x'), change('b', 'y', 'locks')], trades),
    stateHashAfter('', rows, tradesOf([2, '2', 5n], [1, '1', 5n])),
    stateHashAfter('', rows, tradesOf([1, '1', 5n], [2, '2', 6n])),
    stateHashAfter('', rows, tradesOf([1, '1', 5n], [3, '2', 5n])),
    stateHashAfter('', [], trades),
    stateHashAfter('', rows, tradesOf()),
  ];
  assert.equal(new Set(all).size, all.length);
});

test('a record has the hash of its text, however long the rows are', () => {
  const record = { text: 'y'.repeat(40_000) };
  const some = [change('a', 'x'), change('b', RowRecord.of(record)), change('c', 'z')];
  const same = [change('a', 'x'), change('b', JSON.stringify(record)), change('c', 'z')];
  const trades = tradesOf([1, '1', 5n]);
  assert.equal(stateHashAfter('f', some, trades), stateHashAfter('f', same, trades));
});

test('an entry that changed nothing keeps the hash before it', () => {
  assert.equal(stateHashAfter('f', [], tradesOf()), 'f');
});
