/**
 * Turns checked lines into entries: groups trades of one moment, drops duplicates and late trades,
 * and reports the ends of intervals. A batch is drafted against the applied state plus the batch
 * itself, so the caller appends and applies it before it starts the next one.
 */
import type { Fold } from '../fold/fold.ts';
import type { FeedCursor, TradeEvent } from '../log/entry.ts';
import type { EntryDraft } from '../log/writer.ts';
import { pairName } from '../market/pair.ts';
import { intervalStart, MINUTE_MS } from '../market/resolution.ts';
import { MarketTimeDrafter } from '../node/marketTimeDrafter.ts';
import { contentCode } from '../store/tradeIds.ts';

/** The outcome of a trade line. */
export type Verdict =
  | 'taken'
  | 'duplicate'
  | 'late'
  | 'other content'
  | 'other decimals'
  | 'reversed';

/** A pair that has trades in the batch. */
interface DraftedPair {
  readonly baseDecimals: number;
  readonly quoteDecimals: number;
  readonly trades: Map<string, { readonly atMs: number; readonly trade: TradeEvent }>;
}

interface OpenBlock {
  readonly atMs: number;
  readonly trades: TradeEvent[];
  cursor: FeedCursor | undefined;
}

/** Keeps an entry below the megabyte that a log message may have. */
const TRADES_PER_ENTRY = 1_000;

export class Drafter {
  readonly #fold: Fold;
  readonly #latenessMs: number;
  readonly #pairs = new Map<string, DraftedPair>();
  #drafts: EntryDraft[] = [];
  #block: OpenBlock | null = null;
  readonly #marketTime: MarketTimeDrafter;
  #seenMs: number;

  constructor(fold: Fold, latenessMs: number) {
    this.#fold = fold;
    this.#latenessMs = latenessMs;
    this.#marketTime = new MarketTimeDrafter(fold);
    this.#seenMs = fold.seenMs;
  }

  /** Entries drafted so far, the open block not counted. */
  get size(): number {
    return this.#drafts.length;
  }

  /** A trade before this is too late. */
  get earliestMs(): number {
    return this.#seenMs - this.#latenessMs;
  }

  /** Nothing was drafted since the last `take`. */
  get isEmpty(): boolean {
    return this.#block === null && this.#drafts.length === 0;
  }

  /** The next trade at this moment begins an entry: nothing is split that belongs together. */
  isBoundary(atMs: number): boolean {
    const open = this.#block;
    return open === null || open.atMs !== atMs || open.trades.length >= TRADES_PER_ENTRY;
  }

  add(atMs: number, trade: TradeEvent, cursor: FeedCursor | undefined): Verdict {
    const name = pairName(trade.base, trade.quote);
    const { baseDecimals, quoteDecimals } = trade;
    const drafted = this.#pairs.get(name);
    const pair = drafted ?? this.#fold.pair(name) ?? trade;
    if (pair.baseDecimals !== baseDecimals || pair.quoteDecimals !== quoteDecimals) {
      return 'other decimals';
    }
    if (drafted === undefined && this.#isReverse(trade)) return 'reversed';
    const known = this.#contentOf(name, trade.id, drafted);
    if (known !== null) return known === codeOf(atMs, trade) ? 'duplicate' : 'other content';
    if (atMs < this.earliestMs) return 'late';
    const added = { atMs, trade };
    if (drafted !== undefined) drafted.trades.set(trade.id, added);
    else {
      const trades = new Map([[trade.id, added]]);
      this.#pairs.set(name, { baseDecimals, quoteDecimals, trades });
    }
    // First the block before it: market time may not run ahead of the log.
    const block = this.#blockAt(atMs);
    this.#seenMs = Math.max(this.#seenMs, atMs);
    block.trades.push(trade);
    block.cursor = cursor;
    return 'taken';
  }

  #closeBlock(): void {
    const block = this.#block;
    this.#block = null;
    if (block === null) return;
    const marketMs = Math.max(this.#marketTime.marketMs, this.#seenMs - this.#latenessMs);
    this.passTo(marketMs);
    this.#drafts.push(...this.#marketTime.startAt(marketMs));
    const { atMs, trades, cursor } = block;
    const payload = {
      kind: 'block',
      atMs,
      trades,
      ...(cursor === undefined ? {} : { cursor }),
    } as const;
    this.#drafts.push({ timeMs: marketMs, payload });
    this.#marketTime.opens(atMs);
  }

  /** Time entries for every moment up to `marketMs` at which an open bar ends. */
  passTo(marketMs: number): void {
    this.#drafts.push(...this.#marketTime.endsUpTo(marketMs));
  }

  /** The feed has ended: the minute of its newest trade is over. */
  finish(): void {
    this.#closeBlock();
    if (this.#seenMs > 0) this.passTo(intervalStart('min1', this.#seenMs) + MINUTE_MS);
  }

  takeDrafts(): EntryDraft[] {
    this.#closeBlock();
    const drafts = this.#drafts;
    this.#drafts = [];
    return drafts;
  }

  #blockAt(atMs: number): OpenBlock {
    const open = this.#block;
    if (open !== null && open.atMs === atMs && open.trades.length < TRADES_PER_ENTRY) return open;
    this.#closeBlock();
    const block: OpenBlock = { atMs, trades: [], cursor: undefined };
    this.#block = block;
    return block;
  }

  /** One market for two assets: its reverse is served by inversion, never traded beside it. */
  #isReverse({ base, quote }: TradeEvent): boolean {
    const reverse = pairName(quote, base);
    return this.#pairs.has(reverse) || this.#fold.pair(reverse) !== null;
  }

  /** Code of the trade with this id, in the batch or applied; null where there is none. */
  #contentOf(name: string, tradeId: string, drafted: DraftedPair | undefined): string | null {
    const added = drafted?.trades.get(tradeId);
    if (added !== undefined) return codeOf(added.atMs, added.trade);
    const pairBars = this.#fold.pairBars(name);
    return pairBars === null || pairBars === 'quarantined' ? null : pairBars.contentOf(tradeId);
  }
}

function codeOf(timeMs: number, { baseAmount, quoteAmount }: TradeEvent): string {
  // As numbers: leading zeros are no difference.
  return contentCode({
    timeMs,
    baseAmount: BigInt(baseAmount),
    quoteAmount: BigInt(quoteAmount),
  });
}
