/**
 * Tickers of a market with 100,000 pools and 1,000 trades a second: what they take of a core, and
 * how long the loop is held, above all when market time steps to another minute.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Observer } from '../src/api/gateway/observer.ts';
import { poolTopics } from '../src/api/pools/topics.ts';
import { TrendingPools } from '../src/api/pools/trending.ts';
import { tickerTopics } from '../src/api/tickers/topics.ts';
import { TickerViews } from '../src/api/tickers/views.ts';
import { createHub } from '../src/api/topics/hub.ts';
import type { Streams, Topic } from '../src/api/topics/port.ts';
import { Fold } from '../src/engine/actors/fold.ts';
import { POOLS_TAG, TICKERS_TAG } from '../src/engine/actors/streamTags.ts';
import { NO_HASH, type Payload, type SealedEntry, sealEntry } from '../src/engine/log/entry.ts';
import { WINDOW_MS, WINDOWS } from '../src/engine/market/windows.ts';
import { Failure } from '../src/engine/runtime/errors.ts';
import { type Rng, seededRng } from '../src/engine/runtime/rng.ts';
import { StateStore } from '../src/engine/store/state.ts';
import { threadWriter } from '../src/engine/store/stateWriter.ts';
import { type Bench, fixed, whole } from './support/bench.ts';
import { drafts, launchedToken } from './support/launchedMarket.ts';
import { LoopClock } from './support/loopClock.ts';
import { quantile } from './support/quantile.ts';

const POOLS = { full: 100_000, quick: 10_000 };
/** Of market time, in each measurement. */
const MINUTES = 1;
const TRADES_A_SECOND = 1_000;
const ENTRIES_A_SECOND = 10;
/** As server/wiring/marketReads.ts has it. */
const KEEPS_A_SECOND = 2;
const MINUTE_MS = 60_000;
const STORE = { horizonBlocks: 2160, maxMb: 0, writer: threadWriter } as const;
const SLICE_MS = 2;
const EPOCH = '1-bench';
const LISTS = ['volume24h', 'change5m', 'change24h', 'marketCap', 'createdOn', 'progress'];
const OBSERVER: Observer = {
  httpRequest: fail,
  httpAborted: fail,
  handlerFailed: fail,
  socketOpened: fail,
  socketClosed: fail,
  framesPublished: () => {},
  flushed: () => {},
  socketBehind: fail,
  resync: fail,
  badFrame: fail,
};

interface Subscribed {
  readonly clock: LoopClock;
  readonly hub: Streams;
}

export const tickers: Bench = {
  name: 'tickers',
  async measure({ seconds }, progress) {
    const pools = seconds < 2 ? POOLS.quick : POOLS.full;
    const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
    const store = new StateStore(join(directory, 'state.sqlite'), STORE);
    try {
      progress(`${whole(pools)} pools are launched`);
      const market = new Market(store, pools);
      await market.launch();
      const rows: string[][] = [];
      for (const [name, choose] of MARKETS) {
        progress(`${name}, the fold alone`);
        market.passDay();
        const alone = await market.measure(choose, null);
        rows.push([`${name}, fold alone`, ...cellsOf(alone), ...NOT_READ]);
      }
      let subscribed: Subscribed | null = null;
      for (const [name, choose] of MARKETS) {
        progress(`${name}: its day is filled`);
        await market.fill(choose);
        const first = subscribed === null ? readCells(market.read()) : ['–', '–', '–'];
        subscribed ??= market.subscribe();
        market.keep();
        progress(`${name}, with tickers`);
        const read = await market.measure(choose, subscribed);
        rows.push([`${name}, tickers`, ...cellsOf(read), ...flushCells(read), ...first]);
      }
      const notes = [
        `${whole(pools)} pools, ${MINUTES} minute of market time at 1,000 trades a second, ` +
          `${ENTRIES_A_SECOND} entries a second; in this process, not pinned.`,
        'Seven lists are subscribed: by volume, change, market cap, launch, progress, Trending.',
      ];
      return { columns: COLUMNS, rows, notes };
    } finally {
      await store.close();
      rmSync(directory, { recursive: true });
    }
  },
};

const COLUMNS = [
  'market',
  'of a core %',
  'entry p99 ms',
  'turn of a minute ms, longest',
  'turn of the loop in a flush p99 ms',
  'the longest after a turn of a minute ms',
  'slice between flushes ms, longest',
  'first read s',
  'its longest slice ms',
  'heap MB more',
];

