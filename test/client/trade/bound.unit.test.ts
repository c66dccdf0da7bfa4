/** The bound of an order, exact to the unit, and the content id of a logo. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cidOf } from '../../../src/api/images/cid.ts';
import { boundOf, hundredthsOf } from '../../../src/client/trade/bound.ts';
import { contentIdOf } from '../../../src/client/trade/contentId.ts';
import { minimumOutput, priceOfLeast } from '../../../src/engine/market/order.ts';

const AMOUNT = fc.bigInt({ min: 1n, max: 10n ** 18n });
const HUNDREDTHS = fc.bigInt({ min: 0n, max: 9_999n });

function quoted(inputAmount: bigint, outputAmount: bigint) {
  return { inputAmount: String(inputAmount), outputAmount: String(outputAmount) };
}

test('a buy and a sell take no less than the quote less the slippage, rounded up', () => {
  fc.assert(
    fc.property(AMOUNT, AMOUNT, HUNDREDTHS, (amount, output, slippage) => {
      for (const side of ['BUY', 'SELL'] as const) {
        const bound = boundOf(side, amount, quoted(amount, output), slippage);
        assert.equal(bound.maxInput, amount);
        const kept = output * (10_000n - slippage);
        assert(bound.minOutput * 10_000n >= kept && (bound.minOutput - 1n) * 10_000n < kept);
        assert(bound.minOutput >= 1n && bound.minOutput <= output);
      }
    }),
  );
  const any = boundOf('BUY', 5n, quoted(5n, 1_000n), hundredthsOf('infinity'));
  assert.deepEqual(any, { maxInput: 5n, minOutput: 1n });
  const least = boundOf('BUY', 5n, quoted(5n, 1_001n), hundredthsOf('15'));
  assert.equal(least.minOutput, 851n);
});

test('a buy of tokens brings them all, for at most what the slippage adds, rounded down', () => {
  fc.assert(
    fc.property(AMOUNT, AMOUNT, HUNDREDTHS, (amount, input, slippage) => {
      const bound = boundOf('BUY_WITH_OUTPUT', amount, quoted(input, amount + 1n), slippage);
      assert.equal(bound.minOutput, amount);
      const kept = 10_000n - slippage;
      assert(bound.maxInput * kept <= input * 10_000n);
      assert((bound.maxInput + 1n) * kept > input * 10_000n && bound.maxInput >= input);
    }),
  );
  const any = boundOf('BUY_WITH_OUTPUT', 7n, quoted(100n, 7n), null);
  assert.deepEqual(any, { maxInput: 100n, minOutput: 7n });
});

test('the datum of a bound asks for exactly it, and for no less in any parts', () => {
  fc.assert(
    fc.property(AMOUNT, AMOUNT, fc.bigInt({ min: 0n, max: 10n ** 18n }), (input, least, first) => {
      const price = priceOfLeast(input, least);
      assert.equal(minimumOutput(input, price), least);
      const part = first % input;
      const parts = minimumOutput(part, price) + minimumOutput(input - part, price);
      assert(parts >= least && parts <= least + 1n);
    }),
  );
});

test('the content id of a logo is the one that the server computes', async () => {
  for (const size of [1, 1_000, 262_144, 262_145, 786_432, 1_000_003, 5_242_880]) {
    const bytes = new Uint8Array(size).map((_, index) => (index * 31 + size) & 255);
    assert.equal(contentIdOf(bytes), await cidOf(bytes), `${size} bytes`);
  }
});
