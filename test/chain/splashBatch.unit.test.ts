/** Batches of orders on a pool of Splash, of any length and mix: their trades add up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Executed, executedOnSplash } from '../../src/chain/recognise/fillOrder.ts';
import type { PlacedOrder } from '../../src/engine/market/events.ts';
import { earnedOf, splashOut } from '../../src/engine/market/splash.ts';

const FEES = { feeNum: 99_100n, treasuryFee: 50n, royaltyFee: 50n };
const FEE_LOVELACE = 2_000_000n;
const BEFORE = { venue: 'AMM', x: 27_294_849_940n, y: 275_018_276n, owed: 0n } as const;

function orderOf(at: number, side: 'buy' | 'sell', amount: bigint): PlacedOrder {
  const ref = `${String(at).padStart(64, '0')}:0`;
  return {
    ...{ ref, at: String(at).padStart(6, '0'), side, amount: String(amount), token: 'token' },
    ...{ feeLovelace: String(FEE_LOVELACE), depositLovelace: '1500000', inParts: true },
    ...{ worstPrice: { numerator: '1', denominator: '1' }, refundAfterMs: 0, address: '' },
    ...{ pkh: '', beacon: '' },
  };
}

function kept(amount: bigint): bigint {
  const { treasury, royalty } = earnedOf(amount, FEES);
  return amount <= 0n ? amount : amount - treasury - royalty;
}

interface Wanted {
  readonly isBuy: boolean;
  readonly amount: bigint;
  /** The part of the fee that the executor gave back. */
  readonly returned: bigint;
}

/**
 * Executes orders one after the other by the pool's arithmetic; the reserves change once, by the
 * sum.
 */
function play(wanted: readonly Wanted[]) {
  let [x, y]: [bigint, bigint] = [BEFORE.x, BEFORE.y];
  let [coinIn, tokensIn] = [0n, 0n];
  const paid: bigint[] = [];
  const executed = wanted.map(({ isBuy, amount, returned }, index): Executed => {
    const out = splashOut(amount, isBuy ? x : y, isBuy ? y : x, FEES);
    const [inX, inY] = isBuy ? [amount, -out] : [-out, amount];
    [coinIn, tokensIn] = [coinIn + inX, tokensIn + inY];
    [x, y] = [x + kept(inX), y + kept(inY)];
    paid.push(isBuy ? 0n : out);
    // A sale receives the pool's payment and the returned part of the fee.
    const received = isBuy ? out : out + returned;
    const order = orderOf(index, isBuy ? 'buy' : 'sell', amount);
    return { order, amount, received, feeLovelace: FEE_LOVELACE };
  });
  const [movedX, movedY] = coinIn > 0n ? [kept(coinIn), tokensIn] : [coinIn, kept(tokensIn)];
  const after = { ...BEFORE, x: BEFORE.x + movedX, y: BEFORE.y + movedY };
  return { executed, after, paid: paid.reduce((sum, each) => sum + each, 0n), coinIn };
}

const anyWanted = fc.array(
  fc.record({
    isBuy: fc.boolean(),
    amount: fc.bigInt(3_000_000n, 900_000_000n),
    returned: fc.bigInt(0n, FEE_LOVELACE),
  }),
  { minLength: 2, maxLength: 9 },
);

/**
 * A token costs more than a lovelace, so a sale of fewer tokens moves the pool as much as the buy.
 */
function scaled(wanted: readonly Wanted[]): Wanted[] {
  return wanted.map((each) => (each.isBuy ? each : { ...each, amount: each.amount / 100n }));
}

test('every order is one trade; sums, bounds and the state behind the last one hold', () => {
  fc.assert(
    fc.property(anyWanted, fc.integer(), (wanted, seed) => {
      const { executed, after, paid, coinIn } = play(scaled(wanted));
      const turned = executed.map((_, at) => {
        const from = (at + Math.abs(seed)) % executed.length;
        return executed[from] ?? assert.fail();
      });
      const found = executedOnSplash(turned, BEFORE, after, FEES) ?? assert.fail('no steps');
      assert.equal(found.steps.length, executed.length);
      assert.deepEqual(
        new Set(found.steps.map(({ order }) => order.ref)),
        new Set(executed.map(({ order }) => order.ref)),
      );
      let sales = 0n;
      for (const { order, lovelace, tokens } of found.steps) {
        const { amount, received } = executed[Number(order.at)] ?? assert.fail();
        if (order.side === 'buy') assert.deepEqual([lovelace, tokens], [kept(amount), received]);
        else {
          assert.equal(tokens, kept(amount));
          assert.ok(lovelace <= received && lovelace >= received - FEE_LOVELACE);
          sales += lovelace;
        }
      }
      // Where treasury and royalty earn of lovelace, several inputs may have left the same.
      const off = sales < paid ? paid - sales : sales - paid;
      assert.ok(off <= (coinIn > 0n ? 2n : 0n), `${off} lovelace`);
      assert.deepEqual(found.steps.at(-1)?.to, after);
    }),
    { numRuns: 500, includeErrorInReport: true },
  );
});

test('orders that do not add up to the change of the pool give no steps', () => {
  fc.assert(
    fc.property(anyWanted, (wanted) => {
      const { executed, after } = play(scaled(wanted));
      const more = { ...after, y: after.y + 1n };
      assert.equal(executedOnSplash(executed, BEFORE, more, FEES), null);
      const far = { ...after, x: after.x - 20n * FEE_LOVELACE };
      assert.equal(executedOnSplash(executed, BEFORE, far, FEES), null);
    }),
    { numRuns: 200, includeErrorInReport: true },
  );
});
