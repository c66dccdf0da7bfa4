/** Shares, the least input for a net amount, launch fee, the room above the cap, fee outputs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  batchIncomeLovelace,
  DEFAULT_FEES,
  inputForNet,
  launchFeeLovelace,
  maxReserveLovelace,
  netOf,
  sharesOf,
} from '../../../src/engine/market/fees.ts';
import { anyMagnitude } from './pools.ts';

test('the least input at one percent is the formula of the page', () => {
  fc.assert(
    fc.property(anyMagnitude(15), (net) => {
      const formula = (100n * (net - 1n)) / 99n + 1n;
      assert.equal(inputForNet('CURVE', DEFAULT_FEES, net), formula);
    }),
    { numRuns: 3_000, includeErrorInReport: true },
  );
});

test('no smaller input leaves as much, although shares may jump together', () => {
  const left = (input: bigint) => netOf(input, sharesOf('AMM', DEFAULT_FEES, input));
  assert.equal(left(20_000n), left(19_999n) - 1n);
  for (let net = 1n; net <= 60_000n; net += 1n) {
    const input = inputForNet('AMM', DEFAULT_FEES, net);
    assert.ok(left(input) >= net);
    assert.ok([1n, 2n, 3n, 4n].every((less) => input <= less || left(input - less) < net));
  }
});

test('a launch pays a fixed fee and a share of the initial buy, one ADA at least', () => {
  assert.equal(launchFeeLovelace(DEFAULT_FEES, 0n), 1_000_000n);
  assert.equal(launchFeeLovelace(DEFAULT_FEES, 50_000_199n), 1_000_001n);
  assert.equal(launchFeeLovelace(DEFAULT_FEES, 50_000_099n), 1_000_000n);
  assert.equal(launchFeeLovelace(DEFAULT_FEES, 1_000_000_000n), 10_500_000n);
});

test('a reserve may pass the threshold by a thousandth of the cap, 2 ADA at least', () => {
  assert.equal(maxReserveLovelace(DEFAULT_FEES, 18_188_400_000n), 18_206_591_400n);
  assert.equal(maxReserveLovelace(DEFAULT_FEES, 100_000_000n), 102_000_000n);
});

test('the income of a batch adds up fees, shares and refunds', () => {
  const curveFill = { percentFee: 50_000n, platform: 0n, creator: 0n };
  const ammFill = { percentFee: 0n, platform: 7_500n, creator: 50_000n };
  const fills = [
    { feeLovelace: 1_100_000n, shares: curveFill },
    { feeLovelace: 1_200_000n, shares: ammFill },
  ];
  const income = 1_100_000n + 50_000n + 1_200_000n + 7_500n + 3n * 600_000n;
  assert.equal(batchIncomeLovelace(DEFAULT_FEES, { fills, refunds: 3 }), income);
});
