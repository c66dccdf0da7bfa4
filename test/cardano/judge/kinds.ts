/** One transaction of each kind that we build, as plans: a foreign evaluator judges them. */
import assert from 'node:assert/strict';
import type { Utxo } from '../../../src/cardano/codec/output.ts';
import type { ProtocolParameters } from '../../../src/cardano/ledger/parameters.ts';
import { planLaunch } from '../../../src/cardano/transactions/launch.ts';
import { planLock, planWithdraw } from '../../../src/cardano/transactions/lock.ts';
import { planCancel, planOrder, planRefund } from '../../../src/cardano/transactions/order.ts';
import { planOf, type TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import {
  batchStep,
  collectStep,
  type FundedStep,
  graduationStep,
} from '../../../src/chain/executor/fundedStep.ts';
import { matchOrders } from '../../../src/chain/executor/matching.ts';
import { graduated, type PoolState } from '../../../src/engine/market/pool.ts';
import { quoteLaunch } from '../../../src/engine/market/quote.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { newSettings } from '../../../src/server/cli/deploySettings.ts';
import { planRotation } from '../../../src/server/cli/rotate.ts';
import {
  AMM_ADDRESS,
  ammWith,
  curveSold,
  float,
  type Placed,
  placed,
  poolOf,
  stepPlan,
} from '../transactions/market.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  COLLATERAL,
  COLLATERAL_OWNER,
  DEPLOYMENT,
  EXECUTOR,
  holding,
  NOW_MS,
  orderOf,
  PLATFORM,
  person,
  REFERENCES,
  SETTINGS,
  SIGNERS,
  SLOTS,
  TOKEN,
  utxo,
} from '../transactions/world.ts';

const GUESS_LOVELACE = 1_200_000n;
const CURVE = curveSold(200_000_000n);
const AMM = ammWith(18_188_400_000n, 263_536_686n, 1_000_000n);

/** By name; the same plans at each call but for the references of their outputs. */
export function plansOf(parameters: ProtocolParameters): Record<string, TransactionPlan> {
  return {
    launch: launch(parameters, 0n),
    'launch with a first buy': launch(parameters, 132_500_000n),
    order: sure(
      planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), [ada(ALICE, 99n * ADA)], NOW_MS),
    ).plan,
    'batch on the curve: one buy': batch(CURVE, [placed(ALICE, 'buy', 5n * ADA, 0)]),
    'batch on the curve: one sell': batch(CURVE, [placed(ALICE, 'sell', 1_000_000n, 0)]),
    'batch on the curve: twelve': batch(CURVE, mixed(12)),
    'refunds of a batch': batch(CURVE, [placed(BOB, 'sell', 5n, 0, 1_300_000)]),
    graduation: graduation(),
    'batch on the AMM: one buy': batch(AMM, [placed(ALICE, 'buy', 5n * ADA, 0)]),
    'batch on the AMM: one sell': batch(AMM, [placed(ALICE, 'sell', 50_000n, 0)]),
    'batch on the AMM: eight': batch(AMM, mixed(8)),
    collect: collect(),
    'cancel of a buy': cancel('buy'),
    'cancel of a sell': cancel('sell'),
    'refund by a stranger': refund(),
    lock: sure(planLock(DEPLOYMENT, lock(2), [holding(ALICE, 50n * ADA, TOKEN, 150n)], NOW_MS)),
    withdrawal: withdrawal(),
    'settings of a deployment': settings(parameters),
    rotation: rotation(),
  };
}

function sure<T>(outcome: T | Failure): T {
  assert.ok(!(outcome instanceof Failure), outcome instanceof Failure ? outcome.message : '');
  return outcome;
}

function launch(parameters: ProtocolParameters, buy: bigint): TransactionPlan {
  const { curve, thresholdLovelace, fees } = DEPLOYMENT;
  const quote = quoteLaunch(curve, thresholdLovelace, fees, buy);
  assert.ok(quote.outcome === 'launch');
  const metadata = {
    ticker: 'DAVE',
    logoCID: 'bafkreicvwyxybvpllwbwgazxsmazslidtjlidoqtrwue7oqng6ij7kvlmm',
    description: 'A token',
    launchType: 0,
    mediaType: 'image/png',
    socials: { twitter: '', discord: '', telegram: '', website: 'https://dave.example' },
  };
  const request = { creator: ALICE.address, name: 'Dave', metadata, quote };
  const wallet = [ada(ALICE, 300n * ADA)];
  const references = [REFERENCES.launchPolicy, SETTINGS];
  const data = { wallet, references, collateral: COLLATERAL, parameters };
  return sure(planLaunch(DEPLOYMENT, request, data)).plan;
}

const { fees, feeAddress } = DEPLOYMENT;

function batch(state: PoolState, orders: readonly Placed[]): TransactionPlan {
  const pool = poolOf(state);
  const { utxo: funds, float: reserved } = float();
  const open = orders.map(({ order }) => order);
  const matched = matchOrders({ pool: state, orders: open, fees, nowMs: NOW_MS, maxOrders: 16 });
  assert.equal(matched.fills.length + matched.refunds.length, orders.length);
  const request = { batch: matched, pool: pool.output, fees, feeAddress, funding: [reserved] };
  const plan = batchStep({ ...request, networkFeeLovelace: GUESS_LOVELACE });
  return step(plan, [pool.utxo, funds, ...orders.map((each) => each.utxo)], matched.next);
}

