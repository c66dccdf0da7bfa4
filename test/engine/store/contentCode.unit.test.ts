/** The code of a trade's content, against BigInts alone. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contentCode } from '../../../src/engine/store/tradeIds.ts';

const MOST = (1n << 53n) - 1n;
const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: MOST }),
  fc.bigInt({ min: MOST - 9n, max: MOST + 9n }),
  fc.bigInt({ min: 0n, max: 1n << 120n }),
  fc.bigInt({ min: 4_294_967_280n, max: 4_294_967_300n }),
);

test('amounts of any size have the code that BigInts alone give', () => {
  fc.assert(
    fc.property(amount, amount, fc.nat(253_402_300_799_999), (baseAmount, quoteAmount, timeMs) => {
      const amounts = (baseAmount * 1_000_003n + quoteAmount * 7_368_787n) % 4_294_967_291n;
      const moment = (BigInt(timeMs) % 1_000_000_007n) * 31n;
      const expected = ((amounts + moment) % 4_294_967_291n).toString(36);
      assert.equal(contentCode({ timeMs, baseAmount, quoteAmount }), expected);
    }),
    { includeErrorInReport: true, numRuns: 5_000 },
  );
});