/** Below 1: which pool, as a part of all. */
type Choose = (rng: Rng) => number;
const MARKETS: readonly (readonly [string, Choose])[] = [
  // Half of the trades in 1 % of the pools, a quarter in 0.01 %.
  ['few are traded much', (rng) => rng.unit() ** 7],
  ['all are traded alike', (rng) => rng.unit()],
];

const NOT_READ = ['–', '–', '–', '–', '–', '–'];

function cellsOf({ share, entries, turns }: Measured): string[] {
  return [fixed(share * 100), fixed(quantile(entries, 0.99)), fixed(longest(turns))];
}

function flushCells({ flushes, flushesAfterTurns, slices }: Measured): string[] {
  const ofFlushes = [fixed(quantile(flushes, 0.99)), fixed(longest(flushesAfterTurns))];
  return [...ofFlushes, fixed(longest(slices))];
}

function readCells({ seconds, longestMs, heapMb: more }: ReturnType<Market['read']>): string[] {
  return [fixed(seconds), fixed(longestMs), fixed(more, 0)];
}

interface Measured {
  /** Processor time of the loop's thread, as a part of market time. */
  readonly share: number;
  /** How long each took, in milliseconds. */
  readonly entries: readonly number[];
  readonly turns: readonly number[];
  readonly flushes: readonly number[];
  readonly flushesAfterTurns: readonly number[];
  readonly slices: readonly number[];
}

/** A fold and the log that it follows. */
class Market {
  readonly #store: StateStore;
  readonly #fold: Fold;
  readonly #node: { readonly fold: Fold };
  readonly #pools: number;
  readonly #rng = seededRng(1);
  #previous: SealedEntry | null = null;
  #atMs = 0;
  #id = 0;

  constructor(store: StateStore, pools: number) {
    this.#store = store;
    this.#pools = pools;
    // All of them: how long it takes to load one is not the question here.
    this.#fold = new Fold(store, { maxLoadedPools: 2 * pools, quarantined: fail });
    this.#node = { fold: this.#fold };
  }

