/** The short edition of `npm run sim -- trades`, and what its rules say of wrong trades. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buy, type Exchange, sell } from '../../../src/engine/market/exchange.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import type { PoolState } from '../../../src/engine/market/pool.ts';
import { ammWith, curveSold } from '../../cardano/transactions/market.ts';
import { brokenRules } from './rules.ts';
import { runTrades } from './trades.ts';

const SEED = Number(process.env.SEED ?? 11);

test('no trade of many loses or makes a unit, and the validators agree', (context) => {
  const tally = runTrades({ seed: SEED, trades: 40_000, judged: 12 });
  context.diagnostic(`seed ${SEED}: ${JSON.stringify(tally)}`);
  assert.equal(tally.trades, 40_000);
  assert.ok(tally.graduations > 0 && tally.batches > 5 && tally.fills > tally.batches);
});

const POOLS: readonly PoolState[] = [
  curveSold(200_000_000n),
  ammWith(18_188_400_000n, 263_536_686n, 7n),
];

function traded(pool: PoolState, kind: Exchange['kind']): Exchange {
  const trade =
    kind === 'buy' ? buy(pool, DEFAULT_FEES, 5_000_000n) : sell(pool, DEFAULT_FEES, 1_000_000n);
  assert.ok(trade.outcome === 'exchange');
  return trade;
}

test('a trade that is one unit off breaks a rule, whichever unit it is', () => {
  for (const pool of POOLS) {
    for (const kind of ['buy', 'sell'] as const) {
      const trade = traded(pool, kind);
      assert.deepEqual(brokenRules(pool, DEFAULT_FEES, trade), []);
      const { next, shares } = trade;
      const wrong: readonly Exchange[] = [
        { ...trade, inputAmount: trade.inputAmount + 1n },
        { ...trade, outputAmount: trade.outputAmount - 1n },
        { ...trade, next: { ...next, x: next.x - 1n } },
        { ...trade, next: { ...next, y: next.y + 1n } },
        { ...trade, shares: { ...shares, percentFee: shares.percentFee + 1n } },
        { ...trade, shares: { ...shares, creator: shares.creator + 1n } },
        // Nothing is lost, but the pool gives a token more or less than its law says.
        ...[1n, -1n].map((off) => oneTokenOff(trade, off)),
      ];
      for (const each of wrong) assert.notDeepEqual(brokenRules(pool, DEFAULT_FEES, each), []);
    }
  }
});

function oneTokenOff(trade: Exchange, off: bigint): Exchange {
  const { kind, next } = trade;
  const moved = { ...trade, next: { ...next, y: next.y - off } };
  return kind === 'buy'
    ? { ...moved, outputAmount: trade.outputAmount + off }
    : { ...moved, inputAmount: trade.inputAmount - off };
}
