/**
 * A world whose histories are read out of pages and compared with what its rows answer: after late
 * trades, rollbacks, commits, crashes and restarts, and where these happen between two turns of one
 * question.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MARKET_CAPS, PRICES } from '../../../src/api/charts/chartKind.ts';
import type { ChartNode } from '../../../src/api/charts/findChart.ts';
import { HistoryAnswers, type HistoryItem } from '../../../src/api/charts/historyAnswers.ts';
import { PageFile, PageFileFailed, type PageSlice } from '../../../src/api/charts/pageFile.ts';
import { type Answer, type Handled, SlicedAnswer } from '../../../src/api/gateway/port.ts';
import { CHART_RESOLUTIONS, type ChartResolution } from '../../../src/engine/market/resolution.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import type { FoldWorld } from '../../support/foldWorld.ts';

/** Trades are in odd minutes, so the first bar of a page is a flat one. */
const START_MS = Date.UTC(2024, 1, 28, 23, 51);
/** Bars are final a minute after they end. */
const LATENESS_MS = 60_000;
const LATEST_MS = 3_600_000;
const OLDER_MS = 40 * 86_400_000;
/** Pages of twelve minutes, so that a short market already fills many pages. */
const SIZES = { intervals: 12, bars: 16 };
/** Larger than any single answer, smaller than all answers together. */
const FILE_BYTES = 4_000_000;

const FIRST_ID = 1_000;

const baseOf = (pair: number) => `${'ab'.repeat(28)}.0${pair}`;

interface FedTrade {
  readonly pair: number;
  readonly moveMs: number;
  readonly base: number;
  readonly quote: number;
}

