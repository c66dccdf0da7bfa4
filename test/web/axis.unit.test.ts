/** Numbers of a price axis: all numbers have one form, and no two are equal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { axisNumber, formOf } from '../../src/web/chart/axis.ts';
import { shortDecimal } from '../../src/web/format.ts';

const written = (values: readonly number[]) => {
  const form = formOf(values);
  return values.map((value) => axisNumber(value, form));
};

test('marks around a power of ten count the same zeros', () => {
  assert.deepEqual(written([0.000008, 0.00001, 0.000012]), ['0.0₄08', '0.0₄10', '0.0₄12']);
  assert.deepEqual(written([0.0000017, 0.0000025, 0.00002]), ['0.0₄017', '0.0₄025', '0.0₄200']);
  assert.deepEqual(written([0.95, 1, 1.05]), ['0.95', '1.00', '1.05']);
  assert.deepEqual(written([0.0025, 0.005, 0.0075]), ['0.0025', '0.0050', '0.0075']);
});

test('large numbers share a letter', () => {
  assert.deepEqual(written([8000, 10_000, 12_000]), ['8k', '10k', '12k']);
  assert.deepEqual(written([80_000, 100_000, 120_000]), ['80k', '100k', '120k']);
  assert.deepEqual(written([500_000, 1_000_000, 1_500_000]), ['0.5M', '1.0M', '1.5M']);
});

test('rounding errors around zero show as zero, and no mark is below it', () => {
  const marks = [0.000015000000000000002, 0.00001, 0.000005000000000000002, 1.7e-21, -0.000005];
  assert.deepEqual(written(marks), ['0.0₄15', '0.0₄10', '0.0₄05', '0', '']);
  assert.deepEqual(written([]), []);
});

test('between the marks there are finer digits in the same form', () => {
  const form = formOf([0.000008, 0.00001, 0.000012]);
  assert.equal(axisNumber(0.0000090761, form, 2), '0.0₄0907');
  assert.equal(axisNumber(0.00025, form, 2), '0.00025000', 'above what its marks count');
});

test('a number between the marks is cut as the header cuts it, never rounded up', () => {
  const form = formOf([20_000, 30_000, 40_000]);
  assert.equal(axisNumber(32_061, form, 1), '32.0k');
  assert.equal(shortDecimal('32061'), '32.0k');
  assert.equal(axisNumber(32_100 - 1e-9, form, 1), '32.1k', 'an error of floating point');
});

test('marks with a step of an axis all differ, each with the same decimals', () => {
  const steps = fc.record({
    exponent: fc.integer({ min: -14, max: 9 }),
    step: fc.constantFrom(1, 2, 2.5, 5),
    first: fc.integer({ min: 1, max: 30 }),
    count: fc.integer({ min: 2, max: 9 }),
  });
  fc.assert(
    fc.property(steps, ({ exponent, step, first, count }) => {
      const size = step * 10 ** exponent;
      const texts = written(Array.from({ length: count }, (_, index) => (first + index) * size));
      assert.equal(new Set(texts).size, count, texts.join());
      const decimals = texts.map((text) => /\.(.*)$/.exec(text)?.[1]?.length ?? 0);
      assert.equal(new Set(decimals).size, 1, texts.join());
    }),
  );
});
