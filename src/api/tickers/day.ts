/**
 * A token's last 24 hours at one position, as exact values: a ticker shows these, and lists sort by
 * them.
 * Source: protocol.md section 9.1.
 */

import type { Fold } from '../../engine/fold/fold.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { decodeBar } from '../../engine/market/barText.ts';
import { powerOfTen } from '../../engine/market/decimal.ts';
import type { Pair } from '../../engine/market/pair.ts';
import { spotOf } from '../../engine/market/pool.ts';
import { type Ratio, roundHalfEven } from '../../engine/market/ratio.ts';
import {
  EARLIEST_START_MS,
  FOREVER_MS,
  intervalStart,
  STORED_RESOLUTION_IDS,
} from '../../engine/market/resolution.ts';
import { type SparkSpan, sparkSpan } from '../../engine/market/sparkSpan.ts';
import {
  type Range,
  type Sums,
  sumsOf,
  WINDOW_MS,
  type Window,
} from '../../engine/market/windows.ts';
import type { ListedPool } from '../../engine/pools/listedPool.ts';
import type { PairDay } from '../../engine/pools/poolTicker.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { type PoolRecord, poolState } from '../../engine/store/records.ts';

/** Months of a thousand years. */
const MAX_MONTHS = 12_000;
const LAUNCHED = { baseDecimals: 0, quoteDecimals: 6 };

/** Right until the next entry is applied. */
export class TokenDay {
  readonly asset: AssetId;
  /** null: a pair of a feed, without a pool. */
  readonly pool: PoolRecord | null;
  readonly marketCapLovelace: bigint | null;
  readonly #fold: Fold;
  readonly #atMs: number;
  /** undefined: not read yet. */
  #dayRead: PairDay | null | undefined;
  #spotRead: Ratio | null = null;

  private constructor(fold: Fold, asset: AssetId, listed: ListedPool | null) {
    this.asset = asset;
    this.pool = listed?.pool ?? null;
    this.marketCapLovelace = listed?.marketCapLovelace ?? null;
    this.#fold = fold;
    this.#atMs = intervalStart('min1', fold.marketMs);
  }

  /** null: neither launched nor traded here. */
  static of(fold: Fold, asset: AssetId): TokenDay | null {
    const day = new TokenDay(fold, asset, fold.directory.find(asset));
    return day.pool === null && day.#last() === null ? null : day;
  }

  /** Reads what `of` answers from, besides traders, until `isOver`. True: it is read. */
  static read(fold: Fold, asset: AssetId, isOver: () => boolean): boolean {
    return fold.tickers.readDay(asset, intervalStart('min1', fold.marketMs), isOver);
  }

  static readTraders(fold: Fold, asset: AssetId, isOver: () => boolean): boolean {
    const isShown = fold.directory.find(asset) !== null;
    return (
      !isShown || fold.tickers.readTraders(asset, intervalStart('min1', fold.marketMs), isOver)
    );
  }

  get spot(): Ratio {
    this.#spotRead ??= this.pool === null ? this.#last() : spotOf(poolState(this.pool));
    assert(this.#spotRead !== null, 'a token without a pool was traded');
    return this.#spotRead;
  }

  get #day(): PairDay | null {
    if (this.#dayRead === undefined) {
      this.#dayRead = this.#fold.tickers.day(this.asset, this.#atMs);
    }
    return this.#dayRead;
  }

  get decimals(): Pick<Pair, 'baseDecimals' | 'quoteDecimals'> {
    return this.#day?.pair ?? LAUNCHED;
  }

  get sidesAreKnown(): boolean {
    return this.pool !== null;
  }

  /** null: a pair without a pool that has no bar, or a pool whose launch is not known. */
  get createdMs(): number | null {
    return this.pool === null ? this.#firstTradeMs() : this.pool.createdMs;
  }

  get lastTradeMs(): number | null {
    return this.#day?.last?.lastMs ?? null;
  }

  get traders(): number | null {
    return this.pool === null ? null : this.#fold.tickers.traders(this.asset, this.#atMs);
  }

  sums(window: Window): Sums {
    return this.#day?.windows?.sums(window) ?? sumsOf(null);
  }

