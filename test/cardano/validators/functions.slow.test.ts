/**
 * Every pure function of the validators against its twin in `src/engine/market`, in both builds:
 * the chain accepts the amounts that the quote code computes, to the last unit.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Constr, Data } from '@lucid-evolution/lucid';
import fc from 'fast-check';
import { validatorParameters } from '../../../src/cardano/validators/compile.ts';
import { amountOut } from '../../../src/engine/market/amm.ts';
import {
  buyTokens,
  COST_DENOMINATOR,
  type CurveParameters,
  costNumerator,
  costOf,
  DEFAULT_CURVE,
  sellLovelace,
} from '../../../src/engine/market/curve.ts';
import {
  DEFAULT_FEES,
  launchFeeLovelace,
  maxReserveLovelace,
  netOf,
  sharesOf,
} from '../../../src/engine/market/fees.ts';
import { priceHolds } from '../../../src/engine/market/order.ts';
import { accepts, compiled, onChain } from './onchain.ts';
import { BUILDS, blake2b256, SUPPLY } from './world.ts';

const upTo = (max: bigint) => fc.bigInt({ min: 0n, max });
const between = (min: bigint, max: bigint) => fc.bigInt({ min, max });
const tokens = upTo(SUPPLY);
const lovelace = upTo(100_000_000_000n);
const curves: fc.Arbitrary<CurveParameters> = fc
  .tuple(upTo(10n ** 13n), upTo(10n ** 8n))
  .filter(([aNum, bNum]) => aNum + bNum > 0n)
  .map(([aNum, bNum]) => ({ aNum, bNum, supply: SUPPLY }));
const near = fc.constantFrom(-1n, 0n, 1n);
/** Fees of two deployments. */
const TERMS = [
  ['default terms', DEFAULT_FEES],
  [
    'other terms',
    {
      ...{ ...DEFAULT_FEES, percentFee: 3n, poolKeepLovelace: 5_000_001n },
      ...{ launchFeeLeastLovelace: 7_000_003n, launchFeeFixedLovelace: 11n },
      ...{ overshootPer1000: 7n, overshootLovelace: 123_457n },
    },
  ],
] as const;
const MAX_RUNS = Number(process.env.RUNS ?? 120);

