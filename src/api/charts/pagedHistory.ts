/**
 * Histories out of pages of rendered bars: final ones, which change only by a revision. A page is
 * made at its first request, and again after one of its bars was revised. Bars of the span that
 * contains market time, and bars that are not committed, are rendered from their rows.
 *
 * Guarantees: the answer equals the answer from the rows at that moment. No page of it was compared
 *             with them before the last change of its series.
 */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { Fold } from '../../engine/fold/fold.ts';
import type { BarView } from '../../engine/market/barView.ts';
import {
  EARLIEST_START_MS,
  intervalEnd,
  STORED_RESOLUTION_IDS,
  storedPart,
} from '../../engine/market/resolution.ts';
import type { BarRow, SettledBars } from '../../engine/store/barRows.ts';
import { filledBars, tradedBars } from './history.ts';
import type { AskedHistory } from './historyAnswers.ts';
import {
  PageFile,
  PageFileFailed,
  type PageSlice,
  type PageSpan,
  type RenderedPage,
} from './pageFile.ts';
import { barRenderer } from './renderedBar.ts';

/** Not all pages are made yet: ask again in another slice. */
export const PENDING = Symbol('pending');

/** For a history that is answered in one turn. */
export const NEVER_OVER = () => false;

interface FoundHistory {
  /** The array of bars. */
  readonly body: Buffer;
  /** A hash of the body, part by part. */
  readonly tag: string;
  /** Start of the oldest bar, seconds, where older ones were cut. */
  readonly nextTo: number | null;
}

interface PageSizes {
  /** Stored intervals of the shortest page; a multiple of what any derived one is made of. */
  readonly intervals: number;
  /** Stored bars of a longer page at most: it is made where there are few. */
  readonly bars: number;
}

const USUAL: PageSizes = { intervals: 240, bars: 256 };
const LONGEST = 16;
const ALL = Number.MAX_SAFE_INTEGER;
/** More than any page holds. */
const MAX_BARS = 100_000;

/** Bars of an answer. */
interface Part {
  readonly from: number;
  readonly count: number;
  /** The newest `count` of them, at least one. */
  newest(count: number): Piece;
}

/** Bytes, or where they are in the file. `name` changes when they do. */
type Piece = { readonly name: string | Buffer; readonly oldestMs: number } & (
  | { readonly rendered: Buffer }
  | { readonly slice: PageSlice }
);

export interface PagedOptions {
  readonly sizes?: PageSizes;
  readonly openPages?: (directory: string) => PageFile;
}

export class PagedHistory {
  readonly #sizes: PageSizes;
  readonly #openPages: (directory: string) => PageFile;
  #pages: PageFile | null = null;

  constructor({ sizes = USUAL, openPages = openPageFile }: PagedOptions = {}) {
    this.#sizes = sizes;
    this.#openPages = openPages;
  }

