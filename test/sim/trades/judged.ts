/**
 * A batch against a pool, built as the executor builds it, and run through the real validators: the
 * evaluator accepts it, and refuses it when the pool's output is one lovelace or one token short.
 */

import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { assemble } from '../../../src/cardano/transactions/assemble.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { batchStep } from '../../../src/chain/executor/fundedStep.ts';
import { matchOrders } from '../../../src/chain/executor/matching.ts';
import type { PoolState } from '../../../src/engine/market/pool.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { float, placed, poolOf, stepPlan } from '../../cardano/transactions/market.ts';
import { ADA, DEPLOYMENT, evaluate, NOW_MS, person } from '../../cardano/transactions/world.ts';
import { PARAMETERS } from '../../support/parameters.ts';

const MAX_ORDERS = 8;
const GUESSED_FEE_LOVELACE = 1_200_000n;

/** How many orders were filled; a text names the fault. */
export function judgeBatch(state: PoolState, rng: Rng): number | string {
  const { fees, feeAddress, curve } = DEPLOYMENT;
  const pool = poolOf(state);
  const held = (state.venue === 'CURVE' ? curve.supply : state.supply) - state.y;
  const orders = Array.from({ length: 1 + Math.floor(rng.unit() * MAX_ORDERS) }, (_, n) => {
    const sells = held > 10_000_000n && rng.unit() < 0.4;
    const amount = sells
      ? 1_000_000n + BigInt(Math.floor(rng.unit() * 1_000_000))
      : ADA + BigInt(Math.floor(rng.unit() * 40_000_000));
    return placed(person(200 + n), sells ? 'sell' : 'buy', amount, n);
  });
  const open = orders.map(({ order }) => order);
  const batch = matchOrders({ pool: state, orders: open, fees, nowMs: NOW_MS, maxOrders: 16 });
  if (batch.fills.length === 0) return 0;
  const { utxo, float: reserved } = float();
  const request = { batch, pool: pool.output, fees, feeAddress, funding: [reserved] };
  const plan = batchStep({ ...request, networkFeeLovelace: GUESSED_FEE_LOVELACE });
  if (plan.outcome !== 'funded') return `no plan: ${plan.missingLovelace} lovelace are missing`;
  const known = [pool.utxo, utxo, ...orders.map((each) => each.utxo)];
  const inputs = new Set(plan.inputs.map(({ ref }) => `${ref.txHash}:${ref.index}`));
  const spent = known.filter(({ ref }) => inputs.has(`${ref.txHash}:${ref.index}`));
  const transaction = stepPlan(plan, spent, batch.next);
  const verdict = run(transaction);
  if (verdict !== 'accepted') return `the validators refuse what the executor built: ${verdict}`;
  for (const [lovelace, tokens] of [
    [1n, 0n],
    [0n, 1n],
  ] as const) {
    const short = shortBy(transaction, pool.output.address, lovelace, tokens);
    const judged = run(short);
    if (judged !== 'refused')
      return `a pool ${lovelace} lovelace, ${tokens} tokens short: ${judged}`;
  }
  return batch.fills.length;
}

/** `refused`: by a script. Anything else says why no script was asked. */
function run(plan: TransactionPlan): string {
  const outcome = assemble(structuredClone(plan), { parameters: PARAMETERS, evaluate });
  if (outcome.outcome === 'built') return 'accepted';
  return outcome.reason === 'SCRIPT_FAILED' ? 'refused' : outcome.message;
}

/**
 * The same plan with this much less in the pool's output, and more in the first payment to a
 * person.
 */
function shortBy(
  plan: TransactionPlan,
  address: string,
  lovelace: bigint,
  tokens: bigint,
): TransactionPlan {
  const at = plan.outputs.findIndex((output) => output.address === address);
  const to = plan.outputs.findIndex(
    (output) => parseAddress(output.address)?.payment.kind === 'key',
  );
  const token = [...(plan.outputs[at]?.value.assets ?? [])].find(([, amount]) => amount > 1n)?.[0];
  const outputs = plan.outputs.map((output, index) => {
    const sign = index === at ? -1n : index === to ? 1n : 0n;
    if (sign === 0n || token === undefined) return output;
    const { value } = output;
    const assets = new Map(value.assets);
    if (tokens !== 0n) assets.set(token, (assets.get(token) ?? 0n) + sign * tokens);
    return { ...output, value: { lovelace: value.lovelace + sign * lovelace, assets } };
  });
  return { ...plan, outputs };
}
