/** Random trades for properties: equal times, prices and amounts are likely, huge ones possible. */
import fc from 'fast-check';
import type { Trade } from '../../src/engine/market/trade.ts';

const base = fc.oneof(fc.bigInt({ min: 1n, max: 6n }), fc.bigInt({ min: 1n, max: 10n ** 39n }));
/** Small prices times a factor: 2/1, 4/2 and 6/3 are one price as different ratios. */
const amounts = fc
  .tuple(fc.bigInt({ min: 1n, max: 4n }), fc.bigInt({ min: 1n, max: 3n }), base)
  .map(([price, divisor, factor]) => ({
    baseAmount: divisor * factor,
    quoteAmount: price * factor,
  }));
const freeAmounts = fc.record({ baseAmount: base, quoteAmount: base });

/** Trades with ids of their own, at times from `times`. */
export function anyTrades(times: fc.Arbitrary<number>, maxLength = 30): fc.Arbitrary<Trade[]> {
  const id = fc.oneof(
    fc.nat(2_000).map(String),
    fc.stringMatching(/^[a-z0-9-]{1,12}$/),
    fc.constantFrom('9', '10', '😀', '￮￮', 'é', 'e'),
  );
  const one = fc
    .tuple(id, times, fc.oneof(amounts, freeAmounts))
    .map(([name, timeMs, { baseAmount, quoteAmount }]): Trade => {
      return { id: name, timeMs, baseAmount, quoteAmount };
    });
  return fc.uniqueArray(one, { selector: ({ id: name }) => name, minLength: 1, maxLength });
}

/** The same trades, each with the prices of the pool before and after it. */
export function withSteps(trades: readonly Trade[]): fc.Arbitrary<Trade[]> {
  const spot = amounts.map(({ baseAmount, quoteAmount }) => {
    return { numerator: quoteAmount, denominator: baseAmount };
  });
  const step = fc.record({ isBuy: fc.boolean(), before: spot, after: spot });
  return fc.tuple(...trades.map(() => step)).map((steps) =>
    trades.map((trade, index) => {
      const of = steps[index];
      return of === undefined ? trade : { ...trade, step: of };
    }),
  );
}

/** The same items in any order. */
export function shuffled<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length });
}