  /**
   * Hundredths of a percent against the price at the window's start, or at the launch of a token
   * that is younger. null: neither is known.
   */
  change(window: Window): bigint | null {
    const from = this.#priceBefore(window) ?? this.#launchWithin(window);
    if (from === null || from.numerator === 0n) return null;
    const { numerator, denominator } = this.spot;
    const now = numerator * from.denominator;
    const then = from.numerator * denominator;
    return roundHalfEven({ numerator: (now - then) * 10_000n, denominator: then });
  }

  range(): Range {
    const range = this.#day?.windows?.dayRange() ?? null;
    return range ?? { high: this.spot, low: this.spot };
  }

  /** Whether `change` counts from the launch: it lies within the window. */
  countsFromLaunch(window: Window): boolean {
    return this.#priceBefore(window) === null && this.#launchWithin(window) !== null;
  }

  get sparkSpan(): SparkSpan {
    return sparkSpan(this.pool === null ? this.#firstMinuteMs() : this.pool.createdMs, this.#atMs);
  }

  /** The price at the end of each step of its spark; null before the launch, the last now. */
  sparkCloses(): readonly (Ratio | null)[] {
    const { fromMs, stepMs, points } = this.sparkSpan;
    const windows = this.#day?.windows ?? null;
    const closeBefore = (endMs: number) =>
      windows === null ? this.#lastOrSpot() : (windows.closeBefore(endMs) ?? this.#launch());
    const ends = Array.from({ length: points - 1 }, (_, index) => fromMs + (index + 1) * stepMs);
    const closes = ends.map((endMs) => (this.#wasThere(endMs) ? closeBefore(endMs) : null));
    return [...closes, this.spot];
  }

  #priceBefore(window: Window): Ratio | null {
    const fromMs = this.#atMs - WINDOW_MS[window];
    const windows = this.#day?.windows ?? null;
    const before = windows?.before(window) ?? null;
    if (before !== null) return before;
    // The launch counts as a price, its own moment included.
    if (!this.#wasThere(fromMs + 1)) return null;
    return windows === null ? this.#lastOrSpot() : this.#launch();
  }

  /** Price of the launch, where that was seen here and lies within the window; null elsewhere. */
  #launchWithin(window: Window): Ratio | null {
    if (this.pool === null || this.pool.createdMs !== this.pool.firstMs) return null;
    if (this.#wasThere(this.#atMs - WINDOW_MS[window] + 1)) return null;
    return this.#day?.windows ? this.#launch() : this.#lastOrSpot();
  }

  /** After the last trade, or since the launch where there was none. */
  #lastOrSpot(): Ratio {
    return this.#last() ?? this.spot;
  }

  #last(): Ratio | null {
    return this.#day?.last?.close ?? null;
  }

  /** Price of the launch, before any trade; a pair without a pool has none. */
  #launch(): Ratio | null {
    return this.#day?.windows?.launch ?? null;
  }

  #wasThere(beforeMs: number): boolean {
    const firstMs = this.pool === null ? this.#firstTradeMs() : this.pool.firstMs;
    return firstMs !== null && firstMs < beforeMs;
  }

  /** Start of a pair that began within the last 24 hours; null for an older pair. */
  #firstMinuteMs(): number | null {
    return this.#day?.windows?.launchMs ?? null;
  }

  #firstTradeMs(): number | null {
    const pair = this.#day?.pair;
    if (pair === undefined) return null;
    const { store } = this.#fold;
    const id = STORED_RESOLUTION_IDS.month1;
    const oldest = store.bars(pair.id, id, EARLIEST_START_MS, FOREVER_MS, MAX_MONTHS).at(-1);
    if (oldest === undefined || oldest.value === null) return null;
    return decodeBar(oldest.start, oldest.value).open.timeMs;
  }
}

/** Quote per base in display units, times 10^24: sorts as prices do. */
export function scaledPrice(price: Ratio, { decimals }: TokenDay): bigint {
  const { numerator, denominator } = price;
  const shift = powerOfTen(decimals.baseDecimals + 24);
  return (numerator * shift) / (denominator * powerOfTen(decimals.quoteDecimals));
}
