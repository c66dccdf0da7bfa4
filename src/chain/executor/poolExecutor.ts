/**
 * Executes the orders of one pool: reads its state, decides, builds, signs, submits, and starts
 * again. At most MOST_CHAINED of its transactions are unconfirmed at a time.
 *
 * It remembers only how large a batch may be. After a refused transaction (a cancellation came
 * first) it reads the state again; a batch that exceeds its share of a transaction's limits is
 * halved. A pool whose transactions stay refused is tried less and less often (`PoolBackoff`);
 * meanwhile its orders are refunded as they become due.
 */

import { lookUpCollateral, lookUpReferences } from '../../cardano/build/chainData.ts';
import { type NextPool, planStep } from '../../cardano/build/paired.ts';
import type { Builder, BuiltTransaction } from '../../cardano/build/port.ts';
import { signOwn } from '../../cardano/build/signing.ts';
import { formatAddress, scriptAddress } from '../../cardano/codec/address.ts';
import { parseRef, type Utxo } from '../../cardano/codec/output.ts';
import { type SlotConfig, slotAt, slotStartMs } from '../../cardano/codec/slots.ts';
import type { LaunchId } from '../../cardano/datums/datums.ts';
import { capLovelace, type Deployment } from '../../cardano/datums/deployment.ts';
import type { Key } from '../../cardano/keys/keys.ts';
import type { Submitter, UtxoLookup } from '../../cardano/ledger/port.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { StateStore } from '../../engine/store/state.ts';
import { type NewestPool, newestPool } from '../newestPool.ts';
import { newestSettings } from '../settings.ts';
import type { FundingUtxos } from './fundingUtxos.ts';
import { MOST_ORDERS, type NextStep, nextStep } from './matching.ts';
import { type FundingNeeded, type Plan, planBatch, planCollect, planGraduation } from './plan.ts';
import { type PoolBackoff, refundsOf } from './poolBackoff.ts';
import { type PoolView, poolViews } from './poolView.ts';

export interface PoolExecutorDeps {
  store(): StateStore;
  readonly utxos: UtxoLookup;
  readonly submitter: Submitter;
  readonly builder: Builder;
  readonly deployment: Deployment;
  readonly slots: SlotConfig;
  readonly funding: FundingUtxos;
  readonly backoff: PoolBackoff;
  /** Of the executor, the fee address and the collateral. */
  readonly keys: readonly Key[];
  /** Of the chain: the wall clock, or the newest block's where blocks come on demand. */
  readonly clock: Pick<Clock, 'nowMs'>;
}

export interface PoolExecutorObserver {
  executorSubmitted(kind: string, token: string, txHash: string, orders: number): void;
  executorRejected(kind: string, token: string, reason: string, message: string): void;
  /** Called once, when the node refused two of the pool's transactions in a row. */
  poolStuck(token: string, reason: string, message: string, retryInMs: number): void;
}

/** More than any batch costs; the build replaces it with the real fee. */
const GUESSED_FEE_LOVELACE = 1_200_000n;
const MOST_CHAINED = 10;
/** Of a transaction's limits, for a batch that could be smaller. Source: onchain.md, Executor. */
const MOST_PERCENT = 60;

type Action = Exclude<NextStep, { step: 'wait' }>;
type Verdict = 'again' | 'later';

/** With the executor and the fee address of the newest settings. */
interface Terms {
  readonly deployment: Deployment;
  /** null: they are not where they count. */
  readonly settings: Utxo | null;
  readonly mayTrade: boolean;
}

interface Situation extends PoolView, Terms {}

const TAKEN_AWAY =
  'the settings are not at the script of their signers: nothing trades until they are put back';

function otherExecutor({ executorKeyHash }: Deployment): string {
  return (
    `the settings name the executor ${executorKeyHash}, whose key this node does not have: ` +
    'give it with EXECUTOR_KEY_FILE'
  );
}

export class PoolExecutor {
  readonly #token: AssetId;
  readonly #deps: PoolExecutorDeps;
  readonly #observer: PoolExecutorObserver;
  #mostOrders = MOST_ORDERS;
  #chained = 0;
  /** Why it cannot trade, as last reported; null: it can. */
  #reported: string | null = null;

  constructor(token: AssetId, deps: PoolExecutorDeps, observer: PoolExecutorObserver) {
    this.#token = token;
    this.#deps = deps;
    this.#observer = observer;
  }

  /** A block came: chained transactions are confirmed, or the next view lacks them. */
  confirmed(): void {
    this.#chained = 0;
  }

