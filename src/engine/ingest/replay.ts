/**
 * Replays a feed of trade lines into the log, paced or as fast as it goes.
 *
 * A batch is drafted, appended, applied; then the next. How far a file has got is part of each
 * entry, so after a crash the same file continues behind its last entry and nothing happens twice.
 */
import type { Readable } from 'node:stream';
import type { FeedCursor } from '../log/entry.ts';
import { nextTurn, pause } from '../runtime/clock.ts';
import type { PathObserver } from '../runtime/entryPath.ts';
import { Drafter, type Verdict } from './drafter.ts';
import {
  type FeedLine,
  MAX_LINE_CHARACTERS,
  type NumberedLine,
  parseLine,
  readLines,
} from './feedLines.ts';
import { type RollbackDeps, rollBackTo } from './rollback.ts';

export interface ReplayCounts {
  lines: number;
  trades: number;
  duplicates: number;
  /** Reported line by line like rejected ones, and counted apart from them. */
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
  /** Takes trades of a time that lies more than a day ahead of the wall clock. */
  readonly allowFuture?: boolean;
  /** Takes trades, and rollbacks, of a time before 2009. */
  readonly allowPast?: boolean;
  /** Gets the number of each line whose turn has come. */
  readonly reached?: (line: number) => void;
}

export interface ReplayObserver {
  /** Late lines too. */
  lineRejected(line: number, reason: string): void;
  replayProgress(counts: ReplayCounts): void;
  replayFinished(counts: ReplayCounts): void;
  readonly entryAt?: PathObserver;
}

/** Sealing and appending a batch holds the loop: about 2 ms for this many entries. */
const BATCH_ENTRIES = 256;
const PROGRESS_MS = 2_000;
/** Timers do not take the months that a feed may rest. */
const MAX_PAUSE_MS = 86_400_000;
const REASONS = {
  'other decimals': 'decimals differ from the first trade of this pair',
  'other content': 'a trade of this pair with the same id but another time or amount is known',
  reversed: 'this pair is traded the other way round: exchange base and quote',
} as const;
/** One line of a year far ahead would make every later trade too late. */
const MAX_AHEAD_MS = 86_400_000;
/** Older than every market of this kind; seconds taken for milliseconds are of January 1970. */
const EARLIEST_MS = Date.UTC(2009, 0, 1);

export class Replay {
  readonly #deps: RollbackDeps;
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
  readonly #stop = new AbortController();
  /** For more lines, since the last append. */
  #hasWaited = false;
  #input: Readable | null = null;

  constructor(deps: RollbackDeps, observer: ReplayObserver, options: ReplayOptions) {
    this.#deps = deps;
    this.#observer = observer;
    this.#options = options;
    this.#drafter = new Drafter(deps.node.fold, options.latenessMs);
  }

  /** Ends after the batch in hand, without waiting for a pipe that rests. */
  stop(): void {
    this.#stop.abort();
    this.#input?.destroy();
  }

