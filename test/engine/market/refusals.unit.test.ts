/** Which trades are refused, and with which cause first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import type { PoolState } from '../../../src/engine/market/pool.ts';
import { quote, type Side } from '../../../src/engine/market/quote.ts';
import { AMM_AT_GRADUATION, curveAt } from './pools.ts';

const CURVE = curveAt(200_000_000n, 835_771_813n);
const NEAR_CAP = { ...curveAt(736_463_000n, 18_188_377_000n) };

function verdict(pool: PoolState, side: Side, amount: bigint): string {
  const answer = quote(pool, DEFAULT_FEES, { side, amount, slippage: '15' });
  return answer.outcome === 'refused' ? answer.cause : answer.outcome;
}

test('a coin side below 1 ADA is too small, on every side and venue', () => {
  for (const pool of [CURVE, AMM_AT_GRADUATION]) {
    for (const side of ['BUY', 'BUY_WITH_OUTPUT', 'SELL'] as const) {
      assert.equal(verdict(pool, side, 0n), 'MIN_TRADE_AMOUNT');
      assert.equal(verdict(pool, side, 1n), 'MIN_TRADE_AMOUNT');
    }
    assert.equal(verdict(pool, 'BUY', 999_999n), 'MIN_TRADE_AMOUNT');
    assert.equal(verdict(pool, 'BUY', 1_000_000n), 'quote');
  }
});

test('a sell counts by its gross output, a buy with output by its computed input', () => {
  const tokens = 134_356n;
  const gross = (amount: bigint) => verdict(CURVE, 'SELL', amount);
  assert.deepEqual([gross(tokens - 1n), gross(tokens)], ['MIN_TRADE_AMOUNT', 'quote']);
  const input = (amount: bigint) => verdict(CURVE, 'BUY_WITH_OUTPUT', amount);
  assert.deepEqual([input(132_895n), input(132_896n)], ['MIN_TRADE_AMOUNT', 'quote']);
});

test('a buy may pass the threshold by 0.1 % of the cap and no lovelace more', () => {
  // 18,206,591,400 - 18,188,377,000 may enter: 18,214,400 of net.
  const most = 18_398_383n;
  const next = quote(NEAR_CAP, DEFAULT_FEES, { side: 'BUY', amount: most, slippage: '15' });
  assert.ok(next.outcome === 'quote');
  assert.equal(next.exchange.next.x, 18_206_591_400n);
  assert.equal(verdict(NEAR_CAP, 'BUY', most + 1n), 'MAX_TRADE_AMOUNT');
  assert.equal(verdict(NEAR_CAP, 'BUY', 10n ** 30n - 1n), 'MAX_TRADE_AMOUNT');
});

test('at the cap nothing trades until graduation', () => {
  const full = { ...NEAR_CAP, x: NEAR_CAP.thresholdLovelace };
  assert.equal(verdict(full, 'BUY', 1_000_000n), 'MAX_TRADE_AMOUNT');
  assert.equal(verdict(full, 'SELL', 1_000_000n), 'MAX_TRADE_AMOUNT');
  assert.equal(verdict(full, 'SELL', 1n), 'MIN_TRADE_AMOUNT');
  assert.equal(verdict({ ...full, x: full.x - 1n }, 'SELL', 1_000_000n), 'quote');
});

test('no pool gives what it does not have, or takes tokens that are not there', () => {
  for (const pool of [CURVE, AMM_AT_GRADUATION]) {
    const outside = 1_000_000_000n - pool.y;
    assert.equal(verdict(pool, 'BUY_WITH_OUTPUT', pool.y), 'MAX_TRADE_AMOUNT');
    assert.equal(verdict(pool, 'BUY_WITH_OUTPUT', 10n ** 30n - 1n), 'MAX_TRADE_AMOUNT');
    assert.equal(verdict(pool, 'SELL', outside), 'quote');
    assert.equal(verdict(pool, 'SELL', outside + 1n), 'MAX_TRADE_AMOUNT');
    assert.equal(verdict(pool, 'SELL', 10n ** 30n - 1n), 'MAX_TRADE_AMOUNT');
  }
});
