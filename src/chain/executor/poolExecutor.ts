/**
 * Executes the orders of one pool: reads its state, decides, builds, signs, submits, and starts
 * again. At most MAX_CHAINED of its transactions are unconfirmed at a time.
 *
 * It remembers how large a batch may be, and how many batches went before a due collection. After a
 * lost race (a cancellation came first) it reads the state again. A batch that fails is halved; an
 * order that fails alone, and a step that fails, are paused (`PoolBackoff`), and the others go on.
 */

import type { Utxo } from '../../cardano/codec/output.ts';
import { type SlotConfig, slotAt, slotStartMs } from '../../cardano/codec/slots.ts';
import type { Deployment } from '../../cardano/datums/deployment.ts';
import type { Key } from '../../cardano/keys/keys.ts';
import type { Submitter, UtxoLookup } from '../../cardano/ledger/port.ts';
import type { Builder, BuiltTransaction } from '../../cardano/transactions/port.ts';
import { signOwn } from '../../cardano/transactions/signing.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, messageOf, Unavailable } from '../../engine/runtime/errors.ts';
import type { StateStore } from '../../engine/store/state.ts';
import { newestPool } from '../newestPool.ts';
import { newestSettings } from '../settings.ts';
import type { FundedStep } from './fundedStep.ts';
import type { FundingUtxos } from './fundingUtxos.ts';
import { MAX_ORDERS, nextStep, owesCreator, type StepKind } from './matching.ts';
import type { PoolBackoff } from './poolBackoff.ts';
import { poolViews } from './poolView.ts';
import {
  type Action,
  buildAction,
  ordersOf,
  type Situation,
  spendsPool,
  stepFor,
} from './stepTransaction.ts';
import { type Pause, UNTIL_BLOCK } from './wakeups.ts';

export interface PoolExecutorDeps {
  store(): StateStore;
  readonly utxos: UtxoLookup;
  readonly submitter: Submitter;
  readonly builder: Builder;
  readonly deployment: Deployment;
  readonly slots: SlotConfig;
  readonly funding: FundingUtxos;
  readonly backoff: PoolBackoff;
  /** Keys of the executor, the fee address and the collateral. */
  readonly keys: readonly Key[];
  /** Clock of the chain: the wall clock, or the newest block's where blocks come on demand. */
  readonly clock: Pick<Clock, 'nowMs'>;
}

export interface PoolExecutorObserver {
  executorSubmitted(kind: string, token: string, txHash: string, orders: number): void;
  executorRejected(kind: string, token: string, reason: string, message: string): void;
  /** Called once, when one step of a pool (fill, refund, graduate, collect) failed twice. */
  poolStuck(token: string, kind: string, message: string, retryInMs: number): void;
  executorFailed(token: string, error: unknown): void;
}

const MAX_CHAINED = 10;
/** Batches that may go before a due collection. Source: onchain.md, Executor. */
const MAX_BEFORE_COLLECT = 10;
const POOL_STEPS: readonly StepKind[] = ['fill', 'graduate', 'collect'];

type Verdict = 'again' | Pause;

/** Why an action failed. */
interface Problem {
  readonly reason: string;
  readonly message: string;
  /** Its orders, or their number, may be the cause: fewer are tried. */
  readonly isOfOrders: boolean;
  /** It took its whole time: the machine is busy, so the next try waits. */
  readonly isSlow?: boolean;
}

export class PoolExecutor {
  readonly #token: AssetId;
  readonly #deps: PoolExecutorDeps;
  readonly #observer: PoolExecutorObserver;
  #maxOrders = MAX_ORDERS;
  #chained = 0;
  #batchesBeforeCollect = 0;

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
  async run(isStopping: () => boolean): Promise<Pause> {
    while (!isStopping() && this.#chained < MAX_CHAINED) {
      const verdict = await this.#step();
      if (verdict !== 'again') return verdict;
    }
    return UNTIL_BLOCK;
  }