  /** Runs steps until there is nothing to do, or nothing before the next block. */
  async run(isStopping: () => boolean): Promise<void> {
    while (!isStopping() && this.#chained < MOST_CHAINED) {
      if ((await this.#step()) === 'later') return;
    }
  }

  async #step(): Promise<Verdict> {
    const { store, utxos, deployment, slots, clock, backoff } = this.#deps;
    const pool = await newestPool(this.#token, store(), utxos, deployment);
    if (pool === null) return 'later';
    const terms = await this.#terms();
    for await (const view of poolViews(pool, store(), utxos)) {
      const next = nextStep({
        pool: pool.state,
        orders: view.orders,
        fees: deployment.fees,
        nowMs: slotStartMs(slots, slotAt(slots, clock.nowMs())),
        mostOrders: this.#mostOrders,
        isStuck: !terms.mayTrade || !backoff.mayTry(this.#token),
        areRefundsStuck: !backoff.mayTry(refundsOf(this.#token)),
      });
      if (next.step === 'wait') continue;
      return backoff.mayTry(this.#keyOf(next)) ? this.#act(next, { ...view, ...terms }) : 'later';
    }
    return 'later';
  }

  /** By the newest settings: a batch on older ones is refused, and made again. */
  async #terms(): Promise<Terms> {
    const { store, utxos, deployment, keys } = this.#deps;
    const settings = await newestSettings(store(), utxos, deployment);
    const current = { ...deployment, ...settings?.roles };
    const isOurs = keys.some(({ hash }) => hash === current.executorKeyHash);
    this.#report(settings === null ? TAKEN_AWAY : isOurs ? null : otherExecutor(current));
    const mayTrade = settings !== null && isOurs;
    return { deployment: current, settings: settings?.utxo ?? null, mayTrade };
  }

  /** Once, until it changes. */
  #report(trouble: string | null): void {
    if (trouble !== null && trouble !== this.#reported) {
      this.#observer.executorRejected('settings', this.#token, 'SETTINGS', trouble);
    }
    this.#reported = trouble;
  }

  /** Larger batches pay their own fee: funding is reserved only where the plan needs it. */
  async #act(action: Action, view: Situation): Promise<Verdict> {
    const plan = this.#plan(action, view, []);
    if (plan.outcome === 'plan') return this.#carryOut(plan, action, view, []);
    const { funding, keys } = this.#deps;
    const { feeKeyHash } = view.deployment;
    const isOurs = keys.some(({ hash }) => hash === feeKeyHash);
    try {
      const held = isOurs ? await funding.reserve(this.#token, feeKeyHash) : [];
      const paid = this.#plan(action, view, held);
      if (paid.outcome === 'plan') return await this.#carryOut(paid, action, view, held);
    } finally {
      funding.release(this.#token);
    }
    const lack = `no float of ${plan.missingLovelace} lovelace at the fee address`;
    this.#observer.executorRejected(action.step, this.#token, 'FLOAT', lack);
    return 'later';
  }

  async #carryOut(
    plan: Plan,
    action: Action,
    view: Situation,
    funding: readonly Utxo[],
  ): Promise<Verdict> {
    const built = await this.#build(plan, action, view, funding);
    if (built instanceof Failure) {
      this.#observer.executorRejected(action.step, this.#token, built.cause, built.message);
      return 'later';
    }
    if (built.outcome === 'refused') {
      this.#observer.executorRejected(action.step, this.#token, built.reason, built.message);
      return this.#shrink(action) ?? this.#refused(action, built);
    }
    return this.#submit(action, built);
  }

  #plan(
    action: Action,
    { pool, deployment }: Situation,
    funding: readonly Utxo[],
  ): Plan | FundingNeeded {
    const request = {
      pool,
      fees: deployment.fees,
      feeAddress: deployment.feeAddress,
      networkFeeLovelace: GUESSED_FEE_LOVELACE,
      funding: funding.map(({ ref, output }) => ({ ref, lovelace: output.value.lovelace })),
    };
    if (action.step === 'batch') return planBatch({ ...request, batch: action.batch });
    if (action.step === 'graduate') return planGraduation(request, ammAddress(deployment));
    return planCollect(request, creatorAddress(pool, deployment));
  }

  async #build(plan: Plan, action: Action, view: Situation, funding: readonly Utxo[]) {
    const { utxos, slots, builder } = this.#deps;
    const { deployment } = view;
    const collateral = await lookUpCollateral(utxos, deployment.collateralKeyHash, deployment);
    if (collateral instanceof Failure) return collateral;
    const references = await referencesOf(action, view, utxos);
    if (references instanceof Failure) return references;
    const transaction = planStep(plan, {
      utxos: [view.pool.utxo, ...view.orderUtxos.values(), ...funding],
      references,
      collateral,
      slots,
      executorKeyHash: view.mayTrade ? deployment.executorKeyHash : null,
      feeAddress: deployment.feeAddress,
      nextPool: nextPoolOf(action, view.pool, deployment),
      launchId: launchIdOf(view.pool),
    });
    const isBatch = action.step === 'batch' && ordersOf(action) > 1;
    const mostPercent = isBatch ? MOST_PERCENT : transaction.mostPercent;
    return builder.build({ ...transaction, mostPercent }, { urgent: true });
  }

  async #submit(action: Action, built: BuiltTransaction): Promise<Verdict> {
    const { submitter, keys } = this.#deps;
    const bytes = signOwn(built, keys);
    const outcome = await submitter.submit(bytes);
    if (outcome.outcome === 'refused') {
      const { reason, message } = outcome;
      this.#observer.executorRejected(action.step, this.#token, reason, message);
      // The next view lacks the spent output.
      if (reason === 'INPUT_SPENT') return 'again';
      return reason === 'MEMPOOL_FULL' ? 'later' : this.#refused(action, outcome);
    }
    this.#deps.backoff.forget(this.#keyOf(action));
    this.#chained += 1;
    this.#mostOrders = Math.min(MOST_ORDERS, this.#mostOrders + 1);
    const orders = action.step === 'batch' ? ordersOf(action) : 0;
    this.#observer.executorSubmitted(action.step, this.#token, outcome.txHash, orders);
    return 'again';
  }

  /** The next step may refund due orders; the pool is tried again after a pause. */
  #refused(action: Action, { reason, message }: { reason: string; message: string }): Verdict {
    const pauseMs = this.#deps.backoff.refused(this.#keyOf(action));
    if (!spendsPool(action)) return 'later';
    if (pauseMs !== null) this.#observer.poolStuck(this.#token, reason, message, pauseMs);
    return 'again';
  }

