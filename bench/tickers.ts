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
import { Failure } from '../src/engine/runtime/errors.ts';
import { type Rng, seededRng } from '../src/engine/runtime/rng.ts';
import { StateStore } from '../src/engine/store/state.ts';
import { threadWriter } from '../src/engine/store/stateWriter.ts';
import { type Bench, fixed, whole } from './support/bench.ts';
import { drafts, launchedToken } from './support/launchedMarket.ts';
import { LoopClock } from './support/loopClock.ts';
import { quantile } from './support/quantile.ts';

const POOLS = { full: 100_000, quick: 10_000 };
const ENTRIES_A_SECOND = 10;
const TRADES_AN_ENTRY = 100;
/** As server/wiring/marketReads.ts has it. */
const KEEPS_A_SECOND = 2;
const PREPARE_FROM_MS = 40_000;
const MINUTE_MS = 60_000;
/** Ages of the minutes that leave a window while it is measured. */
const WINDOWS_MS = [1440, 360, 60, 5].map((minutes) => minutes * MINUTE_MS);
const FOLD = { maxLoadedPools: 20_000, quarantined: fail };
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
    const [pools, minutes] = seconds < 2 ? [POOLS.quick, 1] : [POOLS.full, 3];
    const rows: string[][] = [];
    for (const [name, choose] of MARKETS) {
      for (const isRead of [false, true]) {
        progress(`${name}, ${isRead ? 'with' : 'without'} tickers`);
        rows.push([
          `${name}, ${isRead ? 'tickers' : 'fold alone'}`,
          ...(await run({ pools, choose, isRead, minutes })),
        ]);
      }
    }
    const notes = [
      `${whole(pools)} pools, ${minutes} minutes of market time at 1,000 trades a second, ` +
        `${ENTRIES_A_SECOND} entries a second; in this process, not pinned.`,
      'Seven lists are subscribed: by volume, change, market cap, launch, progress, and Trending.',
    ];
    return { columns: COLUMNS, rows, notes };
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

interface Run {
  readonly pools: number;
  readonly choose: Choose;
  readonly isRead: boolean;
  readonly minutes: number;
}