function step(
  plan: ReturnType<typeof batchStep>,
  utxos: readonly Utxo[],
  next: PoolState | null,
): TransactionPlan {
  assert.ok(plan.outcome === 'funded');
  const spent = new Set(plan.inputs.map(({ ref }: FundedStep['inputs'][number]) => ref.txHash));
  return stepPlan(
    plan,
    utxos.filter(({ ref }) => spent.has(ref.txHash)),
    next,
  );
}

function mixed(count: number): Placed[] {
  return Array.from({ length: count }, (_, n) => {
    const someone = person(100 + n);
    const owner = n % 2 === 0 ? someone : { ...someone, address: someone.enterprise };
    return n % 3 === 2
      ? placed(owner, 'sell', 1_000_000n, n)
      : placed(owner, 'buy', BigInt(5 + n) * ADA, n);
  });
}

function graduation(): TransactionPlan {
  const state = curveSold(736_463_314n, 10_000n);
  assert.ok(state.venue === 'CURVE');
  const pool = poolOf(state);
  const { utxo: funds, float: reserved } = float();
  const request = { pool: pool.output, fees, feeAddress, funding: [reserved] };
  const plan = graduationStep({ ...request, networkFeeLovelace: GUESS_LOVELACE }, AMM_ADDRESS);
  return step(plan, [pool.utxo, funds], graduated(state));
}

function collect(): TransactionPlan {
  const pool = poolOf(ammWith(18_188_400_000n, 263_536_686n, 5_000_001n));
  const { utxo: funds, float: reserved } = float();
  const request = { pool: pool.output, fees, feeAddress, funding: [reserved] };
  const plan = collectStep({ ...request, networkFeeLovelace: GUESS_LOVELACE }, ALICE.text);
  return step(plan, [pool.utxo, funds], ammWith(18_188_400_000n, 263_536_686n, 0n));
}

function orderOfAlice(kind: 'buy' | 'sell', placedMs = NOW_MS): Utxo {
  const { plan } = planOrder(DEPLOYMENT, orderOf(ALICE, kind, 5n * ADA), [], placedMs);
  return utxo(plan.outputs[0] ?? assert.fail());
}

const AROUND = { collateral: COLLATERAL, slots: SLOTS };

function cancel(kind: 'buy' | 'sell'): TransactionPlan {
  const request = { order: orderOfAlice(kind), changeAddress: ALICE.address };
  const data = { ...AROUND, wallet: [], references: [REFERENCES.order] };
  return sure(planCancel(DEPLOYMENT, request, data, NOW_MS));
}

function refund(): TransactionPlan {
  const collateral = { utxos: [ada(BOB, 5n * ADA)], returnAddress: BOB.text };
  const order = orderOfAlice('buy', NOW_MS - DEPLOYMENT.refundAfterMs);
  return sure(
    planRefund(DEPLOYMENT, order, { references: [REFERENCES.order], collateral, slots: SLOTS }),
  );
}

function lock(stagesCount: number) {
  const lockEndMs = NOW_MS + 100_000;
  return { owner: ALICE.address, token: TOKEN, amount: 105n, lockEndMs, stagesCount };
}

function withdrawal(): TransactionPlan {
  const made = sure(planLock(DEPLOYMENT, lock(1), [], NOW_MS));
  const request = { lock: utxo(made.outputs[0] ?? assert.fail()), owner: ALICE.address };
  const data = { ...AROUND, wallet: [], references: [REFERENCES.vesting] };
  return sure(planWithdraw(DEPLOYMENT, request, data, NOW_MS + 200_000));
}

function settings(parameters: ProtocolParameters): TransactionPlan {
  const { curve, thresholdLovelace, refundAfterMs } = DEPLOYMENT;
  const keys = {
    executorKeyHash: EXECUTOR.key.hash,
    feeKeyHash: PLATFORM.key.hash,
    collateralKeyHash: COLLATERAL_OWNER.key.hash,
    signers: { required: 2, keyHashes: SIGNERS.map(({ key }) => key.hash) },
  };
  const market = { curve, fees, thresholdLovelace, refundAfterMs, ...keys };
  const wallet = [ada(ALICE, 300n * ADA)];
  const made = newSettings(market, wallet, ALICE.key.hash, parameters) ?? assert.fail();
  return planOf({
    inputs: [{ utxo: made.seed, redeemer: null }],
    mints: [made.mint],
    collateral: made.collateral,
    outputs: made.outputs.map(({ output }) => output),
    wallet,
    changeAddress: ALICE.text,
  });
}

function rotation(): TransactionPlan {
  const next = { executor: BOB.key.hash, fee: PLATFORM.address };
  return planRotation(DEPLOYMENT.settings, SETTINGS, next, [ada(ALICE, 50n * ADA)], ALICE.text);
}