  /** Refunds do not spend the pool, so they have a back-off of their own. */
  #keyOf(action: Action): string {
    return spendsPool(action) ? this.#token : refundsOf(this.#token);
  }

  /** Halves the batch size; null: the batch has one order. */
  #shrink(action: Action): Verdict | null {
    if (action.step !== 'batch' || ordersOf(action) <= 1) return null;
    this.#mostOrders = Math.floor(ordersOf(action) / 2);
    return 'again';
  }
}

function spendsPool(action: Action): boolean {
  return action.step !== 'batch' || action.batch.fills.length > 0;
}

function ordersOf({ batch }: Action & { step: 'batch' }): number {
  return batch.fills.length + batch.refunds.length;
}

/** Where a pool graduates to; without a stake part (onchain.md). */
function ammAddress({ addressNetwork, scripts }: Deployment): string {
  return scriptAddress(addressNetwork, scripts.ammPool.hash, null);
}

function creatorAddress(
  { record: { author } }: NewestPool,
  { addressNetwork }: Deployment,
): string {
  return formatAddress({
    network: addressNetwork,
    payment: { kind: 'key', hash: author.pkh },
    stake: author.skh === '' ? null : { kind: 'key', hash: author.skh },
    pointer: false,
  });
}

function launchIdOf({ record: { seed, author } }: NewestPool): LaunchId | null {
  const ref = seed === null ? null : parseRef(seed);
  return ref === null ? null : { seed: ref, creatorPkh: author.pkh, creatorSkh: author.skh };
}

/** The outputs with the validators that run for the step's inputs, and what a pool reads. */
async function referencesOf(
  action: Action,
  { pool: { state }, deployment, settings }: Situation,
  utxos: UtxoLookup,
): Promise<readonly Utxo[] | Failure> {
  const { curvePool, order, ammPool } = deployment.scripts;
  const pool = state.venue === 'CURVE' ? curvePool : ammPool;
  if (!spendsPool(action)) return lookUpReferences(utxos, [order]);
  assert(settings !== null, 'a pool moves only where the settings are');
  const found = await lookUpReferences(utxos, action.step === 'batch' ? [order, pool] : [pool]);
  return found instanceof Failure ? found : [...found, settings];
}

/** Datum of the pool after the step; null where the step does not spend the pool. */
function nextPoolOf(action: Action, pool: NewestPool, deployment: Deployment): NextPool | null {
  const { nft, token, state } = pool;
  const { author, executor } = pool.record;
  const { fees, settings } = deployment;
  if (action.step === 'batch' && action.batch.fills.length === 0) return null;
  if (action.step === 'batch' && state.venue === 'CURVE') {
    const { aNum, bNum } = state.curve;
    const witnesses = {
      witness1: deployment.scripts.ammPool.hash,
      witness2: settings.policyId,
    };
    const cap = capLovelace(deployment);
    const datum = { nft, token, aNum, bNum, executor, capLovelace: cap, ...witnesses };
    return { venue: 'CURVE', datum };
  }
  const next = action.step === 'batch' ? action.batch.next : null;
  const owedLovelace = next?.venue === 'AMM' ? next.owed : 0n;
  const creator = { creatorPkh: author.pkh, creatorSkh: author.skh };
  const terms = { lpFeePer10k: fees.lpFeePer10k, executor, settings: settings.policyId };
  const datum = { nft, token, ...terms, ...creator, owedLovelace };
  return { venue: 'AMM', datum };
}
