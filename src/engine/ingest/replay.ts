/**
 * Replays a feed of trade lines into the log, paced or as fast as it goes.
 *
 * A batch is drafted, appended, applied; then the next. How far a file has got is part of each
 * entry, so after a crash the same file continues behind its last entry and nothing happens twice.
 */
import type { Readable } from 'node:stream';
import type { FeedCursor } from '../log/entry.ts';
import { sleep } from '../runtime/clock.ts';
import { Drafter, type Verdict } from './drafter.ts';
import { parseLine } from './line.ts';
import { MAX_LINE_CHARACTERS, type NumberedLine, readLines } from './reader.ts';
import { type RollbackPlace, rollBackTo } from './rollback.ts';

export interface ReplayCounts {
  lines: number;
  trades: number;
  duplicates: number;
  late: number;
  rejected: number;
  rollbacks: number;
  /** Lines of an earlier run, already in the log. */
  resumedAfterLine: number;
}

export interface ReplayOptions {
  /** Name under which progress is kept; null for a pipe, which cannot be resumed. */
  readonly feed: string | null;
  /** Feed time per wall time; null: as fast as it goes. */
  readonly speed: number | null;
  readonly latenessMs: number;
}

export interface ReplayObserver {
  lineRejected(line: number, reason: string): void;
  replayProgress(counts: ReplayCounts): void;
  replayFinished(counts: ReplayCounts): void;
}

/** Sealing and appending a batch holds the loop: about 2 ms for so many. */
const BATCH_ENTRIES = 256;
const PROGRESS_MS = 2_000;
const REASONS = {
  'other decimals': 'decimals differ from the first trade of this pair',
  reversed: 'this pair is traded the other way round: exchange base and quote',
} as const;
const IDLE_MS = 20;

export class Replay {
  readonly #place: RollbackPlace;
  readonly #observer: ReplayObserver;
  readonly #options: ReplayOptions;
  readonly counts: ReplayCounts = {
    lines: 0,
    trades: 0,
    duplicates: 0,
    late: 0,
    rejected: 0,
    rollbacks: 0,
    resumedAfterLine: 0,
  };
  #drafter: Drafter;
  #pace: { readonly wallMs: number; readonly feedMs: number } | null = null;
  #progressMs = 0;
  #stopped = false;
  #input: Readable | null = null;

  constructor(place: RollbackPlace, observer: ReplayObserver, options: ReplayOptions) {
    this.#place = place;
    this.#observer = observer;
    this.#options = options;
    this.#drafter = new Drafter(place.node.fold, options.latenessMs);
  }

  /** Ends after the batch in hand, without waiting for a pipe that rests. */
  stop(): void {
    this.#stopped = true;
    this.#input?.destroy();
  }

  /** Reads to the end of the feed. Resolves when all of it is applied, or after `stop`. */
  async run(input: Readable): Promise<ReplayCounts> {
    const { feed } = this.#options;
    if (feed !== null)
      this.counts.resumedAfterLine = Number(this.#place.node.fold.store.get('feeds', feed) ?? 0);
    this.#progressMs = this.#place.clock.monotonicMs();
    this.#input = input;
    try {
      await this.#readAll(readLines(input));
      if (!this.#stopped) this.#drafter.finish();
    } finally {
      // What was read counts, also of a feed that broke off.
      await this.#flush();
      this.#observer.replayFinished(this.counts);
    }
    return this.counts;
  }

  async #readAll(chunks: ReturnType<typeof readLines>): Promise<void> {
    for (;;) {
      const chunk = await this.#next(chunks.next()).catch((error: unknown) => {
        // Stopping destroys the input, which fails then.
        if (this.#stopped) return null;
        throw error;
      });
      if (chunk === null || chunk.done === true || this.#stopped) break;
      for (const line of chunk.value) {
        if (this.#stopped) break;
        if (line.number > this.counts.resumedAfterLine) await this.#take(line);
      }
    }
  }

  /** The next lines; a pipe that rests has what it sent served meanwhile. */
  async #next<T>(chunk: Promise<T>): Promise<T> {
    const first = await Promise.race([
      chunk,
      sleep(this.#place.clock, IDLE_MS).then(() => 'idle' as const),
    ]);
    if (first !== 'idle') return first;
    await this.#flush();
    return await chunk;
  }

  async #take({ number, text }: NumberedLine): Promise<void> {
    this.counts.lines += 1;
    const line =
      text.length > MAX_LINE_CHARACTERS ? `longer than ${MAX_LINE_CHARACTERS}` : parseLine(text);
    if (typeof line === 'string') return this.#reject(number, line);
    const cursor = this.#cursor(number);
    if (line.kind === 'rollback') return this.#rollBack(line.toMs, number, cursor);
    await this.#keepPace(line.timeMs);
    const full = this.#drafter.size >= BATCH_ENTRIES;
    if (full && this.#drafter.isBoundary(line.timeMs)) await this.#flush();
    this.#count(this.#drafter.add(line.timeMs, line.trade, cursor), number);
    this.#reportProgress();
  }

  #count(verdict: Verdict, number: number): void {
    if (verdict === 'taken') this.counts.trades += 1;
    else if (verdict === 'duplicate') this.counts.duplicates += 1;
    else if (verdict === 'late') this.counts.late += 1;
    else this.#reject(number, REASONS[verdict]);
  }

  #reject(number: number, reason: string): void {
    this.counts.rejected += 1;
    this.#observer.lineRejected(number, reason);
  }

  async #rollBack(toMs: number, number: number, cursor: FeedCursor | undefined): Promise<void> {
    await this.#flush();
    const done = await rollBackTo(toMs, cursor, this.#place);
    if (done === 'rolled back') this.counts.rollbacks += 1;
    else if (done === 'unknown')
      this.#reject(number, 'that moment is before what the log remembers');
    this.#drafter = new Drafter(this.#place.node.fold, this.#options.latenessMs);
    this.#pace = null;
  }

  async #flush(): Promise<void> {
    const drafts = this.#drafter.take();
    if (drafts.length > 0) {
      const seq = await this.#place.writer.append(drafts);
      await this.#place.node.reached(seq);
    }
    this.#drafter = new Drafter(this.#place.node.fold, this.#options.latenessMs);
  }

  /** Waits until it is this trade's turn, after serving what came before it. */
  async #keepPace(timeMs: number): Promise<void> {
    const { speed } = this.#options;
    if (speed === null) return;
    const wallMs = this.#place.clock.monotonicMs();
    this.#pace ??= { wallMs, feedMs: timeMs };
    const dueMs = this.#pace.wallMs + (timeMs - this.#pace.feedMs) / speed;
    if (dueMs <= wallMs) return;
    await this.#flush();
    while (!this.#stopped && this.#place.clock.monotonicMs() < dueMs) {
      await sleep(this.#place.clock, Math.min(1_000, dueMs - this.#place.clock.monotonicMs()));
    }
  }

  #cursor(line: number): FeedCursor | undefined {
    const { feed } = this.#options;
    return feed === null ? undefined : { feed, line };
  }

  #reportProgress(): void {
    const nowMs = this.#place.clock.monotonicMs();
    if (nowMs - this.#progressMs < PROGRESS_MS) return;
    this.#progressMs = nowMs;
    this.#observer.replayProgress(this.counts);
  }
}
