/** Trades into the log of several nodes, as `Feed` gives them to a single one: at wall speed. */
import type { TradeEvent } from '../../src/engine/log/entry.ts';
import type { EntryDraft } from '../../src/engine/log/writer.ts';
import type { FeedOptions } from './marketApp.ts';
import type { MarketWriter } from './natsServer.ts';
import { PairWalk } from './trades.ts';

const MINUTE_MS = 60_000;
/** A log must not stand still because one answer is late. */
const MOST_BEHIND_MS = 1_000;

interface Line extends TradeEvent {
  readonly timeMs: number;
}

/** Entries with a trade of every pair each; it marks the end of a minute as a leader does. */
export class WalkedEntries {
  readonly #walk = new PairWalk();
  readonly #shiftMs: number;

  /** From the first minute on that begins after `afterMs`. */
  constructor(afterMs: number) {
    this.#walk.nextMinute();
    this.#shiftMs = Math.ceil((afterMs + 1) / MINUTE_MS) * MINUTE_MS - this.#walk.timeMs;
  }

  next(pairs: number, everyMs: number): EntryDraft[] {
    const minute = (ms: number) => Math.floor(ms / MINUTE_MS) * MINUTE_MS;
    const before = minute(this.#walk.timeMs);
    const lines = this.#walk.lines(pairs, everyMs).trim().split('\n');
    const trades = lines.map((text): TradeEvent => {
      // trust: `PairWalk` wrote it just now
      const { timeMs: _, ...trade } = JSON.parse(text) as Line;
      return trade;
    });
    const atMs = this.#walk.timeMs + this.#shiftMs;
    const block: EntryDraft = { timeMs: atMs, payload: { kind: 'block', atMs, trades } };
    if (minute(this.#walk.timeMs) === before) return [block];
    const timeMs = minute(atMs);
    const time = (phase: 'end' | 'start') =>
      ({ timeMs, payload: { kind: 'time', phase } }) as const;
    return [time('end'), time('start'), block];
  }
}

export class LogFeed {
  readonly #writer: MarketWriter;
  readonly #entries: WalkedEntries;
  #feeding = false;
  #fed: Promise<void> = Promise.resolve();

  constructor(writer: MarketWriter, entries: WalkedEntries) {
    this.#writer = writer;
    this.#entries = entries;
  }

  /** Feeds until `rest`. */
  begin({ pairs, everyMs }: FeedOptions): void {
    this.#feeding = true;
    this.#fed = this.#run(pairs, everyMs);
  }

  async rest(): Promise<void> {
    this.#feeding = false;
    await this.#fed;
  }

  async #run(pairs: number, everyMs: number): Promise<void> {
    let dueMs = performance.now();
    while (this.#feeding) {
      await this.#writer.append(this.#entries.next(pairs, everyMs));
      dueMs = Math.max(dueMs + everyMs, performance.now() - MOST_BEHIND_MS);
      const restMs = dueMs - performance.now();
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }
}
