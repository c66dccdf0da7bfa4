/** Trades summed up in numbers are the bar of them. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addTrade, firstBar, TradeSum } from '../../../src/engine/market/bar.ts';
import { encodeBar } from '../../../src/engine/market/barText.ts';
import type { Trade } from '../../../src/engine/market/trade.ts';
import { anyTrades, withSteps } from '../../support/anyTrade.ts';

const MOST = BigInt(Number.MAX_SAFE_INTEGER);
/** Around where numbers end to be exact, and where prices are too close for quotients. */
const amount = fc.oneof(
  fc.bigInt({ min: 1n, max: 1n << 56n }),
  fc.bigInt({ min: MOST - 3n, max: MOST + 3n }),
  fc.bigInt({ min: 1n << 51n, max: (1n << 51n) + 3n }),
);
const someTrades = anyTrades(fc.nat(4));
const large = fc
  .tuple(someTrades, fc.array(fc.tuple(amount, amount), { minLength: 1 }))
  .map(([trades, amounts]): Trade[] =>
    trades.map((trade, index) => {
      const [baseAmount = 1n, quoteAmount = 1n] = amounts[index % amounts.length] ?? [];
      return { ...trade, baseAmount, quoteAmount };
    }),
  );

test('a sum in numbers is the bar of the trades it took, and takes all that stay exact', () => {
  fc.assert(
    fc.property(fc.oneof(someTrades, someTrades.chain(withSteps), large), (trades) => {
      const [first, ...others] = trades;
      assert.ok(first !== undefined);
      const sum = TradeSum.of(first);
      const fits = first.baseAmount <= MOST && first.quoteAmount <= MOST;
      assert.equal(sum !== null, fits);
      if (sum === null) return;
      const bar = firstBar(first.timeMs, first);
      for (const trade of others) {
        const base = bar.baseVolume + trade.baseAmount;
        const isTaken = base <= MOST && bar.quoteVolume + trade.quoteAmount <= MOST;
        assert.equal(sum.add(trade), isTaken);
        if (isTaken) addTrade(bar, trade);
      }
      assert.equal(encodeBar(sum.bar()), encodeBar(bar));
    }),
    { includeErrorInReport: true, numRuns: 2_000 },
  );
});