async function run({ pools, choose, isRead, minutes }: Run): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
  const store = new StateStore(join(directory, 'state.sqlite'), STORE);
  try {
    const market = new Market(new Fold(store, FOLD), pools, choose);
    await market.launch();
    await market.fill(minutes);
    const first = isRead ? market.read() : null;
    const subscribed = isRead ? market.subscribe() : null;
    const measured = await market.measure(minutes, subscribed);
    return [
      fixed(measured.share * 100),
      fixed(quantile(measured.entries, 0.99)),
      fixed(Math.max(...measured.turns)),
      isRead ? fixed(quantile(measured.flushes, 0.99)) : '–',
      isRead ? fixed(Math.max(...measured.flushesAfterTurns)) : '–',
      isRead ? fixed(measured.slices.reduce((most, ms) => Math.max(most, ms), 0)) : '–',
      first === null ? '–' : fixed(first.seconds),
      first === null ? '–' : fixed(first.longestMs),
      first === null ? '–' : fixed(first.heapMb, 0),
    ];
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

/** A fold and the log that it follows. */
class Market {
  readonly #fold: Fold;
  readonly #node: { readonly fold: Fold };
  readonly #pools: number;
  readonly #choose: Choose;
  readonly #rng = seededRng(1);
  #previous: SealedEntry | null = null;
  #atMs = 0;
  #id = 0;

  constructor(fold: Fold, pools: number, choose: Choose) {
    this.#pools = pools;
    this.#fold = fold;
    this.#node = { fold };
    this.#choose = choose;
  }

  async launch(): Promise<void> {
    this.#apply(0, { kind: 'epoch', reason: 'new' });
    let count = 0;
    for (const { timeMs, payload } of drafts({ pools: this.#pools, orders: 0 })) {
      this.#atMs = timeMs;
      this.#apply(timeMs, payload);
      count += 1;
      if (count % 50 === 0) await this.#fold.store.commit();
    }
    // Everything was launched more than a day ago.
    this.#atMs = Math.ceil(this.#atMs / MINUTE_MS) * MINUTE_MS + 48 * 60 * MINUTE_MS;
  }

  /** The minutes that leave one of the windows while it is measured, and nothing between them. */
  async fill(minutes: number): Promise<void> {
    const endMs = this.#atMs;
    for (const windowMs of WINDOWS_MS) {
      this.#atMs = Math.max(this.#atMs, endMs - windowMs + 1440 * MINUTE_MS);
      await this.#trade(minutes + 1, () => {});
    }
    // The second entry of what is measured begins a minute.
    this.#atMs = endMs + 1440 * MINUTE_MS + MINUTE_MS - 1500 / ENTRIES_A_SECOND;
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

  async measure(minutes: number, subscribed: Subscribed | null) {
    const entries: number[] = [];
    const turns: number[] = [];
    const flushes: number[] = [];
    const flushesAfterTurns: number[] = [];
    const slices: number[] = [0];
    let sinceTurn = ENTRIES_A_SECOND;
    await this.#trade(minutes, (tookMs, isTurn, index) => {
      (isTurn ? turns : entries).push(tookMs);
      if (subscribed === null) return;
      const { hub, clock } = subscribed;
      if (index % (ENTRIES_A_SECOND / KEEPS_A_SECOND) === 2) slices.push(...this.#keep());
      hub.applied([TICKERS_TAG, POOLS_TAG]);
      const flushed = clock.advance(1000 / ENTRIES_A_SECOND);
      flushes.push(...flushed);
      sinceTurn = isTurn ? 0 : sinceTurn + 1;
      // Lists are flushed once a second.
      if (sinceTurn <= ENTRIES_A_SECOND) flushesAfterTurns.push(...flushed);
    });
    const busyMs = [entries, turns, flushes, slices].flat().reduce((sum, ms) => sum + ms, 0);
    const share = busyMs / (minutes * MINUTE_MS);
    return { share, entries, turns, flushes, flushesAfterTurns, slices };
  }

  /** As server/wiring/marketReads.ts does between flushes. Answers how long each slice took. */
  #keep(): number[] {
    const slices: number[] = [];
    for (let isDone = false; !isDone; ) {
      const startMs = performance.now();
      const isOver = () => performance.now() - startMs > SLICE_MS;
      const [views, trending] = [TickerViews.of(this.#node), TrendingPools.of(this.#fold)];
      isDone = views.refresh(isOver) && trending.refresh(isOver);
      if (isDone && this.#atMs % MINUTE_MS >= PREPARE_FROM_MS) {
        isDone = views.prepare(isOver) && trending.prepare(isOver);
      }
      slices.push(performance.now() - startMs);
    }
    return slices;
  }

  get #seq(): number {
    return this.#previous?.entry.seq ?? 0;
  }

  /** `applied` gets how long each entry took, and whether a minute began with it. */
  async #trade(
    minutes: number,
    applied: (tookMs: number, isTurn: boolean, index: number) => void,
  ): Promise<void> {
    const count = minutes * 60 * ENTRIES_A_SECOND;
    for (let index = 0; index < count; index += 1) {
      const beforeMinute = Math.floor(this.#atMs / MINUTE_MS);
      this.#atMs += Math.floor(1000 / ENTRIES_A_SECOND);
      const trades = Array.from({ length: TRADES_AN_ENTRY }, () => this.#newTrade());
      const sealed = this.#seal(this.#atMs, { kind: 'block', atMs: this.#atMs, trades });
      const startMs = performance.now();
      this.#fold.apply(sealed, new Set());
      const tookMs = performance.now() - startMs;
      applied(tookMs, Math.floor(this.#atMs / MINUTE_MS) !== beforeMinute, index);
      if (index % 100 === 0) await this.#fold.store.commit();
    }
  }

  #newTrade() {
    this.#id += 1;
    const base = 1_000_000 + Math.floor(this.#rng.unit() * 1_000_000);
    return {
      base: launchedToken(Math.floor(this.#pools * this.#choose(this.#rng))),
      quote: '.',
      baseDecimals: 0,
      quoteDecimals: 6,
      id: String(this.#id),
      baseAmount: String(base),
      quoteAmount: String(3 * base + Math.floor(this.#rng.unit() * base)),
    };
  }

  #apply(timeMs: number, payload: Payload): void {
    this.#fold.apply(this.#seal(timeMs, payload), new Set());
  }

  #seal(timeMs: number, payload: Payload): SealedEntry {
    const common = { version: 4, epoch: EPOCH, term: 1, timeMs, payload } as const;
    const prevEntryHash = this.#previous?.hash ?? NO_HASH;
    const sealed = sealEntry({ ...common, seq: this.#seq + 1, prevEntryHash });
    this.#previous = sealed;
    return sealed;
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

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

function fail(...what: unknown[]): never {
  throw new Error(`the bench broke: ${what.map(String).join(' ')}`);
}