  async #step(): Promise<Verdict> {
    const { store, utxos, deployment, slots, clock, backoff } = this.#deps;
    const pool = await newestPool(this.#token, store(), utxos, deployment);
    if (pool === null) return UNTIL_BLOCK;
    if (!owesCreator(pool.state, deployment.fees)) this.#batchesBeforeCollect = 0;
    const terms = await this.#terms();
    const paused = backoff.pausedSteps(this.#token);
    if (!terms.mayTrade) for (const kind of POOL_STEPS) paused.add(kind);
    const untilMs: (bigint | null)[] = [];
    const retryMs = [backoff.retryMs(this.#token)];
    let isWhole = true;
    for await (const view of poolViews(pool, store(), utxos)) {
      const skipped = backoff.skipped(view.orders);
      const next = nextStep({
        ...{ pool: pool.state, orders: view.orders, fees: deployment.fees, paused, skipped },
        nowMs: slotStartMs(slots, slotAt(slots, clock.nowMs())),
        maxOrders: this.#maxOrders,
        isCollectNext: this.#batchesBeforeCollect >= MAX_BEFORE_COLLECT,
      });
      if (next.step !== 'wait') return this.#act(next, { ...view, ...terms });
      untilMs.push(next.untilMs);
      retryMs.push(skipped.retryMs);
      isWhole &&= view.isWhole;
    }
    const untilBlock = this.#chained > 0 || !isWhole;
    return { untilBlock, refundMs: first(untilMs.map(asMs)), retryMs: first(retryMs) };
  }

  /** By the newest settings: a batch on older ones is refused, and made again. */
  async #terms(): Promise<Pick<Situation, 'deployment' | 'settings' | 'mayTrade'>> {
    const { store, utxos, deployment, keys } = this.#deps;
    const settings = await newestSettings(store(), utxos, deployment);
    const current = { ...deployment, ...settings?.roles };
    const mayTrade = settings !== null && keys.some(({ hash }) => hash === current.executorKeyHash);
    return { deployment: current, settings: settings?.utxo ?? null, mayTrade };
  }

  /** Larger batches pay their own fee: funding is reserved only where the step needs it. */
  async #act(action: Action, view: Situation): Promise<Verdict> {
    const { funding, keys } = this.#deps;
    const { feeKeyHash } = view.deployment;
    try {
      const step = stepFor(action, view, []);
      if (step.outcome === 'funded') return await this.#carryOut(step, action, view, []);
      const isOurs = keys.some(({ hash }) => hash === feeKeyHash);
      const held = isOurs ? await funding.reserve(this.#token, feeKeyHash) : [];
      const paid = stepFor(action, view, held);
      if (paid.outcome === 'funded') return await this.#carryOut(paid, action, view, held);
      const lack = `no output of ${step.missingLovelace} lovelace at the fee address`;
      const message = isOurs ? lack : `the key of the fee address (${feeKeyHash}) is not here`;
      return this.#failed(action, { reason: 'FLOAT', message, isOfOrders: false });
    } catch (error) {
      // Node or index cannot be reached: this pool is not the cause.
      if (error instanceof Unavailable) throw error;
      this.#observer.executorFailed(this.#token, error);
      const message = messageOf(error);
      return this.#failed(action, { reason: 'FAULT', message, isOfOrders: true });
    } finally {
      funding.release(this.#token);
    }
  }

  async #carryOut(
    step: FundedStep,
    action: Action,
    view: Situation,
    funding: readonly Utxo[],
  ): Promise<Verdict> {
    const built = await buildAction(this.#deps, step, action, view, funding);
    if (built instanceof Failure) return this.#failed(action, problemOf(built));
    if (built.outcome === 'refused') return this.#failed(action, { ...built, isOfOrders: true });
    return this.#submit(action, built);
  }

  async #submit(action: Action, built: BuiltTransaction): Promise<Verdict> {
    const { submitter, keys, backoff } = this.#deps;
    const bytes = signOwn(built, keys);
    const outcome = await submitter.submit(bytes);
    if (outcome.outcome === 'refused') {
      const { reason, message } = outcome;
      // The next view lacks the spent output.
      const isPassing = reason === 'INPUT_SPENT' || reason === 'MEMPOOL_FULL';
      if (!isPassing) return this.#failed(action, { reason, message, isOfOrders: true });
      this.#observer.executorRejected(action.step, this.#token, reason, message);
      return reason === 'INPUT_SPENT' ? 'again' : UNTIL_BLOCK;
    }
    const kind = kindOf(action);
    backoff.succeeded(this.#token, kind);
    this.#chained += 1;
    if (kind === 'collect') this.#batchesBeforeCollect = 0;
    if (kind === 'fill') this.#batchesBeforeCollect += 1;
    this.#maxOrders = Math.min(MAX_ORDERS, this.#maxOrders + 1);
    const orders = ordersOf(action).length;
    this.#observer.executorSubmitted(action.step, this.#token, outcome.txHash, orders);
    return 'again';
  }

  /** Tries fewer orders next time. A step that cannot be smaller is paused; others come first. */
  #failed(action: Action, { reason, message, isOfOrders, isSlow = false }: Problem): Verdict {
    const { backoff } = this.#deps;
    this.#observer.executorRejected(action.step, this.#token, reason, message);
    const orders = isOfOrders ? ordersOf(action) : [];
    if (orders.length > 1) this.#maxOrders = Math.floor(orders.length / 2);
    if (orders.length > 1 && !isSlow) return 'again';
    const kind = kindOf(action);
    const [order] = orders;
    const isAlone = order !== undefined && orders.length === 1;
    const pauseMs =
      isAlone && (kind === 'fill' || kind === 'refund')
        ? backoff.orderFailed(this.#token, kind, order, message)
        : backoff.failed(this.#token, kind, message);
    if (pauseMs !== null) this.#observer.poolStuck(this.#token, kind, message, pauseMs);
    return 'again';
  }
}

function kindOf(action: Action): StepKind {
  if (action.step !== 'batch') return action.step;
  return spendsPool(action) ? 'fill' : 'refund';
}

/** The build failed before the transaction was judged. */
function problemOf({ cause, reason, message }: Failure): Problem {
  const isSlow = reason === 'TIMED_OUT';
  return { reason: reason ?? cause, message, isSlow, isOfOrders: isSlow || reason === 'CRASHED' };
}

function first(times: readonly (number | null)[]): number | null {
  const some = times.filter((ms) => ms !== null);
  return some.length === 0 ? null : Math.min(...some);
}

function asMs(ms: bigint | null): number | null {
  return ms === null ? null : Number(ms);
}
