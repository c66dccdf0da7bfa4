/** Numbers on the page: cut and grouped as text, never through floating point. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as format from '../../src/web/format.ts';

/** No-break spaces as plain ones. */
function plain(text: string): string {
  return text.replaceAll(/[\u00a0\u202f]/g, ' ');
}

test('ADA: grouped, cut and not rounded up', () => {
  assert.equal(plain(format.ada(1_999_999n)), '1.99 ₳');
  assert.equal(plain(format.ada('1234567891234')), '1,234,567.89 ₳');
  assert.equal(plain(format.ada(5n)), '0.00 ₳');
  assert.equal(plain(format.ada(18_188_999_999n, 0)), '18,188 ₳');
});

test('ADA of any amount: never more than there is, less than a hundredth too little', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (lovelace) => {
      const digits = plain(format.ada(lovelace)).replaceAll(/[^0-9.]/g, '');
      const [whole = '', fraction = ''] = digits.split('.');
      const shown = BigInt(whole + fraction) * 10_000n;
      assert(shown <= lovelace && lovelace - shown < 10_000n);
    }),
  );
});

test('short amounts keep three or four digits', () => {
  const cases: [bigint, string][] = [
    [0n, '0'],
    [999n, '999'],
    [1_000n, '1k'],
    [1_239n, '1.23k'],
    [12_399n, '12.3k'],
    [999_999n, '999k'],
    [1_000_000_000n, '1B'],
    [986_521_230n, '986M'],
  ];
  for (const [amount, text] of cases) assert.equal(format.short(amount), text);
});

test('columns show as many digits in every row', () => {
  const amounts = ['999999', '11000', '7500.4', '690.5', '29.2', '3', '0'];
  const texts = ['999k', '11.0k', '7.50k', '690', '29.2', '3.00', '0.00'];
  assert.deepEqual(amounts.map(format.shortDecimal), texts);
  const prices = ['0.00000633', '0.0000116123', '0.5', '12.5', '1234', '0'];
  const shown = ['0.0₅6330', '0.0₄1161', '0.5000', '12.50', '1,234.00', '0'];
  assert.deepEqual(
    prices.map((price) => format.columnPrice(price, 4)),
    shown,
  );
});

test('prices keep their zeros and their first digits', () => {
  assert.equal(format.shortPrice('0.000002545182123'), '0.00000254518');
  assert.equal(format.shortPrice('0.5'), '0.5');
  assert.equal(format.shortPrice('1234.56789'), '1,234.567');
  assert.equal(format.shortPrice('0'), '0');
});

test('many zeros of a price are counted', () => {
  assert.equal(format.subscriptZeros('0.000002545182123', 3), '0.0₅254');
  assert.equal(format.subscriptZeros('0.000002545182123456'), '0.0₅25451821');
  assert.equal(format.subscriptZeros('0.00000000000795'), '0.0₁₁795');
  assert.equal(format.subscriptZeros('0.00012'), '0.00012');
  assert.equal(format.subscriptZeros('12.5'), '12.5');
  assert.equal(format.subscriptZeros('0'), '0');
});

test('percents are cut to two digits, and nothing of nothing is 0', () => {
  assert.equal(format.percent(1n, 3n), '33.33');
  assert.equal(format.percent(2n, 3n), '66.66');
  assert.equal(format.percent(0n, 5n), '0.00');
  assert.equal(format.percent(5n, 5n), '100.00');
  assert.equal(format.percent(1n, 0n), '0');
});

test('ages have one unit', () => {
  const ages = [-3, 59, 60, 3599, 3600, 172_799, 172_800].map((age) => plain(format.age(age)));
  assert.deepEqual(ages, ['0 s', '59 s', '1 min', '59 min', '1 h', '47 h', '2 d']);
});

test('a percentage has two digits while it is small, and none once it is large', () => {
  assert.equal(format.shortPercent('0.5'), '0.50');
  assert.equal(format.shortPercent('99.999'), '99.99');
  assert.equal(format.shortPercent('1234.56'), '1,234');
  assert.equal(format.shortPercent('1234567.00'), '1.23M');
});
