/** Plans of the three kinds of build that matter: no script, one script, a full batch. */

import { planCancel, planOrder } from '../../src/cardano/transactions/order.ts';
import type { TransactionPlan } from '../../src/cardano/transactions/plan.ts';
import { batchStep } from '../../src/chain/executor/fundedStep.ts';
import { MAX_ORDERS, matchOrders } from '../../src/chain/executor/matching.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import {
  curveSold,
  float,
  placed,
  poolOf,
  stepPlan,
} from '../../test/cardano/transactions/market.ts';
import {
  ADA,
  ALICE,
  ada,
  COLLATERAL,
  DEPLOYMENT,
  holding,
  NOW_MS,
  orderOf,
  person,
  REFERENCES,
  SLOTS,
  TOKEN,
} from '../../test/cardano/transactions/world.ts';

export { SLOTS } from '../../test/cardano/transactions/world.ts';

const WALLET_OUTPUTS = 20;
const GUESSED_FEE_LOVELACE = 1_200_000n;

/** A buy, out of a wallet with some outputs of ADA and some of tokens. */
export function orderPlan(): TransactionPlan {
  const wallet = Array.from({ length: WALLET_OUTPUTS }, (_, n) =>
    n % 2 === 0 ? ada(ALICE, 100n * ADA) : holding(ALICE, 2n * ADA, TOKEN, 1_000n + BigInt(n)),
  );
  return planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), wallet, NOW_MS).plan;
}

/** An order that is cancelled: one script. */
export function cancelPlan(): TransactionPlan {
  const plan = planCancel(
    DEPLOYMENT,
    { order: placed(ALICE, 'buy', 5n * ADA, 0).utxo, changeAddress: ALICE.address },
    { wallet: [], references: [REFERENCES.order], collateral: COLLATERAL, slots: SLOTS },
    NOW_MS,
  );
  if (plan instanceof Failure) throw new Error(plan.message);
  return plan;
}

/** Buys and sells of as many people on a curve pool, as many as a batch takes: 17 scripts. */
export function batchPlan(): TransactionPlan {
  const { fees, feeAddress } = DEPLOYMENT;
  const state = curveSold(200_000_000n);
  const orders = Array.from({ length: MAX_ORDERS }, (_, n) =>
    n % 3 === 2
      ? placed(person(100 + n), 'sell', 1_000_000n, n)
      : placed(person(100 + n), 'buy', BigInt(5 + n) * ADA, n),
  );
  const pool = poolOf(state);
  const { utxo, float: reserved } = float();
  const batch = matchOrders({
    pool: state,
    orders: orders.map(({ order }) => order),
    fees,
    nowMs: NOW_MS,
    maxOrders: MAX_ORDERS,
  });
  const plan = batchStep({
    ...{ batch, pool: pool.output, fees, feeAddress, funding: [reserved] },
    networkFeeLovelace: GUESSED_FEE_LOVELACE,
  });
  if (plan.outcome !== 'funded') throw new Error('a batch without a plan');
  const spent = new Set(plan.inputs.map(({ ref }) => `${ref.txHash}:${ref.index}`));
  const utxos = [pool.utxo, utxo, ...orders.map((each) => each.utxo)];
  const isSpent = ({ ref }: { ref: { txHash: string; index: number } }) =>
    spent.has(`${ref.txHash}:${ref.index}`);
  return stepPlan(plan, utxos.filter(isSpent), batch.next);
}