for (const build of BUILDS) {
  // The deployed build gets more runs than the debug build.
  const RUNS = { numRuns: build === 'release' ? MAX_RUNS : Math.ceil(MAX_RUNS / 6) };
  const FEWER_RUNS = { numRuns: Math.ceil(RUNS.numRuns / 3) };
  test(`cost_numerator is costNumerator (${build})`, () => {
    const run = onChain('cost_numerator', 3, 'Int', build);
    const holds = fc.property(curves, tokens, (curve, sold) =>
      run([curve.aNum, curve.bNum, sold], costNumerator(curve, sold)),
    );
    fc.assert(holds, RUNS);
  });

  test(`on_curve compares exact costs (${build})`, () => {
    const run = onChain('on_curve', 5, 'Bool', build);
    const holds = fc.property(curves, tokens, tokens, near, (curve, from, to, off) => {
      const step = costNumerator(curve, to) - costNumerator(curve, from);
      const gain = step / COST_DENOMINATOR + off;
      return run([curve.aNum, curve.bNum, from, to, gain], gain * COST_DENOMINATOR >= step);
    });
    fc.assert(holds, RUNS);
  });

  test(`on_curve accepts what is quoted and nothing better (${build})`, () => {
    const run = onChain('on_curve', 5, 'Bool', build);
    const holds = fc.property(curves, tokens, tokens, lovelace, (curve, sold, some, paid) => {
      const at = (to: bigint, gain: bigint, expected: boolean) =>
        run([curve.aNum, curve.bNum, sold, to, gain], expected);
      const bought = buyTokens(curve, sold, paid);
      const back = some < sold ? some : sold;
      const gross = sellLovelace(curve, sold, back);
      const cost = costOf(curve, sold, some);
      return (
        at(sold + bought, paid, true) &&
        at(sold + bought + 1n, paid, false) &&
        at(sold - back, -gross, true) &&
        at(sold - back, -gross - 1n, false) &&
        at(sold + some, cost, true) &&
        at(sold + some, cost - 1n, false)
      );
    });
    fc.assert(holds, FEWER_RUNS);
  });

  for (const [terms, fees] of TERMS) {
    const parameters = validatorParameters(DEFAULT_CURVE, fees);
    test(`within_overshoot is maxReserveLovelace, ${terms} (${build})`, () => {
      const run = onChain('within_overshoot', 2, 'Bool', build, parameters);
      const { poolKeepLovelace: keep } = fees;
      const holds = fc.property(between(keep, 10n ** 11n), near, lovelace, (cap, off, any) => {
        const most = maxReserveLovelace(fees, cap - keep) + keep;
        return run([most + off, cap], off <= 0n) && run([any, cap], any <= most);
      });
      fc.assert(holds, RUNS);
    });

    test(`covers_fee is launchFeeLovelace, ${terms} (${build})`, () => {
      const run = onChain('covers_fee', 2, 'Bool', build, parameters);
      const holds = fc.property(lovelace, near, upTo(3_000_000n), (buy, off, any) => {
        const due = launchFeeLovelace(fees, buy);
        return run([due + off, buy], off >= 0n) && run([any, buy], any >= due);
      });
      fc.assert(holds, RUNS);
    });
  }

  test(`price_holds is priceHolds (${build})`, () => {
    const run = onChain('price_holds', 4, 'Bool', build);
    const ratio = between(1n, 10n ** 14n);
    const holds = fc.property(lovelace, ratio, ratio, near, (spent, num, den, off) => {
      const got = (spent * num + den - 1n) / den + off;
      const expected = priceHolds(got, spent, { numerator: num, denominator: den });
      return expected === off >= 0n && run([got, spent, num, den], expected);
    });
    fc.assert(holds, RUNS);
  });

  test(`curve_bought takes what buyTokens gives, and nothing else (${build})`, () => {
    const run = onChain('curve_bought', 5, 'Bool', build);
    const holds = fc.property(curves, tokens, lovelace, (curve, sold, net) => {
      const most = buyTokens(curve, sold, net);
      const at = (bought: bigint) =>
        run([curve.aNum, curve.bNum, sold, bought, net], bought === most);
      return at(most) && at(most + 1n) && (most === 0n || at(most - 1n));
    });
    fc.assert(holds, FEWER_RUNS);
  });

  test(`curve_gross is sellLovelace (${build})`, () => {
    const run = onChain('curve_gross', 4, 'Int', build);
    const holds = fc.property(curves, tokens, tokens, (curve, sold, some) => {
      const back = some < sold ? some : sold;
      return run([curve.aNum, curve.bNum, sold, back], sellLovelace(curve, sold, back));
    });
    fc.assert(holds, RUNS);
  });

  test(`amm_out is amountOut (${build})`, () => {
    const run = onChain('amm_out', 4, 'Int', build);
    const reserve = between(1n, 10n ** 11n);
    const holds = fc.property(lovelace, reserve, reserve, upTo(10_000n), (amount, x, y, fee) =>
      run([amount, x, y, fee], amountOut(amount, x, y, fee)),
    );
    fc.assert(holds, RUNS);
  });

  test(`shares on the chain are sharesOf (${build})`, () => {
    const net = onChain('net_on_curve', 1, 'Int', build);
    const creator = onChain('creator_share', 1, 'Int', build);
    const platform = onChain('platform_share', 1, 'Int', build);
    const holds = fc.property(lovelace, (coin) => {
      const ofAmm = sharesOf('AMM', DEFAULT_FEES, coin);
      return (
        net([coin], netOf(coin, sharesOf('CURVE', DEFAULT_FEES, coin))) &&
        creator([coin], ofAmm.creator) &&
        platform([coin], ofAmm.platform)
      );
    });
    fc.assert(holds, FEWER_RUNS);
  });

  test(`launch_name hashes the serialised launch id (${build})`, () => {
    const script = compiled(
      `spending check
import { LaunchId, launch_name } from market
enum Case { Case { id: LaunchId::Launched name: ByteArray } }
func main(of: Case::Case, _: Data) -> () { assert(launch_name(of.id) == of.name, "differs") }`,
      build,
    );
    const hex = (bytes: number) =>
      fc
        .uint8Array({ minLength: bytes, maxLength: bytes })
        .map((value) => Buffer.from(value).toString('hex'));
    const stake = fc.oneof(hex(28), fc.constant(''));
    const holds = fc.property(hex(32), upTo(300n), hex(28), stake, (hash, index, pkh, skh) => {
      const seed = new Constr<Data>(0, [new Constr<Data>(0, [hash]), index]);
      const id = new Constr<Data>(0, [seed, pkh, skh]);
      const name = blake2b256(Data.to<Data>(id));
      return (
        accepts(script, new Constr<Data>(0, [id, name])) &&
        !accepts(script, new Constr<Data>(0, [id, 'ab'.repeat(32)]))
      );
    });
    fc.assert(holds, FEWER_RUNS);
  });
}

test('a wrong expectation is noticed', () => {
  const run = onChain('cost_numerator', 3, 'Int', 'release');
  assert.equal(run([1n, 1n, 1n], 3n * 10n ** 21n + 1n), true);
  assert.equal(run([1n, 1n, 1n], 3n * 10n ** 21n), false);
});