export interface Asked {
  readonly pair: number;
  readonly inverted: boolean;
  readonly resolution: ChartResolution;
  /** Start of the span, as a share of the history: 0 is before the first moment, 1 the newest. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly filled: boolean;
  readonly isSpot: boolean;
}

export type Step =
  | { readonly do: 'feed'; readonly trades: readonly FedTrade[] }
  | { readonly do: 'rollBack'; readonly backMs: number }
  | { readonly do: 'commit' | 'restart' | 'crash' };

const fed: fc.Arbitrary<FedTrade> = fc.record({
  pair: fc.nat(1),
  moveMs: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 90_000 }) },
    { weight: 3, arbitrary: fc.integer({ min: -LATEST_MS, max: -1 }) },
    { weight: 1, arbitrary: fc.constantFrom(3_600_000, 86_400_000) },
  ),
  base: fc.integer({ min: 1, max: 7 }),
  quote: fc.integer({ min: 1, max: 9 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('feed' as const),
      trades: fc.array(fed, { minLength: 1, maxLength: 25 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('rollBack' as const),
      backMs: fc.integer({ min: 0, max: 1_200_000 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('commit' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'crash') }),
  },
);
/** Mostly one series, so that a page is read again after a change. */
const mostly = <T>(usual: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
const asked: fc.Arbitrary<Asked> = fc.record({
  pair: mostly(0, fc.nat(1)),
  inverted: mostly(false, fc.boolean()),
  resolution: mostly<ChartResolution>('min1', fc.constantFrom(...CHART_RESOLUTIONS)),
  from: mostly(0, fc.double({ min: 0, max: 1, noNaN: true })),
  to: mostly(1, fc.double({ min: 0, max: 1, noNaN: true })),
  limit: mostly(5_000, fc.integer({ min: 1, max: 40 })),
  filled: mostly(false, fc.boolean()),
  isSpot: mostly(false, fc.boolean()),
});
export const turn = fc.record({
  steps: fc.array(step, { maxLength: 3 }),
  /** Between two turns of the next question that takes several. */
  meanwhile: fc.option(step, { freq: 3 }),
  asks: fc.array(asked, { minLength: 1, maxLength: 4 }),
});

/** Counts writes and reads, and can refuse to write as a full disk does. */
class CountingFile extends PageFile {
  made = 0;
  readings = 0;
  refuses = false;

  override put(...args: Parameters<PageFile['put']>): ReturnType<PageFile['put']> {
    if (this.refuses) throw new PageFileFailed('no space');
    this.made += 1;
    return super.put(...args);
  }

  override read(slice: PageSlice, target: Buffer, at: number): void {
    this.readings += 1;
    super.read(slice, target, at);
  }
}

export class Runner {
  compared = 0;
  bars = 0;
  /** Questions that took several turns. */
  again = 0;
  world: FoldWorld;
  /** Questions are about this one. */
  node: ChartNode;
  /** By tag. */
  readonly #bodies = new Map<string, string>();
  readonly #files: CountingFile[] = [];
  #newestMs = START_MS;
  #ids = FIRST_ID;
  #older = 0;
  #meanwhile: Step | null = null;
  #answers: HistoryAnswers;

  constructor(world: FoldWorld) {
    this.world = world;
    this.node = world.node;
    this.#answers = this.#newAnswers();
  }

  get fed(): number {
    return this.#ids - FIRST_ID;
  }

  get made(): number {
    return this.#files.reduce((sum, { made }) => sum + made, 0);
  }

  get read(): number {
    return this.#files.reduce((sum, { readings }) => sum + readings, 0);
  }

  /** The disk refuses from now on. */
  refuse(): void {
    for (const file of this.#files) file.refuses = true;
  }

  /** Enough bars for several pages. */
  async begin(): Promise<void> {
    const trades = Array.from({ length: 120 }, (_, index) => {
      return { pair: index % 2, moveMs: 31_000, base: 1 + (index % 5), quote: 1 + (index % 7) };
    });
    await this.#feed(trades);
    await this.world.fold.store.commit();
  }

  /** `minutes` of pair 0, a bar every other minute. */
  async fill(minutes: number): Promise<void> {
    const trades = Array.from({ length: minutes / 2 }, (_, index) => {
      return { pair: 0, moveMs: 120_000, base: 1 + (index % 5), quote: 1 + (index % 7) };
    });
    await this.#feed(trades);
    await this.world.fold.store.commit();
  }

  async take({ steps, meanwhile, asks }: { steps: Step[]; meanwhile: Step | null; asks: Asked[] }) {
    for (const each of steps) await this.step(each);
    this.#meanwhile = meanwhile;
    for (const ask of asks) await this.compare(ask);
  }

  async compare(ask: Asked): Promise<void> {
    const item = this.#item(ask);
    const found = await this.#ask(item);
    const rows = new HistoryAnswers(this.node, { fewBars: Number.POSITIVE_INFINITY });
    assert.deepEqual(textOf(found), textOf(wholeNow(rows.one(item))), JSON.stringify(item.query));
    const many = this.#many([item, item]).map(textOf);
    assert.deepEqual(many, [textOf(found), textOf(found)]);
    if (!(found instanceof Failure) && found.tag !== undefined) {
      const { body } = textOf(found);
      assert.equal(this.#bodies.get(found.tag) ?? body, body, 'other bars have another tag');
      this.#bodies.set(found.tag, body);
    }
    this.compared += 1;
    this.bars += textOf(found).body.split('"time"').length - 1;
  }

  #many(items: readonly HistoryItem[]) {
    let answers: readonly (Answer | Failure)[] = [];
    const join = (found: readonly (Answer | Failure)[]) => {
      answers = found;
      return { body: '' };
    };
    const sliced = this.#answers.many(items, join);
    for (let turns = 1; turns < 2_000; turns += 1) {
      if (sliced.step(shortSlice()) !== null) return answers;
    }
    return assert.fail('the slices of one request come to an end');
  }

  async step(next: Step): Promise<void> {
    if (next.do === 'feed') await this.#feed(next.trades);
    else if (next.do === 'commit') await this.world.fold.store.commit();
    else if (next.do === 'rollBack') {
      const toMs = Math.max(START_MS, this.#newestMs - next.backMs);
      await this.world.feed([JSON.stringify({ rollbackToMs: toMs })]);
      this.#newestMs = toMs;
    } else {
      this.world = await (next.do === 'crash' ? this.world.crashed() : this.world.restarted());
      this.node = this.world.node;
      this.#answers = this.#newAnswers();
    }
  }

  #newAnswers(): HistoryAnswers {
    const nodeNow = () => this.node;
    const node = {
      get fold() {
        return nodeNow().fold;
      },
    };
    return new HistoryAnswers(node, {
      fewBars: 0,
      sizes: SIZES,
      // Small, so that it is emptied now and then.
      openPages: (directory) => {
        const file = new CountingFile(directory, { maxBytes: FILE_BYTES });
        this.#files.push(file);
        return file;
      },
    });
  }

  async #ask(item: HistoryItem): Promise<Answer | Failure> {
    const handled = this.#answers.one(item);
    if (!(handled instanceof SlicedAnswer)) return handled;
    for (let tries = 0; tries < 3_000; tries += 1) {
      const found = handled.step(shortSlice());
      if (found !== null) return found;
      this.again += 1;
      const next = this.#meanwhile;
      this.#meanwhile = null;
      if (next !== null) await this.step(next);
    }
    throw new Error('the question never ends');
  }

  #item({ pair, inverted, resolution, from, to, limit, filled, isSpot }: Asked): HistoryItem {
    // Longer than the time in which trades were made; the older trades are a separate part.
    const oldestMs = START_MS - (this.#older > 0 ? OLDER_MS : 6 * 3_600_000);
    const seconds = (share: number) =>
      Math.floor((oldestMs + (this.#newestMs - oldestMs) * share) / 1000);
    const [first, last] = [from, to].map(seconds).sort((a, b) => a - b);
    const [base, quote] = inverted ? ['.', baseOf(pair)] : [baseOf(pair), '.'];
    const isCap = pair === 1 && !inverted && limit < 8;
    const price = isSpot && !isCap ? ('spot' as const) : ('trade' as const);
    const span = { from: first ?? 0, to: (last ?? 0) + 241, limit };
    const query = { price, base, quote, resolution, ...span };
    const kind = isCap ? MARKET_CAPS : PRICES;
    return { query: filled ? { ...query, fill: 'previous' } : query, kind };
  }

  async #feed(trades: readonly FedTrade[]): Promise<void> {
    const lines = trades.map(({ pair, moveMs, base, quote }) => {
      const timeMs = moveMs === -OLDER_MS ? this.#olderMs() : this.#newestMs + moveMs;
      const atMs = moveMs === -OLDER_MS ? timeMs : Math.max(START_MS, timeMs);
      this.#newestMs = Math.max(this.#newestMs, atMs);
      this.#ids += 1;
      return JSON.stringify({
        id: String(this.#ids),
        timeMs: atMs,
        base: baseOf(pair),
        quote: '.',
        baseDecimals: 0,
        quoteDecimals: 6,
        baseAmount: String(base),
        quoteAmount: String(quote),
      });
    });
    // Market time follows in order of time, and stays where trades come late.
    const isLate = trades.some(({ moveMs }) => moveMs < 0);
    await this.world.feed(lines, isLate ? 2 * OLDER_MS : LATENESS_MS);
  }

  #olderMs(): number {
    this.#older += 1;
    return START_MS - this.#older * 600_000;
  }
}

function wholeNow(handled: Handled): Answer | Failure {
  const answer = handled instanceof SlicedAnswer ? handled.step(() => false) : handled;
  return answer ?? assert.fail('a slice that does not end answers');
}

/** Ends at the sixth look at it. */
function shortSlice(): () => boolean {
  let looks = 0;
  return () => {
    looks += 1;
    return looks > 5;
  };
}

function textOf(answer: Answer | Failure) {
  if (answer instanceof Failure) return { body: answer.cause, nextTo: undefined };
  const { body, headers } = answer;
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  return { body: text, nextTo: headers?.['X-Next-To'] };
}

function sameTimes(ms: number): FedTrade[] {
  return Array.from({ length: Math.floor(ms / 120_000) }, () => {
    return { pair: 0, moveMs: 120_000, base: 2, quote: 11 };
  });
}

/** Ways in which bars that are already in pages change. */
export const CHANGES = {
  /** Fifty minutes ago there is a bar, a minute before there is none. */
  lateTrade: [{ do: 'feed', trades: [{ pair: 0, moveMs: -3_000_000, base: 1, quote: 9 }] }],
  lateBar: [{ do: 'feed', trades: [{ pair: 0, moveMs: -3_060_000, base: 1, quote: 9 }] }],
  /** The last of its page: the bars of the next page stand on its close. */
  lateLast: [{ do: 'feed', trades: [{ pair: 0, moveMs: -3_090_000, base: 1, quote: 9 }] }],
  /** Final, and too new to be in a page. */
  lateNow: [{ do: 'feed', trades: [{ pair: 0, moveMs: -120_000, base: 1, quote: 13 }] }],
  newBar: [{ do: 'feed', trades: [{ pair: 0, moveMs: 120_000, base: 3, quote: 8 }] }],
  /** Its page is joined by neighbours that end in the same moment. */
  muchLater: [{ do: 'feed', trades: [{ pair: 0, moveMs: 7_200_000, base: 3, quote: 8 }] }],
  /** Back to before flat bars that were shown. */
  intoGap: [
    { do: 'feed', trades: [{ pair: 0, moveMs: 7_200_000, base: 3, quote: 8 }] },
    { do: 'rollBack', backMs: 3_000_000 },
  ],
  rollback: [{ do: 'rollBack', backMs: 3_000_000 }],
  /** As many bars as before, with other trades. */
  fork: [
    { do: 'rollBack', backMs: 3_000_000 },
    { do: 'feed', trades: sameTimes(3_000_000) },
  ],
  /** Into the middle of a minute: its bar is open again. */
  opened: [{ do: 'rollBack', backMs: 3_000_000 - 1 }],
  /** Ten minutes before all others: a bar before the first page. */
  oldest: [{ do: 'feed', trades: [{ pair: 0, moveMs: -OLDER_MS, base: 4, quote: 1 }] }],
  /** Everything, so the pair itself goes. */
  whole: [{ do: 'rollBack', backMs: OLDER_MS }],
  crash: [{ do: 'crash' }],
} as const satisfies Record<string, readonly Step[]>;
// trust: the keys of the object above
export const CHANGE_NAMES = Object.keys(CHANGES) as (keyof typeof CHANGES)[];

const ALL: Asked = {
  pair: 0,
  inverted: false,
  resolution: 'min1',
  from: 0,
  to: 1,
  limit: 5_000,
  filled: false,
  isSpot: false,
};
export const ASKS: readonly Asked[] = [
  ALL,
  { ...ALL, limit: 29 },
  { ...ALL, from: 0.61, to: 0.83 },
  { ...ALL, filled: true },
  { ...ALL, isSpot: true, inverted: true },
  { ...ALL, resolution: 'min3' },
];
