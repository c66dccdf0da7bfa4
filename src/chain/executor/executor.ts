/**
 * Fills orders: one PoolExecutor for every pool that has work. Runs on the leader only. Two leaders
 * at once, during a change, do no harm, because an input is spent once.
 *
 * After an applied batch it runs the pools that the batch changed, and those whose time has come: a
 * refund is due, a pause is over, a block came. All pools with work are visited at the start and
 * when the settings change, in parts.
 */

import { tokensOfTags } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { AppliedListener } from '../../engine/node/foldListeners.ts';

import { MAX_POOLS, type PoolRecord, poolState, readRecord } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import { chainTip } from '../chainPoints.ts';
import { SettingsWatch, type SettingsWatchObserver } from '../settings.ts';
import { Consolidation } from './fundingUtxos.ts';
import { owesCreator } from './matching.ts';
import { PoolExecutor, type PoolExecutorDeps, type PoolExecutorObserver } from './poolExecutor.ts';
import { fullPools, hasOrders, isFullPool, tokensWithOrders } from './poolView.ts';
import { UNTIL_BLOCK, UNTIL_CHANGE, Wakeups } from './wakeups.ts';

interface ExecutorObserver extends PoolExecutorObserver, SettingsWatchObserver {}

export interface ExecutorDeps extends PoolExecutorDeps {
  /** Runs `listener` after each batch of entries, until the returned function is called. */
  onApplied(listener: AppliedListener): () => void;
}

/** Tokens in one part of a visit to all; the next part follows after the next batch of entries. */
const MAX_VISITED = 1_000;

export class Executor {
  readonly #deps: ExecutorDeps;
  readonly #observer: ExecutorObserver;
  readonly #consolidation: Consolidation;
  readonly #settings: SettingsWatch;
  readonly #executors = new Map<AssetId, PoolExecutor>();
  /** Tokens whose pool executor is running; true: it runs once more. */
  readonly #running = new Map<AssetId, boolean>();
  readonly #tasks = new Set<Promise<void>>();
  /** The visit to all tokens with orders continues after this one; null: it is done. */
  #visitedTo: AssetId | null = null;
  /** Hash of the newest block at the last batch. */
  #tip: string | null = null;
  readonly #wakeups = new Wakeups();
  #isStopping = false;
  #unlisten = () => {};

  constructor(deps: ExecutorDeps, observer: ExecutorObserver) {
    this.#deps = deps;
    this.#observer = observer;
    this.#consolidation = new Consolidation(deps, observer);
    this.#settings = new SettingsWatch(deps, observer);
  }

  start(): void {
    this.#unlisten = this.#deps.onApplied((tags) => this.#applied(tags));
    // Orders open before a restart need no further entry.
    this.#applied(null);
  }

  /** Resolves when the running steps have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unlisten();
    await Promise.allSettled([...this.#tasks]);
    this.#deps.backoff.clear();
    this.#settings.stop();
  }

  #applied(tags: ReadonlySet<string> | null): void {
    if (this.#isStopping) return;
    const { store: current, clock, backoff } = this.#deps;
    const store = current();
    if (tags === null) this.#visitAll(store);
    else this.#continueVisit(store);
    for (const token of tokensOfTags(tags ?? [])) {
      if (this.#executors.has(token) || this.#hasWork(store, token)) this.#wake(token);
    }
    const tip = chainTip(store)?.hash ?? null;
    if (tip !== this.#tip) this.#blockCame();
    this.#tip = tip;
    for (const token of this.#wakeups.due(clock.nowMs(), backoff.nowMs())) this.#wake(token);
    this.#start('.', () => this.#consolidation.run(() => this.#settings.roles()));
  }

  #blockCame(): void {
    for (const token of this.#running.keys()) this.#executors.get(token)?.confirmed();
    for (const token of this.#wakeups.blockCame()) {
      this.#executors.get(token)?.confirmed();
      this.#wake(token);
    }
    this.#start('.', async () => {
      if (await this.#settings.changed()) this.#visitAll(this.#deps.store());
    });
  }

  #visitAll(store: StateStore): void {
    this.#visitedTo = '';
    for (const token of [...fullPools(store), ...this.#owingPools(store)]) this.#wake(token);
    this.#continueVisit(store);
  }

  #continueVisit(store: StateStore): void {
    if (this.#visitedTo === null) return;
    const found = tokensWithOrders(store, this.#visitedTo, MAX_VISITED);
    this.#visitedTo = found.length < MAX_VISITED ? null : (found.at(-1) ?? null);
    for (const token of found) this.#wake(token);
  }

  #wake(token: AssetId): void {
    if (this.#isStopping) return;
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
    this.#start(token, () => this.#run(token, executor));
  }

  async #run(token: AssetId, executor: PoolExecutor): Promise<void> {
    let pause = UNTIL_BLOCK;
    do {
      this.#running.set(token, false);
      try {
        pause = await executor.run(() => this.#isStopping);
      } catch (error) {
        pause = UNTIL_BLOCK;
        if (!this.#isStopping) this.#observer.executorFailed(token, error);
      }
    } while (this.#running.get(token) === true && !this.#isStopping);
    this.#running.delete(token);
    const hasWork = this.#hasWork(this.#deps.store(), token);
    this.#wakeups.set(token, hasWork ? pause : UNTIL_CHANGE);
    if (hasWork) return;
    this.#executors.delete(token);
    this.#deps.backoff.forget(token);
  }

  #start(token: string, work: () => Promise<void>): void {
    const task = work()
      .catch((error: unknown) => {
        if (!this.#isStopping) this.#observer.executorFailed(token, error);
      })
      .finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  #hasWork(store: StateStore, token: AssetId): boolean {
    return hasOrders(store, token) || isFullPool(store, token) || this.#owes(store, token);
  }

  #owes(store: StateStore, token: AssetId): boolean {
    const text = store.get('pools', token);
    if (text === null) return false;
    return owesCreator(poolState(readRecord<PoolRecord>(text)), this.#deps.deployment.fees);
  }

  /** Pools that owe a payout to their creator, with or without open orders. */
  *#owingPools(store: StateStore): Generator<AssetId> {
    const { fees } = this.#deps.deployment;
    for (const { key, value } of store.withPrefix('pools', '', MAX_POOLS)) {
      if (owesCreator(poolState(readRecord<PoolRecord>(value)), fees)) yield key;
    }
  }
}
