/**
 * The executor: a lane for every pool that has something to do. Runs on the leader only; a second
 * one during a change of leader is harmless, because inputs are spent once.
 *
 * Woken by every entry that is applied: blocks bring orders, roll-backs take back what was done.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import { MOST_POOLS, type PoolRecord, poolState, readRecord } from '../../engine/store/records.ts';
import { Consolidation } from './consolidation.ts';
import { Lane, type LaneObserver, type LanePlace } from './lane.ts';
import { refundsOf } from './poolBackoff.ts';
import { fullPools, tokensWithOrders } from './view.ts';

export interface ExecutorObserver extends LaneObserver {
  executorFailed(token: string, error: unknown): void;
}

export interface ExecutorPlace extends LanePlace {
  /** Runs `listener` after each batch of entries, until the returned function is called. */
  onApplied(listener: () => void): () => void;
}

/** Tokens with orders in one look; the next one goes on behind them, and begins anew at the end. */
const MOST_LOOKED_AT = 1_000;

export class Executor {
  readonly #place: ExecutorPlace;
  readonly #observer: ExecutorObserver;
  readonly #consolidation: Consolidation;
  readonly #lanes = new Map<AssetId, Lane>();
  /** Tokens whose lane runs; true: it has to run once more. */
  readonly #running = new Map<AssetId, boolean>();
  readonly #tasks = new Set<Promise<void>>();
  /** Tokens that had orders at the last look. */
  #last: ReadonlySet<AssetId> = new Set();
  #lookedTo: AssetId = '';
  #stopping = false;
  #unlisten = () => {};

  constructor(place: ExecutorPlace, observer: ExecutorObserver) {
    this.#place = place;
    this.#observer = observer;
    this.#consolidation = new Consolidation(place, observer);
  }

  start(): void {
    for (const token of this.#owingPools()) this.#wake(token);
    this.#unlisten = this.#place.onApplied(() => this.#look());
    // What was open before a restart waits for no further entry.
    this.#look();
  }

  /** Stops after the steps in hand. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#unlisten();
    await Promise.allSettled([...this.#tasks]);
    this.#place.backoff.clear();
  }

  #look(): void {
    if (this.#stopping) return;
    const store = this.#place.store();
    const found = tokensWithOrders(store, this.#lookedTo, MOST_LOOKED_AT);
    this.#lookedTo = found.length < MOST_LOOKED_AT ? '' : (found.at(-1) ?? '');
    const tokens = new Set([...found, ...fullPools(store)]);
    // Those looked at last time once more: their last order may have brought them to the cap.
    for (const token of new Set([...tokens, ...this.#last])) this.#wake(token);
    this.#last = tokens;
    this.#consolidate();
  }

  #consolidate(): void {
    const task = this.#consolidation
      .run()
      .catch((error: unknown) => {
        if (!this.#stopping) this.#observer.executorFailed('.', error);
      })
      .finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  #wake(token: AssetId): void {
    let lane = this.#lanes.get(token);
    if (lane === undefined) {
      lane = new Lane(token, this.#place, this.#observer);
      this.#lanes.set(token, lane);
    }
    lane.confirmed();
    if (this.#running.has(token)) {
      this.#running.set(token, true);
      return;
    }
    this.#running.set(token, false);
    const task = this.#run(token, lane).finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  async #run(token: AssetId, lane: Lane): Promise<void> {
    do {
      this.#running.set(token, false);
      try {
        await lane.run(() => this.#stopping);
      } catch (error) {
        if (!this.#stopping) this.#observer.executorFailed(token, error);
      }
    } while (this.#running.get(token) === true && !this.#stopping);
    this.#running.delete(token);
    if (this.#last.has(token)) return;
    this.#lanes.delete(token);
    for (const name of [token, refundsOf(token)]) this.#place.backoff.forget(name);
  }

  /** Pools that wait for Collect though no order is open, after a restart. */
  *#owingPools(): Generator<AssetId> {
    const { fees } = this.#place.deployment;
    for (const { key, value } of this.#place.store().withPrefix('pools', '', MOST_POOLS)) {
      const pool = poolState(readRecord<PoolRecord>(value));
      if (pool.venue === 'AMM' && pool.owed >= fees.collectFromLovelace) yield key;
    }
  }
}
