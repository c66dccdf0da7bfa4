/** The order of the market and of prices. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareIds, comparePrices, compareTrades } from '../../../src/engine/market/trade.ts';
import { anyTrades, shuffled } from '../../support/anyTrade.ts';

const someTrades = anyTrades(fc.nat(5), 12);

test('trades sort by time, then by length of the id, then by its text', () => {
  const at = (timeMs: number, id: string) => ({ timeMs, id, baseAmount: 1n, quoteAmount: 1n });
  const ordered = [at(1, 'z'), at(2, '9'), at(2, '10'), at(2, '9a'), at(2, '100'), at(3, '1')];
  assert.deepEqual(ordered.toReversed().sort(compareTrades), ordered);
  assert.ok(compareIds('9', '10') < 0 && compareIds('10', '9') > 0);
  assert.equal(compareIds('10', '10'), 0);
});

test('the order is total: any arrangement sorts to the same one', () => {
  const pairs = someTrades.chain((trades) => fc.tuple(fc.constant(trades), shuffled(trades)));
  fc.assert(
    fc.property(pairs, ([trades, other]) => {
      assert.deepEqual(other.toSorted(compareTrades), trades.toSorted(compareTrades));
      for (const a of trades) {
        for (const b of trades) {
          const order = Math.sign(compareTrades(a, b));
          assert.equal(order, 0 - Math.sign(compareTrades(b, a)));
          assert.equal(order === 0, a === b);
        }
      }
    }),
  );
});

test('prices that differ by less than a quotient can say compare as BigInts do', () => {
  const amount = fc.oneof(
    fc.bigInt({ min: 1n, max: 1n << 53n }),
    fc.bigInt({ min: 1n, max: 1n << 70n }),
    fc.bigInt({ min: 1n, max: 1n << 1100n }),
  );
  const near = fc.tuple(fc.bigInt({ min: -3n, max: 3n }), fc.bigInt({ min: -3n, max: 3n }));
  fc.assert(
    fc.property(amount, amount, fc.bigInt({ min: 1n, max: 9n }), near, (quote, base, by, moved) => {
      const one = { quoteAmount: quote, baseAmount: base };
      const two = { quoteAmount: quote * by + moved[0], baseAmount: base * by + moved[1] };
      fc.pre(two.quoteAmount >= 0n && two.baseAmount > 0n);
      const left = one.quoteAmount * two.baseAmount;
      const right = two.quoteAmount * one.baseAmount;
      const expected = left < right ? -1 : left > right ? 1 : 0;
      assert.equal(comparePrices(one, two), expected);
      assert.equal(comparePrices(two, one), 0 - expected);
    }),
    { includeErrorInReport: true, numRuns: 2_000 },
  );
});

test('prices compare as exact ratios, whatever the amounts', () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 40n });
  fc.assert(
    fc.property(amount, amount, amount, amount, (a, b, c, d) => {
      const one = { id: '1', timeMs: 0, quoteAmount: a, baseAmount: b };
      const two = { id: '2', timeMs: 0, quoteAmount: c, baseAmount: d };
      const scaled = { id: '3', timeMs: 0, quoteAmount: a * d, baseAmount: b * d };
      assert.equal(comparePrices(one, scaled), 0);
      assert.equal(comparePrices(one, two), 0 - comparePrices(two, one));
      const raised = { ...scaled, quoteAmount: scaled.quoteAmount + 1n };
      assert.ok(comparePrices(one, raised) < 0);
    }),
  );
});
