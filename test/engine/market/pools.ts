/** Pools for tests: the two of the fee table, and any pool that trading could have made. */
import fc from 'fast-check';
import {
  buyTokens,
  type CurveParameters,
  DEFAULT_CURVE,
} from '../../../src/engine/market/curve.ts';
import { DEFAULT_FEES, type FeeParameters } from '../../../src/engine/market/fees.ts';
import {
  type AmmPool,
  type CurvePool,
  DEFAULT_THRESHOLD_LOVELACE,
  type PoolState,
} from '../../../src/engine/market/pool.ts';

/** Fees without a least trade, so that dust is tried too. */
export const DUST_FEES: FeeParameters = { ...DEFAULT_FEES, minTradeLovelace: 1n };

/** The curve after `sold` tokens, with the least reserve that covers them. */
export function curveAt(sold: bigint, reserveLovelace: bigint): CurvePool {
  return {
    venue: 'CURVE',
    x: reserveLovelace,
    y: DEFAULT_CURVE.supply - sold,
    curve: DEFAULT_CURVE,
    thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
  };
}

/** The AMM pool of the fee table: the default curve just graduated. */
export const AMM_AT_GRADUATION: AmmPool = {
  venue: 'AMM',
  x: 18_188_400_000n,
  y: 263_536_686n,
  owed: 0n,
  supply: 1_000_000_000n,
};

const MAINNET_CURVES: readonly CurveParameters[] = [
  { aNum: 298_759_111_111n, bNum: 0n, supply: 1_000_000_000n },
  { aNum: 74_737_329_614n, bNum: 1_274_818n, supply: 1_000_000_000n },
];

export const anyCurve: fc.Arbitrary<CurveParameters> = fc.oneof(
  fc.constant(DEFAULT_CURVE),
  fc.constantFrom(...MAINNET_CURVES),
  fc.record({
    aNum: fc.bigInt(1n, 10n ** 13n),
    bNum: fc.oneof(fc.constant(0n), fc.bigInt(0n, 10n ** 8n)),
    supply: fc.constant(1_000_000_000n),
  }),
);

/** Amounts of every magnitude from 1 to 10^digits. */
export function anyMagnitude(digits: number): fc.Arbitrary<bigint> {
  return fc
    .tuple(fc.integer({ min: 0, max: digits }), fc.double({ min: 1, max: 10, noNaN: true }))
    .map(([power, lead]) => {
      const amount = (BigInt(Math.floor(lead * 1_000)) * 10n ** BigInt(power)) / 1_000n;
      return amount > 10n ** BigInt(digits) ? 10n ** BigInt(digits) : amount;
    });
}

/** A default curve after a first buy of any size. */
const anyCurvePool: fc.Arbitrary<CurvePool> = fc
  .bigInt(0n, DEFAULT_THRESHOLD_LOVELACE - 1n)
  .map((x) => curveAt(buyTokens(DEFAULT_CURVE, 0n, x), x));

export const anyAmmPool: fc.Arbitrary<AmmPool> = fc.record({
  venue: fc.constant('AMM' as const),
  x: fc.bigInt(100_000_000n, 10n ** 12n),
  y: fc.bigInt(1_000n, 900_000_000n),
  owed: fc.bigInt(0n, 10n ** 7n),
  supply: fc.constant(1_000_000_000n),
});

export const anyPool: fc.Arbitrary<PoolState> = fc.oneof(anyCurvePool, anyAmmPool);
