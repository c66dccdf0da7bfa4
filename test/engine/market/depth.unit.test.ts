/** Depth of pools beside its definition in whole numbers, and beside quotes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amountIn, amountOut } from '../../../src/engine/market/amm.ts';
import { buyTokens, DEFAULT_CURVE, spot } from '../../../src/engine/market/curve.ts';
import {
  type DepthDigits,
  depthTotal,
  keepOf,
  poolDepth,
} from '../../../src/engine/market/depth.ts';
import { buyWithOutput } from '../../../src/engine/market/exchange.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import {
  type AmmPool,
  DEFAULT_THRESHOLD_LOVELACE,
  type PoolState,
  reachedCap,
  soldOf,
  spotOf,
} from '../../../src/engine/market/pool.ts';
import { quote } from '../../../src/engine/market/quote.ts';
import type { Ratio } from '../../../src/engine/market/ratio.ts';
import { earnedOf, splashIn, splashOut } from '../../../src/engine/market/splash.ts';

const FEES = DEFAULT_FEES;
/** Prices have 18 decimals in ADA: this many steps make a lovelace. */
const UNIT = 10n ** 12n;
/** The curve of a token of mainnet. */
const FREE_CURVE = { aNum: 298_759_111_111n, bNum: 0n, supply: 1_000_000_000n };

/** The second begins at price 0. */
const curves = fc
  .tuple(fc.constantFrom(DEFAULT_CURVE, FREE_CURVE), fc.bigInt(0n, DEFAULT_THRESHOLD_LOVELACE))
  .map(([curve, x]): PoolState => {
    const y = curve.supply - buyTokens(curve, 0n, x);
    return { venue: 'CURVE', x, y, curve, thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE };
  });
const reserves = fc.record({
  x: fc.bigInt({ min: 1_000n, max: 10n ** 13n }),
  y: fc.bigInt({ min: 2n, max: 10n ** 9n }),
});
const amms = reserves.map(({ x, y }): AmmPool => {
  return { venue: 'AMM', x, y, owed: 0n, supply: 10n ** 9n };
});
const splashes = fc
  .record({
    x: fc.bigInt({ min: 10n ** 9n, max: 10n ** 13n }),
    y: fc.bigInt({ min: 10n ** 7n, max: 10n ** 9n }),
    treasuryFee: fc.bigInt({ min: 0n, max: 500n }),
  })
  .map(({ x, y, treasuryFee }): AmmPool => {
    const splash = { feeNum: 99_700n, treasuryFee, royaltyFee: 0n };
    return { venue: 'AMM', x, y, owed: 0n, supply: 10n ** 9n, splash };
  });
const anyPool = fc.oneof(curves, amms, splashes);
const anyGrid = fc.record({ digits: fc.constantFrom<DepthDigits>(3, 4), levels: fc.nat(30) });

/** Spot after exactly `tokens`, by hand. */
function after(pool: PoolState, kind: 'buy' | 'sell', tokens: bigint): Ratio {
  if (pool.venue === 'CURVE') {
    return spot(pool.curve, soldOf(pool) + (kind === 'buy' ? tokens : -tokens));
  }
  const { x, y, splash } = pool;
  if (splash === undefined) {
    return kind === 'buy'
      ? { numerator: x + amountIn(tokens, x, y, FEES.lpFeePer10k), denominator: y - tokens }
      : { numerator: x - amountOut(tokens, y, x, FEES.lpFeePer10k), denominator: y + tokens };
  }
  const given = kind === 'buy' ? splashIn(tokens, x, y, splash) : tokens;
  const { treasury, royalty } = earnedOf(given, splash);
  return kind === 'buy'
    ? { numerator: x + given - treasury - royalty, denominator: y - tokens }
    : {
        numerator: x - splashOut(tokens, y, x, splash),
        denominator: y + tokens - treasury - royalty,
      };
}

/** `0.0000123` in lovelace. */
function lovelaceOf(price: string): Ratio {
  const [whole = '', fraction = ''] = price.split('.');
  return {
    numerator: BigInt(whole + fraction) * 10n ** 6n,
    denominator: 10n ** BigInt(fraction.length),
  };
}

function isAtMost(a: Ratio, b: Ratio): boolean {
  return a.numerator * b.denominator <= b.numerator * a.denominator;
}

