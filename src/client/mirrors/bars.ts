/**
 * The bars of a pair: a piece of history over HTTP, then live from its position on. The newest bars
 * are all there back to the oldest one loaded; older ones come with `loadOlder`.
 */

import { ApiError } from '../apiError.ts';
import { includes } from '../rest/answer.ts';
import { backoffMs } from '../socket/backoff.ts';
import type { Connection } from '../socket/connection.ts';
import type { Subscription } from '../socket/subscription.ts';
import type { Surroundings } from '../surroundings.ts';
import type { Position } from '../types.ts';
import { type BarNews, BarRows, type Candle } from './barRows.ts';
import type { BarSource, HistoryPage } from './barSource.ts';
import { BaseMirror } from './base.ts';
import type { Change, Reason } from './port.ts';

export interface BarsState<B extends Candle> {
  /** False: the server knows no such pair, yet. */
  readonly isKnown: boolean;
  /** Oldest first, each interval once. */
  readonly bars: readonly B[];
  /** Of a launch that nobody has traded yet: a flat bar at its spot, which is in no history. */
  readonly standing: B | null;
  /** Whether there are bars older than the first one here. */
  readonly hasOlder: boolean;
}

export interface BarsChange<B extends Candle> extends Change {
  /** Changed or new, oldest first; on `snapshot` and `history` look at the state instead. */
  readonly changed: readonly B[];
  /** Times of bars that are no more. */
  readonly removed: readonly number[];
}

export interface BarsParts extends Pick<Surroundings, 'clock' | 'chance'> {
  readonly connection: Connection;
}

/** Tries to get older bars from a node that is not behind this mirror. */
const MOST_TRIES = 8;
const LONGEST_ASKED_SECONDS = 60;

export class BarsMirror<B extends Candle> extends BaseMirror<BarsState<B>, BarsChange<B>> {
  readonly #parts: BarsParts;
  readonly #source: BarSource<B>;
  /** Of the first page, and of one that is loaded anew. */
  readonly #limit: number;
  #rows = new BarRows<B>([], false);
  #subscription: Subscription | null = null;
  #loading: Promise<boolean> | null = null;
  /** Counts the times that all was loaded anew. */
  #round = 0;

  constructor(parts: BarsParts, source: BarSource<B>, limit: number) {
    super({ isKnown: false, bars: [], standing: null, hasOlder: false });
    this.#parts = parts;
    this.#source = source;
    this.#limit = limit;
    void this.#begin();
  }

  /** Loads up to `count` bars before the first one; true when there were any. Throws `ApiError`. */
  loadOlder(count = this.#limit): Promise<boolean> {
    this.#loading ??= this.#loadOlder(count).finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  protected override stop(): void {
    this.#round += 1;
    this.#subscription?.close();
  }

  /** From nothing: a page of history, and what comes after it. What was shown stays until then. */
  async #begin(): Promise<void> {
    this.#subscription?.close();
    this.#round += 1;
    const round = this.#round;
    const limit = Math.max(this.#limit, this.#rows.bars.length);
    const page = await this.#page(round, () => this.#source.newest(limit));
    if (page === null || round !== this.#round) return;
    if (page.isKnown) this.#load(page);
    this.#subscribe(page.isKnown ? page.position : undefined);
  }

  #load({ bars, standing, hasOlder, position }: HistoryPage<B>): void {
    this.#rows = new BarRows(bars, hasOlder);
    this.#rows.standing = standing;
    this.#tell(true, position, { reason: 'snapshot', changed: [], removed: [] });
  }

  /** Asks until there is an answer: an outage is no end. */
  async #page(round: number, ask: () => Promise<HistoryPage<B>>): Promise<HistoryPage<B> | null> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await ask();
      } catch (error) {
        if (round !== this.#round) return null;
        if (!(error instanceof ApiError) || !error.isPassing) {
          this.fail(asApiError(error));
          return null;
        }
        await this.#pause(tries, error.retryAfterSeconds ?? 0);
        if (round !== this.#round) return null;
      }
    }
  }

  #pause(tries: number, askedSeconds = 0): Promise<void> {
    const { clock, chance } = this.#parts;
    const askedMs = Math.min(askedSeconds, LONGEST_ASKED_SECONDS) * 1_000;
    return new Promise((resolve) => {
      clock.after(Math.max(askedMs, backoffMs(tries, chance)), resolve);
    });
  }

  #subscribe(since: Position | undefined): void {
    this.#subscription = this.#parts.connection.subscribe(
      { ...this.#source.wish, since },
      {
        snapshot: (data, position) => this.#anew(data, position),
        update: (event, data, position) => this.#news(event, data, position),
        idle: (position) => this.reach(position),
        ended: (error) => this.fail(error),
      },
    );
  }

  /** Who gets a snapshot has missed something: it says the newest bar only. */
  #anew(data: unknown, position: Position): void {
    if (data !== null) void this.#begin();
    else this.#forget(position, 'snapshot');
  }

  #news(event: string, data: unknown, position: Position): void {
    const isRevision = event === 'BarsRevised';
    const reason: Reason = isRevision ? 'revised' : 'update';
    if (data === null) {
      this.#forget(position, reason);
      return;
    }
    const news = isRevision ? this.#source.revised(data) : [this.#source.streamed(data)];
    this.#take(news, position, reason);
  }

  #take(news: readonly BarNews<B>[], position: Position, reason: Reason): void {
    const { changed, removed } = this.#rows.take(news, this.#source.isFilled);
    this.#tell(true, position, { reason, changed, removed });
  }

  /** There is no such pair, or a rollback took it away. */
  #forget(position: Position, reason: Reason): void {
    const removed = this.#rows.bars.map(({ time }) => time);
    this.#rows = new BarRows<B>([], false);
    this.#tell(false, position, { reason, changed: [], removed });
  }

  #tell(isKnown: boolean, position: Position, change: BarsChange<B>): void {
    const { bars, standing, hasOlder } = this.#rows;
    this.become({ isKnown, bars: [...bars], standing, hasOlder }, position, change);
  }

  async #loadOlder(count: number): Promise<boolean> {
    const round = this.#round;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const [oldest] = this.#rows.bars;
      if (oldest === undefined || !this.#rows.hasOlder || this.isClosed) return false;
      const page = await this.#source.before(oldest.time, count);
      const own = this.position;
      // All came anew meanwhile, with its own oldest bar.
      if (round !== this.#round || own === null || this.isClosed) return false;
      const isSame = this.#rows.bars[0]?.time === oldest.time;
      if (isSame && includes(page.position, own)) {
        this.#rows.prepend(page.bars, page.hasOlder);
        this.#tell(true, own, { reason: 'history', changed: [], removed: [] });
        return page.bars.length > 0;
      }
      // The node is behind what is known here: its bars may be revised already.
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