  /** null: nothing can be kept, and the rows are to be read. `isOver` ends the present slice. */
  find(
    fold: Fold,
    asked: AskedHistory,
    isOver: () => boolean,
  ): FoundHistory | typeof PENDING | null {
    try {
      this.#pages ??= this.#openPages(dirname(fold.store.file));
      const pages = this.#pages;
      return new Search(fold, asked, { isOver, pages, sizes: this.#sizes }).find();
    } catch (error) {
      if (!(error instanceof PageFileFailed)) throw error;
      this.forget();
      return null;
    }
  }

  /** Forgets all pages: they are of another state. */
  forget(): void {
    this.#pages?.close();
    this.#pages = null;
  }
}

function openPageFile(directory: string): PageFile {
  return new PageFile(directory);
}

interface SearchDeps {
  readonly isOver: () => boolean;
  readonly pages: PageFile;
  readonly sizes: PageSizes;
}

/** One history, from its newest bar back. */
class Search {
  readonly #fold: Fold;
  readonly #asked: AskedHistory;
  readonly #isOver: () => boolean;
  readonly #pages: PageFile;
  readonly #maxBars: number;
  readonly #render: (bar: BarView) => string;
  readonly #pair: number;
  readonly #resolution: number;
  /** Length of the shortest page. */
  readonly #unitMs: number;
  /** Pages end before this; bars that start before it are final. */
  readonly #settledMs: number;
  /** Name of the format, shared by all its pages. */
  readonly #name: string;
  /** A page depends on the bar before it. */
  readonly #isJoined: boolean;
  #hasRows = false;

  constructor(fold: Fold, asked: AskedHistory, { isOver, pages, sizes }: SearchDeps) {
    this.#fold = fold;
    this.#asked = asked;
    this.#isOver = isOver;
    this.#pages = pages;
    this.#maxBars = sizes.bars;
    const { chart, kind, shown, filled, form } = asked;
    const { price, inverted, resolution, pairBars } = chart;
    const part = storedPart(resolution);
    this.#render = barRenderer(asked, fold.marketMs);
    this.#pair = pairBars.pair.id;
    this.#resolution = STORED_RESOLUTION_IDS[part];
    // Weeks and months are few, and not aligned like the others.
    const isPaged = part !== 'week1' && part !== 'month1';
    this.#unitMs = sizes.intervals * intervalEnd(part, 0);
    this.#settledMs = isPaged ? spanAt(fold.marketMs, this.#unitMs).from : -ALL;
    this.#isJoined = filled || price === 'spot';
    const as = `${price}/${filled ? 1 : 0}/${inverted ? 1 : 0}/${form?.name ?? kind.topic}`;
    const pair = `${this.#pair}/${shown.base}_${shown.quote}`;
    this.#name = `${fold.store.checkpoint?.epoch}/${pair}/${resolution}/${as}`;
  }

  find(): FoundHistory | typeof PENDING {
    const { toMs } = this.#asked.span;
    // Pages stay for the turns to come; parts from rows do not.
    const isSliced = this.#isOver !== NEVER_OVER;
    if (isSliced && this.#walk(Math.min(toMs, this.#settledMs), 'pages') === PENDING) {
      return PENDING;
    }
    const parts = this.#walk(toMs, 'all');
    if (parts === PENDING) return PENDING;
    const found = parts.reduce((sum, { count }) => sum + count, 0);
    return this.#joined(parts, found);
  }

  /** Back from `toMs`, until one more bar than is wanted: it says that older ones were cut. */
  #walk(toMs: number, what: 'pages' | 'all'): Part[] | typeof PENDING {
    const { fromMs, limit } = this.#asked.span;
    const parts: Part[] = [];
    let [cursor, found] = [toMs, 0];
    while (cursor > fromMs && found <= limit) {
      const part = this.#partBefore(cursor, limit + 1 - found, what);
      if (part === PENDING) return PENDING;
      if (part === null) break;
      if (part.count > 0) parts.push(part);
      found += part.count;
      cursor = part.from;
    }
    return parts;
  }

  #joined(newestFirst: readonly Part[], found: number): FoundHistory {
    const { limit } = this.#asked.span;
    let missing = Math.min(found, limit);
    const pieces: Piece[] = [];
    for (const part of newestFirst) {
      if (missing === 0) break;
      const count = Math.min(part.count, missing);
      pieces.unshift(part.newest(count));
      missing -= count;
    }
    const names = pieces.map(({ name }) => name);
    const nextTo = found > limit ? (pieces[0]?.oldestMs ?? 0) / 1000 : null;
    return { body: this.#read(pieces), tag: tagOf(names), nextTo };
  }

  #read(pieces: readonly Piece[]): Buffer {
    const bytesOf = (piece: Piece) =>
      'slice' in piece ? piece.slice.bytes : piece.rendered.length;
    const bytes = pieces.reduce((sum, piece) => sum + bytesOf(piece) + 1, 1);
    const body = Buffer.allocUnsafe(Math.max(2, bytes));
    let at = 0;
    for (const piece of pieces) {
      at = body.writeUInt8(at === 0 ? OPENING : COMMA, at);
      if ('slice' in piece) this.#pages.read(piece.slice, body, at);
      else piece.rendered.copy(body, at);
      at += bytesOf(piece);
    }
    if (at === 0) at = body.writeUInt8(OPENING, at);
    body.writeUInt8(CLOSING, at);
    return body;
  }