  async launch(): Promise<void> {
    this.#apply(0, { kind: 'epoch', reason: 'new' });
    for (const { timeMs, payload } of drafts({ pools: this.#pools, orders: 0 })) {
      this.#apply(timeMs, payload);
      if (this.#seq % 50 === 0) await this.#store.commit();
    }
    await this.#store.commit();
  }

  /** What was traded so far is older than a day from now on. */
  passDay(): void {
    const minute = Math.ceil(this.#atMs / MINUTE_MS);
    this.#atMs = minute * MINUTE_MS + 2 * WINDOW_MS['24h'];
  }

  /** The minutes that leave one of the windows while tickers are read, and nothing between them. */
  async fill(choose: Choose): Promise<void> {
    this.passDay();
    const turnMs = this.#atMs + WINDOW_MS['24h'] + MINUTE_MS;
    for (const window of WINDOWS.toReversed()) {
      const fromMs = turnMs - MINUTE_MS - WINDOW_MS[window];
      for (let second = 0; second < MINUTES * 60; second += 1) {
        this.#apply(fromMs + second * 1000, this.#block(choose, TRADES_A_SECOND));
        if (second % 10 === 9) await this.#store.commit();
      }
    }
    // Half a minute of what is measured comes before its first turn.
    this.#apply(turnMs - MINUTE_MS / 2, this.#block(choose, 1));
    await this.#store.commit();
  }

  /** As server/wiring/marketReads.ts does. */
  read(): { seconds: number; longestMs: number; heapMb: number } {
    const beforeMb = heapMb();
    const startMs = performance.now();
    let longestMs = 0;
    for (let isDone = false; !isDone; ) {
      const sliceMs = performance.now();
      isDone = this.#fold.readTickers(() => performance.now() - sliceMs > SLICE_MS);
      longestMs = Math.max(longestMs, performance.now() - sliceMs);
    }
    const seconds = (performance.now() - startMs) / 1000;
    return { seconds, longestMs, heapMb: heapMb() - beforeMb };
  }

  /** As sockets do: streams of the hub that a server has, with frames as JSON. */
  subscribe(): Subscribed {
    const clock = new LoopClock();
    const nodeView = { applied: () => ({ epoch: EPOCH, seq: this.#seq }) };
    const hub = createHub({ nodeView, clock, observer: OBSERVER, publish: fail });
    const [all = fail('no topic')] = tickerTopics(this.#node);
    const trending =
      poolTopics(this.#node).find(({ name }) => name === 'Trending') ?? fail('no topic');
    for (const sort of LISTS) subscribeTo(hub, all, { sort, limit: 100 });
    subscribeTo(hub, trending, {});
    return { clock, hub };
  }

  async measure(choose: Choose, subscribed: Subscribed | null): Promise<Measured> {
    const [entries, turns]: [number[], number[]] = [[], []];
    const [flushes, flushesAfterTurns]: [number[], number[]] = [[], []];
    const slices: number[] = [];
    let [busyMs, sinceTurn] = [0, ENTRIES_A_SECOND];
    for (let index = 0; index < MINUTES * 60 * ENTRIES_A_SECOND; index += 1) {
      const nowMs = this.#atMs + 1000 / ENTRIES_A_SECOND;
      const isTurn = Math.floor(nowMs / MINUTE_MS) !== Math.floor(this.#atMs / MINUTE_MS);
      const sealed = this.#seal(nowMs, this.#block(choose, TRADES_A_SECOND / ENTRIES_A_SECOND));
      const beforeMs = threadMs();
      const startMs = performance.now();
      this.#fold.apply(sealed, new Set());
      (isTurn ? turns : entries).push(performance.now() - startMs);
      if (subscribed !== null) {
        const { hub, clock } = subscribed;
        if (index % (ENTRIES_A_SECOND / KEEPS_A_SECOND) === 2) slices.push(...this.keep());
        hub.applied([TICKERS_TAG, POOLS_TAG]);
        const flushed = clock.advance(1000 / ENTRIES_A_SECOND);
        flushes.push(...flushed);
        sinceTurn = isTurn ? 0 : sinceTurn + 1;
        // Lists are flushed once a second.
        if (sinceTurn <= ENTRIES_A_SECOND) flushesAfterTurns.push(...flushed);
      }
      busyMs += threadMs() - beforeMs;
      if (index % 100 === 0) await this.#store.commit();
    }
    const share = busyMs / (MINUTES * MINUTE_MS);
    return { share, entries, turns, flushes, flushesAfterTurns, slices };
  }

  /** As server/wiring/marketReads.ts does between flushes. Answers how long each slice took. */
  keep(): number[] {
    const slices: number[] = [];
    for (let isDone = false; !isDone; ) {
      const startMs = performance.now();
      const isOver = () => performance.now() - startMs > SLICE_MS;
      const [views, trending] = [TickerViews.of(this.#node), TrendingPools.of(this.#fold)];
      isDone = views.refresh(isOver) && trending.refresh(isOver);
      slices.push(performance.now() - startMs);
    }
    return slices;
  }

  get #seq(): number {
    return this.#previous?.entry.seq ?? 0;
  }

  #apply(timeMs: number, payload: Payload): void {
    this.#fold.apply(this.#seal(timeMs, payload), new Set());
  }

  #seal(timeMs: number, draft: Payload): SealedEntry {
    this.#atMs = timeMs;
    const payload = draft.kind === 'block' ? { ...draft, atMs: timeMs } : draft;
    const common = { version: 4, epoch: EPOCH, term: 1, timeMs, payload } as const;
    const prevEntryHash = this.#previous?.hash ?? NO_HASH;
    this.#previous = sealEntry({ ...common, seq: this.#seq + 1, prevEntryHash });
    return this.#previous;
  }

  #block(choose: Choose, count: number): Payload {
    const trades = Array.from({ length: count }, () => this.#newTrade(choose));
    return { kind: 'block', atMs: 0, trades };
  }

  #newTrade(choose: Choose) {
    this.#id += 1;
    const base = 1_000_000 + Math.floor(this.#rng.unit() * 1_000_000);
    return {
      base: launchedToken(Math.floor(this.#pools * choose(this.#rng))),
      quote: '.',
      baseDecimals: 0,
      quoteDecimals: 6,
      id: String(this.#id),
      baseAmount: String(base),
      quoteAmount: String(3 * base + Math.floor(this.#rng.unit() * base)),
    };
  }
}

function subscribeTo(hub: Streams, topic: Topic, data: object): void {
  const opener = topic.accept(data);
  const source = opener instanceof Failure ? opener : opener();
  if (source instanceof Failure) fail(source.message);
  const { cadenceMs } = topic;
  const to = { hold: () => 1, deliver: () => {} };
  const place = { topic, source, cadenceMs, requestId: 'bench', encoding: 'json', to } as const;
  hub.join({ ...place, ended: fail }).snapshot();
}

function longest(times: readonly number[]): number {
  return times.reduce((most, ms) => Math.max(most, ms), 0);
}

/** Processor time of this thread so far. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

function fail(...what: unknown[]): never {
  throw new Error(`the bench broke: ${what.map(String).join(' ')}`);
}