  /** Reads to the end of the feed. Resolves when the whole feed is applied, or after `stop`. */
  async run(input: Readable): Promise<ReplayCounts> {
    const { feed } = this.#options;
    if (feed !== null)
      this.counts.resumedAfterLine = Number(this.#deps.node.fold.store.get('feeds', feed) ?? 0);
    this.#progressMs = this.#deps.clock.monotonicMs();
    this.#input = input;
    try {
      await this.#readAll(readLines(input));
      if (!this.#stop.signal.aborted) this.#drafter.finish();
    } finally {
      // Lines that were read count, even if the feed broke off.
      await this.#flush();
      this.#observer.replayFinished(this.counts);
    }
    return this.counts;
  }

  async #readAll(chunks: ReturnType<typeof readLines>): Promise<void> {
    let ahead = readAhead(chunks);
    for (;;) {
      const chunk = await this.#next(ahead);
      if (chunk === null || chunk.done === true || this.#stop.signal.aborted) break;
      ahead = readAhead(chunks);
      for (const line of chunk.value) {
        if (this.#stop.signal.aborted) break;
        if (line.number > this.counts.resumedAfterLine) await this.#applyLine(line);
      }
    }
  }

  /**
   * The next lines. Drafted entries are appended first, unless more lines have arrived by the next
   * turn of the event loop. That turn is granted once for each append, so a feed that never rests
   * is not held back; lines that come during an append make up the next one. The rest of a file is
   * there already: how fast it is read must not decide which trades share an entry.
   */
  async #next({ lines, isHere }: ReadAhead): Promise<LineChunk | null> {
    try {
      if (this.#options.feed === null && !this.#drafter.isEmpty) {
        const isGranted = !this.#hasWaited;
        this.#hasWaited = true;
        if (isGranted) await nextTurn(this.#deps.clock);
        if (!isGranted || !isHere()) await this.#flush();
      }
      return await lines;
    } catch (error) {
      // Stopping destroys the input, which fails then.
      if (this.#stop.signal.aborted) return null;
      throw error;
    }
  }

  async #applyLine(line: NumberedLine): Promise<void> {
    const { number } = line;
    this.counts.lines += 1;
    const found = this.#read(line);
    if (typeof found === 'string') return this.#reject(number, found);
    const cursor = this.#cursor(number);
    if (found.kind === 'rollback') return this.#rollBack(found.toMs, number, cursor);
    await this.#keepPace(found.timeMs);
    this.#observer.entryAt?.('read', 0);
    // Its turn has not come: the same file continues with it.
    if (this.#stop.signal.aborted) return;
    this.#options.reached?.(number);
    const full = this.#drafter.size >= BATCH_ENTRIES;
    if (full && this.#drafter.isBoundary(found.timeMs)) await this.#flush();
    const verdict = this.#drafter.add(found.timeMs, found.trade, cursor);
    this.#count(verdict, found.timeMs, number);
    this.#reportProgress();
  }

  /** The line, or its fault. */
  #read({ text, isBroken }: NumberedLine): FeedLine | string {
    if (text.length > MAX_LINE_CHARACTERS) return `longer than ${MAX_LINE_CHARACTERS} characters`;
    if (isBroken === true) return 'not valid UTF-8';
    const line = parseLine(text);
    return typeof line === 'string' ? line : (this.#wrongTime(line) ?? line);
  }

  #wrongTime(line: FeedLine): string | null {
    const { allowFuture = false, allowPast = false } = this.#options;
    const isTrade = line.kind === 'trade';
    const [name, timeMs] = isTrade ? ['timeMs', line.timeMs] : ['rollbackToMs', line.toMs];
    // A rollback to 0 takes everything back, and says so.
    if (!allowPast && timeMs < EARLIEST_MS && (isTrade || timeMs > 0)) {
      const when = new Date(timeMs).toISOString();
      return `${name} is before 2009: ${when}; it counts milliseconds (--allow-past takes it)`;
    }
    if (!isTrade || allowFuture || timeMs <= this.#deps.clock.nowMs() + MAX_AHEAD_MS) return null;
    const when = new Date(timeMs).toISOString();
    return `timeMs is more than a day ahead of the clock: ${when} (--allow-future takes it)`;
  }

  #count(verdict: Verdict, timeMs: number, number: number): void {
    if (verdict === 'taken') this.counts.trades += 1;
    else if (verdict === 'duplicate') this.counts.duplicates += 1;
    else if (verdict === 'late') {
      this.counts.late += 1;
      this.#observer.lineRejected(number, lateReason(timeMs, this.#drafter.earliestMs));
    } else this.#reject(number, REASONS[verdict]);
  }

  #reject(number: number, reason: string): void {
    this.counts.rejected += 1;
    this.#observer.lineRejected(number, reason);
  }

  async #rollBack(toMs: number, number: number, cursor: FeedCursor | undefined): Promise<void> {
    await this.#flush();
    const done = await rollBackTo(toMs, cursor, this.#deps);
    if (done === 'rolled back') this.counts.rollbacks += 1;
    else if (done === 'unknown')
      this.#reject(number, 'that moment is before what the log remembers');
    this.#drafter = new Drafter(this.#deps.node.fold, this.#options.latenessMs);
    this.#pace = null;
  }

  async #flush(): Promise<void> {
    this.#hasWaited = false;
    const drafts = this.#drafter.takeDrafts();
    if (drafts.length > 0) {
      const seq = await this.#deps.writer.append(drafts);
      await this.#deps.node.reached(seq);
    }
    this.#drafter = new Drafter(this.#deps.node.fold, this.#options.latenessMs);
  }

  /** Waits until it is this trade's turn, after serving the trades before it. */
  async #keepPace(timeMs: number): Promise<void> {
    const { speed } = this.#options;
    if (speed === null) return;
    const wallMs = this.#deps.clock.monotonicMs();
    this.#pace ??= { wallMs, feedMs: timeMs };
    const dueMs = this.#pace.wallMs + (timeMs - this.#pace.feedMs) / speed;
    if (dueMs <= wallMs) return;
    await this.#flush();
    const { clock } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted && clock.monotonicMs() < dueMs) {
      await pause(clock, Math.min(MAX_PAUSE_MS, dueMs - clock.monotonicMs()), signal);
    }
  }

  #cursor(line: number): FeedCursor | undefined {
    const { feed } = this.#options;
    return feed === null ? undefined : { feed, line };
  }

  #reportProgress(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#progressMs < PROGRESS_MS) return;
    this.#progressMs = nowMs;
    this.#observer.replayProgress(this.counts);
  }
}

type LineChunk = IteratorResult<readonly NumberedLine[]>;

interface ReadAhead {
  readonly lines: Promise<LineChunk>;
  /** They have arrived, or the input has ended. */
  isHere(): boolean;
}

function readAhead(chunks: ReturnType<typeof readLines>): ReadAhead {
  let here = false;
  const arrived = () => {
    here = true;
  };
  const lines = chunks.next();
  lines.then(arrived, arrived);
  return { lines, isHere: () => here };
}

function lateReason(timeMs: number, earliestMs: number): string {
  const when = new Date(timeMs).toISOString();
  const earliest = new Date(earliestMs).toISOString();
  return `too late: ${when}, trades are taken from ${earliest} on (--lateness takes later ones)`;
}
