/**
 * The bars of a pair: a page of history over HTTP, then live from its position. There is no gap
 * between the newest bar and the oldest one loaded; `loadOlder` loads more.
 */

import { backoffMs } from '../../engine/runtime/backoff.ts';
import { ApiError } from '../apiError.ts';
import type { ClientPlatform } from '../platform.ts';
import { includes } from '../rest/answer.ts';
import { type Connection, RETRY } from '../socket/connection.ts';
import type { Subscription } from '../socket/subscription.ts';
import type { Position } from '../types.ts';
import { type BarPatch, BarRows, type Candle } from './barList.ts';
import type { BarSource, HistoryPage } from './barSource.ts';
import { BaseMirror } from './base.ts';
import type { Change, Reason } from './mirror.ts';

export interface BarsState<B extends Candle> {
  /** False: the server knows no such pair, yet. */
  readonly isKnown: boolean;
  /** Oldest first, each interval once. */
  readonly bars: readonly B[];
  /** For a launch without trades: a flat bar at its spot price, which is in no history. */
  readonly standing: B | null;
  /** Whether there are bars older than the first one here. */
  readonly hasOlder: boolean;
}

export interface BarsChange<B extends Candle> extends Change {
  /** Changed or new, oldest first; on `snapshot` and `history` look at the state instead. */
  readonly changed: readonly B[];
  /** Times of bars that were removed. */
  readonly removed: readonly number[];
}

interface BarsMirrorDeps extends Pick<ClientPlatform, 'clock' | 'chance'> {
  readonly connection: Connection;
}

/** Tries to get older bars from a node that is not behind this mirror. */
const MAX_TRIES = 8;
const MAX_RETRY_AFTER_SECONDS = 60;

export class BarsMirror<B extends Candle> extends BaseMirror<BarsState<B>, BarsChange<B>> {
  readonly #deps: BarsMirrorDeps;
  readonly #source: BarSource<B>;
  /** Number of bars in the first page, and in a page that is loaded again. */
  readonly #limit: number;
  #rows = new BarRows<B>([], false);
  #subscription: Subscription | null = null;
  #loading: Promise<boolean> | null = null;
  /** Counts full reloads: an answer to an older one is dropped. */
  #generation = 0;

  constructor(deps: BarsMirrorDeps, source: BarSource<B>, limit: number) {
    super({ isKnown: false, bars: [], standing: null, hasOlder: false });
    this.#deps = deps;
    this.#source = source;
    this.#limit = limit;
    void this.#reload();
  }

  /** Loads up to `count` bars before the first one; true when there were any. Throws `ApiError`. */
  loadOlder(count = this.#limit): Promise<boolean> {
    this.#loading ??= this.#loadOlder(count).finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  protected override stop(): void {
    this.#generation += 1;
    this.#subscription?.close();
  }

  /** A page of history, then live. The old bars stay visible until the page has arrived. */
  async #reload(): Promise<void> {
    this.#subscription?.close();
    this.#generation += 1;
    const generation = this.#generation;
    const limit = Math.max(this.#limit, this.#rows.bars.length);
    const page = await this.#page(generation, () => this.#source.newest(limit));
    if (page === null || generation !== this.#generation) return;
    if (page.isKnown) this.#load(page);
    this.#subscribe(page.isKnown ? page.position : undefined);
  }

  #load({ bars, standing, hasOlder, position }: HistoryPage<B>): void {
    this.#rows = new BarRows(bars, hasOlder);
    this.#rows.standing = standing;
    this.#notify(true, position, { reason: 'snapshot', changed: [], removed: [] });
  }

  /** Retries until there is an answer: an outage ends nothing. */
  async #page(
    generation: number,
    ask: () => Promise<HistoryPage<B>>,
  ): Promise<HistoryPage<B> | null> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await ask();
      } catch (error) {
        if (generation !== this.#generation) return null;
        if (!(error instanceof ApiError) || !error.isPassing) {
          this.fail(asApiError(error));
          return null;
        }
        await this.#pause(tries, error.retryAfterSeconds ?? 0);
        if (generation !== this.#generation) return null;
      }
    }
  }

  #pause(tries: number, retryAfterSeconds = 0): Promise<void> {
    const { clock, chance } = this.#deps;
    const retryAfterMs = Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS) * 1_000;
    return new Promise((resolve) => {
      clock.after(Math.max(retryAfterMs, backoffMs(tries, RETRY, chance)), resolve);
    });
  }

  #subscribe(since: Position | undefined): void {
    this.#subscription = this.#deps.connection.subscribe(
      { ...this.#source.params, since },
      {
        snapshot: (data, position) => this.#reloaded(data, position),
        update: (event, data, position) => this.#update(event, data, position),
        idle: (position) => this.advance(position),
        ended: (error) => this.fail(error),
      },
    );
  }

  /** A snapshot holds only the newest bar, so bars were missed: load the page again. */
  #reloaded(data: unknown, position: Position): void {
    if (data !== null) void this.#reload();
    else this.#clear(position, 'snapshot');
  }

  #update(event: string, data: unknown, position: Position): void {
    const isRevision = event === 'BarsRevised';
    const reason: Reason = isRevision ? 'revised' : 'update';
    if (data === null) {
      this.#clear(position, reason);
      return;
    }
    const patches = isRevision ? this.#source.revised(data) : [this.#source.streamed(data)];
    this.#apply(patches, position, reason);
  }

  #apply(patches: readonly BarPatch<B>[], position: Position, reason: Reason): void {
    const { changed, removed } = this.#rows.apply(patches, this.#source.isFilled);
    this.#notify(true, position, { reason, changed, removed });
  }

  /** There is no such pair, or a rollback removed it. */
  #clear(position: Position, reason: Reason): void {
    const removed = this.#rows.bars.map(({ time }) => time);
    this.#rows = new BarRows<B>([], false);
    this.#notify(false, position, { reason, changed: [], removed });
  }

  #notify(isKnown: boolean, position: Position, change: BarsChange<B>): void {
    const { bars, standing, hasOlder } = this.#rows;
    this.setState({ isKnown, bars: [...bars], standing, hasOlder }, position, change);
  }

  async #loadOlder(count: number): Promise<boolean> {
    const generation = this.#generation;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const [oldest] = this.#rows.bars;
      if (oldest === undefined || !this.#rows.hasOlder || this.isClosed) return false;
      const page = await this.#source.before(oldest.time, count);
      const own = this.position;
      // All was reloaded meanwhile, with another oldest bar.
      if (generation !== this.#generation || own === null || this.isClosed) return false;
      const isSame = this.#rows.bars[0]?.time === oldest.time;
      if (isSame && includes(page.position, own)) {
        this.#rows.prepend(page.bars, page.hasOlder);
        this.#notify(true, own, { reason: 'history', changed: [], removed: [] });
        return page.bars.length > 0;
      }
      // The node is behind this mirror: its bars may be revised already.
      await this.#pause(tries);
    }
    throw new ApiError(
      'NOT_READY',
      'no node has older bars as new as the newer ones here; try again',
    );
  }
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('BAD_ANSWER', String(error));
}
