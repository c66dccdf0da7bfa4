/** Prices of executed orders: exact ratios of integers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OrderFacts, viewOrder } from '../../src/engine/market/orderView.ts';
import { executedPrice } from '../../src/web/wallet/orderPrice.ts';

const TOKEN = 'ab'.repeat(28);

test('the price of an executed order is lovelace by tokens, exactly, whatever was sold', () => {
  const buy = { from: '.', status: 'Evaluated', filledAmount: '5000001', toAmount: '3' } as const;
  assert.equal(executedPrice(buy), '1.666667');
  const sell = {
    from: TOKEN,
    status: 'Evaluated',
    filledAmount: '9007199254740993',
    toAmount: '9007199254740993000000',
  } as const;
  assert.equal(executedPrice(sell), '1');
});

test('an order of which nothing was executed has no price, though it names what it accepts', () => {
  const open = { from: '.', status: 'Pending', filledAmount: '0', toAmount: '12' } as const;
  assert.equal(executedPrice(open), null);
  assert.equal(executedPrice({ ...open, status: 'Refunded', toAmount: '0' }), null);
  const part = { ...open, filledAmount: '2000000' } as const;
  assert.equal(executedPrice(part), '0.166666666666666667');
});

test('an order that filled in part has a price, and none while its last fill is pending', () => {
  const facts: OrderFacts = {
    order: {
      ref: `${'cd'.repeat(32)}:0`,
      at: '0',
      token: TOKEN,
      side: 'buy',
      amount: '10000000',
      worstPrice: { numerator: '1', denominator: '1' },
      feeLovelace: '1000000',
      depositLovelace: '1500000',
      refundAfterMs: 0,
      address: 'addr_test1',
      pkh: 'ef'.repeat(28),
      beacon: 'ef'.repeat(28),
    },
    confirmed: 'open',
    isPlacing: false,
    end: null,
    parts: { tx: 'ab'.repeat(32), amount: 5_000_000n, received: 100n },
    feeLovelace: 0n,
    pendingPartTx: null,
    endedMs: null,
    placedMs: 0,
    venue: 'CURVE',
  };
  assert.equal(executedPrice(viewOrder(facts)), '0.05');
  const end = { kind: 'executed', tx: 'cd'.repeat(32), received: '100', unspent: '0' } as const;
  assert.equal(executedPrice(viewOrder({ ...facts, end })), null);
  const ended = { ...facts, end, confirmed: 'ended', endedMs: 1 } as const;
  assert.equal(executedPrice(viewOrder(ended)), '0.05');
});