function product(a: Ratio, b: Ratio): Ratio {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

function inverse({ numerator, denominator }: Ratio): Ratio {
  return { numerator: denominator, denominator: numerator };
}

function significant(price: string): number {
  return price.replace('.', '').replace(/^0+/, '').replace(/0+$/, '').length;
}

test('each level holds the most tokens that its price allows, and no price is left out', () => {
  fc.assert(
    fc.property(anyPool, anyGrid, (pool, grid) => {
      const keep = keepOf(pool, FEES);
      const { asks, bids } = poolDepth(pool, FEES, grid);
      // At its cap a curve takes no trade, only its graduation.
      if (pool.venue === 'CURVE' && reachedCap(pool)) {
        assert.deepEqual([asks, bids], [[], []]);
        return;
      }
      const sides = [
        ['buy', asks, (price: Ratio, spot: Ratio) => isAtMost(spot, product(price, keep))],
        [
          'sell',
          bids,
          (price: Ratio, spot: Ratio) => isAtMost(product(price, inverse(keep)), spot),
        ],
      ] as const;
      for (const [kind, levels, allows] of sides) {
        const most = kind === 'buy' ? maxBought(pool) : 10n ** 9n - pool.y;
        let tokens = 0n;
        for (const [index, level] of levels.entries()) {
          assert.ok(significant(level.price) <= grid.digits, level.price);
          assert.equal(level.tokens, tokens + level.amount);
          assert.ok(level.amount > 0n && level.tokens <= most);
          const price = lovelaceOf(level.price);
          assert.ok(allows(price, after(pool, kind, level.tokens)));
          if (level.tokens < most) assert.ok(!allows(price, after(pool, kind, level.tokens + 1n)));
          // The grid's price before this one allows no token of it.
          const before = neighbour(level.price, grid.digits, kind);
          assert.ok(
            !allows(before, after(pool, kind, tokens + 1n)),
            `${kind} ${index} skips a price`,
          );
          tokens = level.tokens;
        }
        if (levels.length < grid.levels && !isWorthless(pool, kind, tokens)) {
          assert.equal(tokens, most);
        }
      }
    }),
  );
});

/** The next token that is sold would bring less than the least price that can be written. */
function isWorthless(pool: PoolState, kind: 'buy' | 'sell', tokens: bigint): boolean {
  if (kind === 'buy' || tokens === 10n ** 9n - pool.y) return false;
  const least = { numerator: 2n, denominator: UNIT };
  return isAtMost(after(pool, kind, tokens + 1n), least);
}

/** The price of the grid next to this one, nearer to spot. */
function neighbour(price: string, digits: DepthDigits, kind: 'buy' | 'sell'): Ratio {
  const { numerator, denominator } = lovelaceOf(price);
  const steps = (numerator * UNIT) / denominator;
  if (steps <= 10n ** BigInt(digits - 1)) {
    return { numerator: steps + (kind === 'buy' ? -1n : 1n), denominator: UNIT };
  }
  // An integer of `digits` digits, times a power of ten.
  let [scale, whole] = [1n, numerator];
  while (whole < 10n ** BigInt(digits - 1)) [scale, whole] = [scale * 10n, whole * 10n];
  let unit = 1n;
  while (whole / unit >= 10n ** BigInt(digits)) unit *= 10n;
  const mantissa = whole / unit;
  if (kind === 'sell')
    return { numerator: (mantissa + 1n) * unit, denominator: denominator * scale };
  const isLowest = mantissa === 10n ** BigInt(digits - 1);
  return isLowest
    ? { numerator: (mantissa * 10n - 1n) * unit, denominator: denominator * scale * 10n }
    : { numerator: (mantissa - 1n) * unit, denominator: denominator * scale };
}

/** By the refusals of trades: none brings one token more. */
function maxBought(pool: PoolState): bigint {
  const free = { ...FEES, minTradeLovelace: 0n };
  let [yes, no] = [0n, pool.y];
  while (no - yes > 1n) {
    const middle = (yes + no) / 2n;
    if (buyWithOutput(pool, free, middle).outcome === 'exchange') yes = middle;
    else no = middle;
  }
  return yes;
}

test('asks lie above spot and bids below it, by the fees in percent', () => {
  fc.assert(
    fc.property(anyPool, anyGrid, (pool, grid) => {
      const { asks, bids } = poolDepth(pool, FEES, grid);
      const keep = keepOf(pool, FEES);
      const [ask, bid] = [asks[0], bids[0]];
      if (ask) assert.ok(isAtMost(spotOf(pool), product(lovelaceOf(ask.price), keep)));
      if (bid) assert.ok(isAtMost(lovelaceOf(bid.price), product(spotOf(pool), keep)));
    }),
  );
});

test('the total of a level is the quote of all tokens up to it', () => {
  let quoted = 0;
  fc.assert(
    fc.property(anyPool, anyGrid, (pool, grid) => {
      const { asks, bids } = poolDepth(pool, FEES, grid);
      const sides = [
        ['buy', 'BUY_WITH_OUTPUT', asks],
        ['sell', 'SELL', bids],
      ] as const;
      for (const [kind, side, levels] of sides) {
        for (const { tokens } of levels) {
          const found = quote(pool, FEES, { side, amount: tokens, slippage: '15' });
          // Too small for a trade, or for a whole lovelace.
          if (found.outcome === 'refused') {
            assert.equal(found.cause, 'MIN_TRADE_AMOUNT');
            continue;
          }
          quoted += 1;
          const { inputAmount, outputAmount } = found.exchange;
          const expected = kind === 'buy' ? inputAmount : outputAmount;
          assert.equal(depthTotal(pool, FEES, kind, tokens), expected);
        }
      }
    }),
  );
  assert.ok(quoted > 500, `${quoted} levels were quoted`);
});

test('a curve at its cap has no depth, an untouched one no bids', () => {
  const curve = { venue: 'CURVE', curve: DEFAULT_CURVE } as const;
  const thresholdLovelace = DEFAULT_THRESHOLD_LOVELACE;
  const grid = { digits: 3, levels: 100 } as const;
  const full = { ...curve, thresholdLovelace, x: thresholdLovelace, y: 250_000_000n };
  assert.deepEqual(poolDepth(full, FEES, grid), { bids: [], asks: [] });
  const untouched = { ...curve, thresholdLovelace, x: 0n, y: DEFAULT_CURVE.supply };
  const { bids, asks } = poolDepth(untouched, FEES, grid);
  assert.deepEqual([bids.length, asks.length], [0, 100]);
});
