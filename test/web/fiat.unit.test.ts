/** Dollars on the page: exact products of decimals, shown and never computed with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { coins, money, product, rate, shortMoney, unit } from '../../src/web/fiat.ts';
import { shortPrice } from '../../src/web/format.ts';
import { moneyText, signed } from '../../src/web/wallet/gainText.ts';

test('a product of decimals is exact, however long they are', () => {
  assert.equal(product('0.0000025', '0.45'), '0.000001125');
  assert.equal(product('12345678901234567890.1', '3'), '37037036703703703670.3');
  const decimal = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 1, max: 9 }));
  const text = (digits: bigint, places: number) => {
    const padded = String(digits).padStart(places + 1, '0');
    return `${padded.slice(0, -places)}.${padded.slice(-places)}`;
  };
  fc.assert(
    fc.property(decimal, decimal, ([a, places], [b, others]) => {
      const [whole = '', fraction = ''] = product(text(a, places), text(b, others)).split('.');
      const scale = places + others;
      assert.equal(BigInt(whole + fraction.padEnd(scale, '0')), a * b);
    }),
  );
});

test('dollars are shown only where there is a rate and the reader wants them', () => {
  const shown = () => [money('2.5', shortPrice), shortMoney('18188.4'), coins(2_500_000n, 2)];
  const inAda = ['2.5', '18.1k\u00a0₳', '2.50\u00a0₳'];
  assert.deepEqual(shown(), inAda);
  unit.value = 'usd';
  assert.deepEqual(shown(), inAda, 'no rate is known');
  rate.value = '0.45';
  assert.deepEqual(shown(), ['$1.125', '$8.18k', '$1.12']);
  assert.equal(coins(2_500_000n, 0), '$1');
  unit.value = 'ada';
  assert.deepEqual(shown(), inAda);
});

test('gains keep their sign in either unit, and nothing has none', () => {
  const shown = () => [moneyText('1234.567'), signed('-12.5'), signed('0.75'), signed('-0.001')];
  assert.deepEqual(shown(), ['1,234.56\u00a0₳', '−12.50\u00a0₳', '+0.75\u00a0₳', '0\u00a0₳']);
  unit.value = 'usd';
  rate.value = '2';
  assert.deepEqual(shown(), ['$2,469.13', '−$25', '+$1.50', '$0']);
  unit.value = 'ada';
});
