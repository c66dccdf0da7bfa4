/**
 * Fills orders: one PoolExecutor for every pool that has work. Runs on the leader only. Two leaders
 * at once, during a change, do no harm, because an input is spent once.
 *
 * Looks for work after every applied entry: blocks bring orders, roll-backs undo transactions.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import { MOST_POOLS, type PoolRecord, poolState, readRecord } from '../../engine/store/records.ts';
import { chainTip } from '../chainPoints.ts';
import { newestSettings, type Roles } from '../settings.ts';
import { Consolidation } from './fundingUtxos.ts';
import { refundsOf } from './poolBackoff.ts';
import { PoolExecutor, type PoolExecutorDeps, type PoolExecutorObserver } from './poolExecutor.ts';
import { fullPools, tokensWithOrders } from './poolView.ts';

interface ExecutorObserver extends PoolExecutorObserver {
  executorFailed(token: string, error: unknown): void;
}

export interface ExecutorDeps extends PoolExecutorDeps {
  /** Runs `listener` after each batch of entries, until the returned function is called. */
  onApplied(listener: () => void): () => void;
}

/** Tokens with orders in one scan; the next scan continues after them, and wraps at the end. */
const MOST_SCANNED = 1_000;

export class Executor {
  readonly #deps: ExecutorDeps;
  readonly #observer: ExecutorObserver;
  readonly #consolidation: Consolidation;
  readonly #executors = new Map<AssetId, PoolExecutor>();
  /** Tokens whose pool executor is running; true: it runs once more. */
  readonly #running = new Map<AssetId, boolean>();
  readonly #tasks = new Set<Promise<void>>();
  /** Tokens with orders at the last scan. */
  #last: ReadonlySet<AssetId> = new Set();
  #scannedTo: AssetId = '';
  /** Hash of the newest block at the last scan. */
  #tip: string | null = null;
  #stopping = false;
  #unlisten = () => {};

  constructor(deps: ExecutorDeps, observer: ExecutorObserver) {
    this.#deps = deps;
    this.#observer = observer;
    this.#consolidation = new Consolidation(deps, observer);
  }

  start(): void {
    for (const token of this.#owingPools()) this.#wake(token);
    this.#unlisten = this.#deps.onApplied(() => this.#scan());
    // Orders open before a restart need no further entry.
    this.#scan();
  }

  /** Resolves when the running steps have ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#unlisten();
    await Promise.allSettled([...this.#tasks]);
    this.#deps.backoff.clear();
  }

  #scan(): void {
    if (this.#stopping) return;
    const store = this.#deps.store();
    const tip = chainTip(store)?.hash ?? null;
    if (tip !== this.#tip) for (const executor of this.#executors.values()) executor.confirmed();
    this.#tip = tip;
    const found = tokensWithOrders(store, this.#scannedTo, MOST_SCANNED);
    this.#scannedTo = found.length < MOST_SCANNED ? '' : (found.at(-1) ?? '');
    const tokens = new Set([...found, ...fullPools(store)]);
    // The tokens of the last scan again: their last order may have brought them to the cap.
    for (const token of new Set([...tokens, ...this.#last])) this.#wake(token);
    this.#last = tokens;
    this.#consolidate();
  }

  #consolidate(): void {
    const task = this.#consolidation
      .run(() => this.#roles())
      .catch((error: unknown) => {
        if (!this.#stopping) this.#observer.executorFailed('.', error);
      })
      .finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  async #roles(): Promise<Roles> {
    const { store, utxos, deployment } = this.#deps;
    const settings = await newestSettings(store(), utxos, deployment);
    return settings?.roles ?? deployment;
  }

  #wake(token: AssetId): void {
    let executor = this.#executors.get(token);
    if (executor === undefined) {
      executor = new PoolExecutor(token, this.#deps, this.#observer);
      this.#executors.set(token, executor);
    }
    if (this.#running.has(token)) {
      this.#running.set(token, true);
      return;
    }
    this.#running.set(token, false);
    const task = this.#run(token, executor).finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  async #run(token: AssetId, executor: PoolExecutor): Promise<void> {
    do {
      this.#running.set(token, false);
      try {
        await executor.run(() => this.#stopping);
      } catch (error) {
        if (!this.#stopping) this.#observer.executorFailed(token, error);
      }
    } while (this.#running.get(token) === true && !this.#stopping);
    this.#running.delete(token);
    if (this.#last.has(token)) return;
    this.#executors.delete(token);
    for (const name of [token, refundsOf(token)]) this.#deps.backoff.forget(name);
  }

  /** After a restart: pools that owe a payout to their creator, with or without open orders. */
  *#owingPools(): Generator<AssetId> {
    const { fees } = this.#deps.deployment;
    for (const { key, value } of this.#deps.store().withPrefix('pools', '', MOST_POOLS)) {
      const pool = poolState(readRecord<PoolRecord>(value));
      if (pool.venue === 'AMM' && pool.owed >= fees.collectFromLovelace) yield key;
    }
  }
}
