/** Open orders for tests: some fill, some wait, some are due for a refund. */
import fc from 'fast-check';
import type { OutputRef } from '../../../src/cardano/codec/output.ts';
import {
  MAX_ORDERS,
  type OpenOrder,
  type StepInput,
} from '../../../src/chain/executor/matching.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { worstPriceOf } from '../../../src/engine/market/order.ts';
import type { PoolState } from '../../../src/engine/market/pool.ts';
import { quote } from '../../../src/engine/market/quote.ts';
import { reduced } from '../../../src/engine/market/ratio.ts';
import { anyAmmPool, anyMagnitude, anyPool } from '../../engine/market/pools.ts';

export const TOKEN = `${'70'.repeat(28)}.544f4b`;
export const NFT = `${'1f'.repeat(28)}.${'ab'.repeat(32)}`;
export const NOW_MS = 1_700_000_000_000;

export type Terms = Pick<OpenOrder, 'kind' | 'amount' | 'worstPrice' | 'feeLovelace'> & {
  readonly depositLovelace: bigint;
  readonly refundAfterMs: bigint;
};

/** Order number `n`: placed n-th; two and two share a hash, and hashes follow no order. */
export function orderOf(n: number, terms: Terms): OpenOrder {
  const { kind, amount, feeLovelace, depositLovelace } = terms;
  const onTop = feeLovelace + depositLovelace;
  const value =
    kind === 'buy'
      ? { lovelace: amount + onTop, assets: new Map() }
      : { lovelace: onTop, assets: new Map([[TOKEN, amount]]) };
  const placed = { slot: 100 + Math.floor(n / 5), txIndex: Math.floor(n / 2) % 7, outputIndex: n };
  return { ...terms, ref: refOf(n), placed, redeemerAddress: `addr_user${n % 3}`, value };
}

export function refOf(n: number): OutputRef {
  const scattered = (Math.floor(n / 2) * 2_654_435_761) % 4_294_967_296;
  return { txHash: scattered.toString(16).padStart(64, '0'), index: n % 2 === 0 ? 11 : 2 };
}

export const PLAIN = {
  feeLovelace: DEFAULT_FEES.executorFeeLovelace,
  depositLovelace: DEFAULT_FEES.orderDepositLovelace,
  refundAfterMs: BigInt(NOW_MS) + 1_200_000n,
} as const;

/** The order that a user would place now, at 15 % slippage. */
export function quotedOrder(n: number, pool: PoolState, side: 'BUY' | 'SELL', amount: bigint) {
  const answer = quote(pool, DEFAULT_FEES, { side, amount, slippage: '15' });
  if (answer.outcome === 'refused') throw new Error(`no quote: ${answer.message}`);
  const { worstPrice, exchange } = answer;
  return orderOf(n, { ...PLAIN, kind: exchange.kind, amount: exchange.inputAmount, worstPrice });
}

/** Worst prices around the pool's price, and some far from it. */
function anyTerms(pool: PoolState): fc.Arbitrary<Terms> {
  return fc
    .record({
      side: fc.constantFrom('BUY', 'SELL'),
      amount: fc.oneof(anyMagnitude(8), anyMagnitude(9)),
      tenths: fc.oneof(fc.integer({ min: 950, max: 1_050 }), fc.integer({ min: 1, max: 3_000 })),
      feeExtra: fc.constantFrom(0n, 0n, 1n, 250_000n),
      depositExtra: fc.constantFrom(0n, 0n, 77n),
      dueIn: fc.constantFrom(-600_000n, -1n, 0n, 1n, 1_200_000n, 10n ** 30n),
    })
    .map(({ side, amount, tenths, feeExtra, depositExtra, dueIn }) => {
      const request = { side, amount, slippage: 'infinity' } as const;
      const answer = quote(pool, DEFAULT_FEES, request);
      const kind = side === 'BUY' ? ('buy' as const) : ('sell' as const);
      const worstPrice =
        answer.outcome === 'refused'
          ? worstPriceOf(amount, 1n, 'infinity')
          : reduced(answer.exchange.outputAmount * BigInt(tenths), amount * 1_000n);
      return {
        ...{ kind, amount, worstPrice },
        feeLovelace: PLAIN.feeLovelace + feeExtra,
        depositLovelace: PLAIN.depositLovelace + depositExtra,
        refundAfterMs: BigInt(NOW_MS) + dueIn,
      };
    });
}

function situations(anyState: fc.Arbitrary<PoolState>): fc.Arbitrary<StepInput> {
  return anyState.chain((pool) =>
    fc.record({
      pool: fc.constant(pool),
      orders: fc
        .array(anyTerms(pool), { maxLength: 40, size: 'max' })
        .map((all) => all.map((terms, n) => orderOf(n, terms)))
        .chain((orders) => fc.shuffledSubarray(orders, { minLength: orders.length })),
      fees: fc.constant(DEFAULT_FEES),
      nowMs: fc.constant(NOW_MS),
      maxOrders: fc.constantFrom(MAX_ORDERS, MAX_ORDERS, 3),
    }),
  );
}

const anyNearCap: fc.Arbitrary<PoolState> = anyPool.map((pool) => {
  if (pool.venue !== 'CURVE') return pool;
  return { ...pool, thresholdLovelace: pool.x + 5_000_000n };
});

export const anySituation = situations(
  fc.oneof(
    anyPool,
    anyNearCap,
    anyAmmPool.map((pool) => ({ ...pool, owed: 0n })),
  ),
);