  /** The bars right before `cursor`; null: there are none. */
  #partBefore(cursor: number, wanted: number, what: 'pages' | 'all'): Part | typeof PENDING | null {
    const { fromMs } = this.#asked.span;
    const rowsFrom = (ms: number) => {
      const from = Math.max(fromMs, ms);
      return what === 'all' ? this.#rows(from, cursor, wanted) : { ...NO_ROWS, from };
    };
    if (cursor > this.#settledMs) return rowsFrom(this.#settledMs);
    const next = this.#page(cursor - 1);
    if (next !== null) return this.#slice(next, cursor);
    const older = this.#newestBefore(cursor);
    if (older === null) return null;
    const { filled } = this.#asked;
    // Without flat bars, nothing is between.
    if (!filled && older.start < fromMs) return null;
    const at = filled ? cursor - 1 : older.start;
    const known = at === cursor - 1 ? null : this.#page(at);
    if (known !== null) return this.#slice(known, cursor);
    const found = this.#longestSpan(at);
    if (found === null) return rowsFrom(spanAt(at, this.#unitMs).from);
    if (this.#isOver()) return PENDING;
    if (!this.#pages.hasRoom) {
      // The emptied file also had the pages found so far.
      this.#pages.empty();
      return PENDING;
    }
    return this.#slice(this.#make(found), cursor);
  }

  /** The page that holds this moment, if it is as the rows are now. */
  #page(at: number): RenderedPage | null {
    const page = this.#pages.find(this.#name, at);
    if (page === null) return null;
    if (this.#asked.chart.series.changedSeq <= page.comparedSeq) return page;
    const settled = this.#settled(page);
    if (settled === null || this.#nameOf(page, settled) !== page.madeOf) return null;
    if (settled.rows < this.#maxBars / 4 && this.#isShort(page, at)) return null;
    page.comparedSeq = this.#fold.store.checkpoint?.seq ?? 0;
    return page;
  }

  #isShort({ from, to }: PageSpan, at: number): boolean {
    const longest = this.#longestSpan(at);
    return longest !== null && longest.span.to - longest.span.from > to - from;
  }

  /** The longest span around `at` that can be a page; null: none, its bars may still change. */
  #longestSpan(at: number): { readonly span: PageSpan; readonly settled: SettledBars } | null {
    let span = spanAt(at, this.#unitMs);
    let settled = this.#settled(span);
    if (settled === null) return null;
    // With flat bars between, each interval has one.
    const longest = this.#asked.filled ? 0 : LONGEST;
    for (let power = 1; power <= longest; power += 1) {
      const longer = spanAt(at, this.#unitMs * 2 ** power);
      const facts = longer.to > this.#settledMs ? null : this.#settled(longer);
      if (facts === null || facts.rows > this.#maxBars) break;
      span = longer;
      settled = facts;
    }
    return { span, settled };
  }

  #settled({ from, to }: PageSpan): SettledBars | null {
    const { store } = this.#fold;
    return store.settledBars(this.#pair, this.#resolution, { from, to }, this.#maxBars + 1);
  }

  #nameOf({ from }: PageSpan, { rows, newestSeq }: SettledBars): string {
    const before = this.#isJoined ? this.#newestBefore(from) : null;
    return `${rows} ${newestSeq} ${before === null ? '' : `${before.start} ${before.seq}`}`;
  }

  #newestBefore(ms: number): BarRow | null {
    const { store } = this.#fold;
    return store.bars(this.#pair, this.#resolution, EARLIEST_START_MS, ms, 1)[0] ?? null;
  }

  #make({ span, settled }: { span: PageSpan; settled: SettledBars }): RenderedPage {
    const { bars } = this.#bars(span.from, span.to, MAX_BARS);
    const rendered = bars.map((bar) => ({ startMs: bar.time * 1000, text: this.#render(bar) }));
    const madeOf = this.#nameOf(span, settled);
    const page = this.#pages.put(this.#name, { ...span, madeOf }, rendered);
    // `settled` and the bars were read in this turn.
    page.comparedSeq = this.#fold.store.checkpoint?.seq ?? 0;
    return page;
  }

  #bars(fromMs: number, toMs: number, limit: number) {
    const { chart, filled } = this.#asked;
    const span = { fromMs, toMs, limit };
    return filled ? filledBars(this.#fold, chart, span) : tradedBars(chart, span);
  }

  #rows(from: number, to: number, wanted: number): Part | typeof PENDING {
    // Rows are not kept for another slice; after the first, all are read.
    if (!this.#hasRows && this.#isOver()) return PENDING;
    this.#hasRows = true;
    const { bars } = this.#bars(from, to, wanted);
    return {
      from,
      count: bars.length,
      newest: (count) => {
        const cut = bars.slice(bars.length - count);
        const rendered = Buffer.from(cut.map(this.#render).join(','));
        return { rendered, oldestMs: (cut[0]?.time ?? 0) * 1000, name: rendered };
      },
    };
  }

  #slice(page: RenderedPage, to: number): Part {
    const from = Math.max(page.from, this.#asked.span.fromMs);
    const [first, end] = this.#pages.within(page, from, to);
    return {
      from,
      count: end - first,
      newest: (count) => {
        const slice = this.#pages.slice(page, end - count, end);
        const name = `${page.sum} ${end - count} ${end}`;
        return { slice, oldestMs: slice.oldestMs, name };
      },
    };
  }
}

/** Rows that are read in a later turn: see `Search.find`. */
const NO_ROWS = {
  count: 0,
  newest: (): Piece => {
    throw new Error('no rows were read');
  },
};

const OPENING = '['.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const CLOSING = ']'.charCodeAt(0);

function tagOf(names: readonly (string | Buffer)[]): string {
  const sum = createHash('sha1');
  for (const name of names) sum.update(name).update('\n');
  return sum.digest('base64url');
}

/** The aligned span of this length that holds a moment. */
function spanAt(at: number, lengthMs: number): PageSpan {
  const from = Math.floor(at / lengthMs) * lengthMs;
  return { from, to: from + lengthMs };
}
