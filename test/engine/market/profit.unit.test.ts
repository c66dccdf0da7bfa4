/**
 * Average cost: by hand, and that no lovelace is made or lost.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Big from 'big.js';
import fc from 'fast-check';
import {
  afterBuy,
  afterSell,
  averagePrice,
  NO_POSITION,
  type Position,
  percentOf,
  unrealizedLovelace,
  worthLovelace,
} from '../../../src/engine/market/profit.ts';
import { roundHalfEven } from '../../../src/engine/market/ratio.ts';

interface Fill {
  readonly side: 'buy' | 'sell';
  readonly tokens: bigint;
  readonly lovelace: bigint;
}

const fill = (side: Fill['side'], tokens: number, lovelace: number): Fill => {
  return { side, tokens: BigInt(tokens), lovelace: BigInt(lovelace) };
};
const after = (position: Position, { side, tokens, lovelace }: Fill) =>
  (side === 'buy' ? afterBuy : afterSell)(position, tokens, lovelace);
const of = (...fills: Fill[]) => fills.reduce(after, NO_POSITION);

test('a sell realizes what it brought beyond the average cost of what it sold', () => {
  const position = of(fill('buy', 100, 1_000), fill('buy', 100, 2_000), fill('sell', 50, 1_000));
  assert.deepEqual(position, {
    buyCount: 2,
    sellCount: 1,
    boughtTokens: 200n,
    soldTokens: 50n,
    spentLovelace: 3_000n,
    receivedLovelace: 1_000n,
    openTokens: 150n,
    openCostLovelace: 2_250n,
    realizedLovelace: 250n,
  });
  const spot = { numerator: 31n, denominator: 2n };
  assert.equal(unrealizedLovelace(position, spot), 75n, '150 × 15.5 − 2250');
  const cheap = { numerator: 1n, denominator: 100n };
  assert.equal(unrealizedLovelace(position, cheap), -2_248n, '1.5 goes to the even 2');
});

test('tokens that came by transfer have no cost and bring no profit', () => {
  const gift = of(fill('sell', 80, 800));
  assert.deepEqual(
    [gift.realizedLovelace, gift.openTokens, gift.receivedLovelace, gift.soldTokens],
    [0n, 0n, 800n, 80n],
  );
  const half = of(fill('buy', 40, 100), fill('sell', 80, 800));
  assert.equal(half.realizedLovelace, 300n, 'half of 800, without the cost of 100');
  assert.deepEqual([half.openTokens, half.openCostLovelace], [0n, 0n]);
  const again = after(half, fill('buy', 10, 30));
  assert.deepEqual([again.openTokens, again.openCostLovelace], [10n, 30n], 'it starts again');
});

test('shares are rounded to the even lovelace, and the rest stays open', () => {
  // Half of 5 is 2, half of 3 is 2.
  const first = of(fill('buy', 2, 5), fill('sell', 1, 10));
  assert.deepEqual([first.realizedLovelace, first.openCostLovelace], [8n, 3n]);
  const last = after(first, fill('sell', 1, 10));
  assert.deepEqual([last.realizedLovelace, last.openCostLovelace], [15n, 0n]);
  const other = of(fill('buy', 2, 3), fill('sell', 1, 10));
  assert.deepEqual([other.realizedLovelace, other.openCostLovelace], [8n, 1n]);
  const matched = of(fill('buy', 1, 0), fill('sell', 2, 5));
  assert.equal(matched.realizedLovelace, 2n, 'half of 5');
});

const anyFill: fc.Arbitrary<Fill> = fc.record({
  side: fc.constantFrom('buy', 'sell'),
  tokens: fc.oneof(fc.bigInt({ min: 1n, max: 9n }), fc.bigInt({ min: 1n, max: 10n ** 12n })),
  lovelace: fc.bigInt({ min: 0n, max: 10n ** 13n }),
});
const anyFills = fc.array(anyFill, { maxLength: 30 });

test('money is conserved: what was spent is the cost of what was sold and of what is open', () => {
  fc.assert(
    fc.property(anyFills, (fills) => {
      let [position, costOfSold, matched, matchedProceeds] = [NO_POSITION, 0n, 0n, 0n];
      for (const each of fills) {
        const next = after(position, each);
        if (each.side === 'sell') {
          const sold = position.openTokens - next.openTokens;
          const cost = position.openCostLovelace - next.openCostLovelace;
          const proceeds = next.realizedLovelace - position.realizedLovelace + cost;
          assert(cost >= 0n && cost <= position.openCostLovelace);
          assert(proceeds >= 0n && proceeds <= each.lovelace);
          assert.equal(sold, each.tokens < position.openTokens ? each.tokens : position.openTokens);
          if (sold === each.tokens) assert.equal(proceeds, each.lovelace, 'all of it is matched');
          // Within half a lovelace of the exact share.
          const off = cost * position.openTokens - position.openCostLovelace * sold;
          assert((off < 0n ? -off : off) * 2n <= position.openTokens);
          costOfSold += cost;
          matched += sold;
          matchedProceeds += proceeds;
        }
        position = next;
      }
      assert.equal(position.spentLovelace, costOfSold + position.openCostLovelace);
      assert.equal(position.boughtTokens, matched + position.openTokens);
      assert.equal(position.realizedLovelace, matchedProceeds - costOfSold);
      if (position.openTokens === 0n) assert.equal(position.openCostLovelace, 0n);
      assert.equal(position.buyCount + position.sellCount, fills.length);
    }),
    { includeErrorInReport: true, numRuns: 1_000 },
  );
});

test('without transfers, what is sold at once at the spot makes gain = received − spent', () => {
  fc.assert(
    fc.property(anyFills, fc.bigInt({ min: 0n, max: 10n ** 6n }), (fills, price) => {
      const spot = { numerator: price, denominator: 7n };
      let position = NO_POSITION;
      for (const each of fills) {
        const isCovered = each.side === 'buy' || each.tokens <= position.openTokens;
        if (isCovered) position = after(position, each);
      }
      const worth = worthLovelace(position.openTokens, spot);
      const gain = position.realizedLovelace + unrealizedLovelace(position, spot);
      assert.equal(gain, position.receivedLovelace + worth - position.spentLovelace);
      if (position.openTokens === 0n) return;
      const closed = afterSell(position, position.openTokens, worth);
      assert.equal(closed.realizedLovelace, gain);
    }),
    { includeErrorInReport: true, numRuns: 1_000 },
  );
});

test('averages are chart prices, percents have two decimals, a half goes to the even one', () => {
  assert.equal(averagePrice(3_000n, 200n), '0.000015');
  assert.equal(averagePrice(1_000_000n, 3n), '0.333333333333333333');
  assert.equal(averagePrice(0n, 0n), '0');
  assert.equal(percentOf(1_234n, 10_000n), '12.34');
  assert.equal(percentOf(-300n, 10_000n), '-3.00');
  assert.equal(percentOf(12_345n, 1_000_000n), '1.23', '1.2345');
  assert.equal(percentOf(1_235n, 100_000n), '1.24', '1.235 is between 1.23 and the even 1.24');
  assert.equal(percentOf(1_225n, 100_000n), '1.22', '1.225 is between the even 1.22 and 1.23');
  assert.equal(percentOf(-1n, 1_000_000n), '0.00', 'no sign without a loss to be seen');
});

test('rounding to the even integer is what big.js says, for any sign', () => {
  const anyInteger = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
  const small = fc.bigInt({ min: -40n, max: 40n });
  const denominator = fc.oneof(
    fc.bigInt({ min: 1n, max: 8n }),
    fc.bigInt({ min: 1n, max: 10n ** 20n }),
  );
  const exact = Big();
  exact.DP = 60;
  fc.assert(
    fc.property(fc.oneof(anyInteger, small), denominator, (top, bottom) => {
      const rounded = new exact(String(top)).div(String(bottom)).round(0, Big.roundHalfEven);
      const found = roundHalfEven({ numerator: top, denominator: bottom });
      assert.equal(String(found), rounded.toFixed().replace(/^-0$/, '0'));
    }),
    { includeErrorInReport: true, numRuns: 2_000 },
  );
});
