/**
 * Reads the rows that the first requests would otherwise read: the last day of every pair and the
 * lists that the page opens with. A node serves when this is done. From then on it updates the
 * lists between requests. The work is split into slices, so that it does not block the event loop.
 */
import { TrendingPools } from '../../api/pools/trending.ts';
import { TickerViews } from '../../api/tickers/views.ts';
import type { Fold } from '../../engine/fold/fold.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import { Task } from '../../engine/runtime/task.ts';

const LOOK_AGAIN_MS = 20;
/** Between flushes, which come once a second. */
const KEEP_EVERY_MS = 500;
/** Tickers that are prepared: the page and most clients ask for these first. */
const FIRST = 500;

interface CacheWarmerDeps {
  /** Read `fold` each time: a new epoch replaces it. */
  readonly node: { readonly fold: Fold; onApplied(listener: () => void): () => void };
  readonly clock: Clock;
  /** Until then entries are applied without tickers, which is cheaper. */
  isSynced(): boolean;
  failed(error: unknown): void;
}

export class CacheWarmer implements Service {
  readonly name = 'market reads';
  readonly #deps: CacheWarmerDeps;
  readonly #task: Task;
  #areDone = false;

  constructor(deps: CacheWarmerDeps) {
    this.#deps = deps;
    const { clock } = deps;
    this.#task = new Task({ clock, failed: (error) => this.#giveUp(error) });
  }

  /** Or given up: what could not be read is read, or refused, when it is asked for. */
  get areDone(): boolean {
    return this.#areDone;
  }

  start(): void {
    this.#task.start(async () => {
      while (!this.#deps.isSynced()) if (!(await this.#task.pause(LOOK_AGAIN_MS))) return;
      await this.#inSlices((isOver) => this.#read(isOver));
      this.#areDone = true;
      // Not by a timer alone: a node to which nothing happens sleeps.
      const unlisten = this.#deps.node.onApplied(() => this.#task.wake());
      while (await this.#task.untilWoken()) {
        if (this.#deps.isSynced()) await this.#inSlices((isOver) => this.#keep(isOver));
        await this.#task.pause(KEEP_EVERY_MS);
      }
      unlisten();
    });
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  #giveUp(error: unknown): void {
    this.#areDone = true;
    this.#deps.failed(error);
  }

  #inSlices(work: (isOver: () => boolean) => boolean): Promise<void> {
    return Slices.of(this.#deps.clock).run(this.name, work, () => this.#task.isStopping);
  }

  /** True: all is read, as of the applied entry. */
  #read(isOver: () => boolean): boolean {
    const { node } = this.#deps;
    const { fold } = node;
    if (!fold.readTickers(isOver) || !TrendingPools.of(fold).refresh(isOver)) return false;
    return TickerViews.of(node).readFirst(FIRST, isOver);
  }

  #keep(isOver: () => boolean): boolean {
    const { node } = this.#deps;
    const [views, trending] = [TickerViews.of(node), TrendingPools.of(node.fold)];
    return views.refresh(isOver) && trending.refresh(isOver);
  }
}
