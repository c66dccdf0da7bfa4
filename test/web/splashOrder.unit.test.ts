/**
 * Texts of the page for orders without a refund time, and for orders that are executed in parts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiOrder } from '../../src/client/types.ts';
import { isPartlyFilled } from '../../src/web/token/orderStatus.ts';
import { termRows } from '../../src/web/trade/quoteTerms.ts';

const TOKEN = { asset: `${'ab'.repeat(28)}.00`, ticker: 'COIN' };

test('an order that is never refunded says so instead of a time', () => {
  const quote = {
    ...{ price: { numerator: '8', denominator: '1' }, priceBase: TOKEN.asset },
    priceQuote: '.',
    pool: `${'00'.repeat(32)}:0`,
    ...{ outputAmount: '1000000', inputAmount: '8000000', outputAsset: TOKEN.asset },
    ...{ inputAsset: '.', worstPrice: { numerator: '1', denominator: '9' }, validUntil: null },
    fees: { percentFee: '0', platform: '4000', creator: '4000', executorFee: '1', deposit: '2' },
  } as const;
  const rowOf = (expiresAt: number) =>
    termRows({ ...quote, expiresAt, venue: 'AMM' }, TOKEN, 1n, null).find(
      ({ term }) => term === 'refundable',
    );
  assert.equal(rowOf(0)?.value, 'never');
  assert.match(rowOf(1_700_000_000_000)?.value ?? '', /\d:\d\d/);
});

test('an open order of which a part was executed is recognised', () => {
  const order = (status: ApiOrder['status'], filledAmount: string) => ({ status, filledAmount });
  assert.ok(isPartlyFilled(order('Pending', '5')));
  assert.ok(!isPartlyFilled(order('Pending', '0')));
  assert.ok(!isPartlyFilled(order('Evaluated', '5')));
});
