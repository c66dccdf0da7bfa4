/**
 * Final bars as answers show them, in pages on the disk: what fits no memory, and need not be
 * rendered again. A page holds all bars of a span of time.
 *
 * Assumes: the reader compares `madeOf` with the bars as they are now. A page says nothing itself.
 * Never:   outlives the process. The file has no name, so the system removes it with the process,
 *          and no other process, state or version can read it. Written only at its end: a page that
 *          was found can be read until the file is emptied.
 */
import { hash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A span of time, [from, to). */
export interface PageSpan {
  readonly from: number;
  readonly to: number;
}

export interface RenderedPage extends PageSpan {
  /** Names the state of all bars that it was made of. */
  readonly madeOf: string;
  readonly bars: number;
  /** Where its bars are in the file, with commas between; their starts and ends follow. */
  readonly position: number;
  readonly bytes: number;
  /** A hash of its bars. */
  readonly sum: string;
  /** Seq of the last comparison with the bars: the entry that they were `madeOf` at. */
  comparedSeq: number;
}

/** Bars of one page that follow each other. */
export interface PageSlice {
  readonly position: number;
  readonly bytes: number;
  readonly oldestMs: number;
}

interface PageFileOptions {
  /** The file is emptied before it would exceed either limit. */
  readonly maxBytes?: number;
  readonly maxPages?: number;
}

/** The disk failed, or the content differs from the content that was written. */
export class PageFileFailed extends Error {}

const MAX_BYTES = 256 * 1024 * 1024;
/** A page takes some 300 bytes of memory. */
const MAX_PAGES = 30_000;
const START_BYTES = 8;
const END_BYTES = 4;
let opened = 0;

export class PageFile {
  readonly #file: number;
  readonly #maxBytes: number;
  readonly #maxPages: number;
  /** By series, ascending; pages of one series do not overlap. */
  readonly #series = new Map<string, RenderedPage[]>();
  #bytes = 0;
  #pages = 0;

  constructor(directory: string, options: PageFileOptions = {}) {
    const { maxBytes = MAX_BYTES, maxPages = MAX_PAGES } = options;
    this.#maxBytes = maxBytes;
    this.#maxPages = maxPages;
    opened += 1;
    const name = join(directory, `history-${process.pid}-${opened}.pages`);
    this.#file = attempt(() => openSync(name, 'w+'));
    attempt(() => unlinkSync(name));
  }

  /** The page of this series that holds the moment `at`. */
  find(series: string, at: number): RenderedPage | null {
    const pages = this.#series.get(series) ?? [];
    const page = pages[countBefore(pages.length, (index) => pageAt(pages, index).from <= at) - 1];
    return page !== undefined && at < page.to ? page : null;
  }

  /** Whether a page can be put without emptying the file. */
  get hasRoom(): boolean {
    return this.#bytes < this.#maxBytes && this.#pages < this.#maxPages;
  }

  empty(): void {
    this.#series.clear();
    this.#bytes = 0;
    this.#pages = 0;
    attempt(() => ftruncateSync(this.#file));
  }

  /** Takes the place of the pages that it overlaps. `bars` ascend. */
  put(
    series: string,
    { from, to, madeOf }: Pick<RenderedPage, 'from' | 'to' | 'madeOf'>,
    bars: readonly { readonly startMs: number; readonly text: string }[],
  ): RenderedPage {
    const body = Buffer.from(bars.map(({ text }) => text).join(','));
    const position = this.#bytes;
    this.#write(body);
    this.#write(indexOf(bars));
    const sum = hash('sha1', body, 'base64url');
    const page = { from, to, madeOf, bars: bars.length, position, bytes: body.length };
    const put = { ...page, sum, comparedSeq: -1 };
    const others = (this.#series.get(series) ?? []).filter(
      (old) => old.to <= from || old.from >= to,
    );
    const at = others.findIndex((other) => other.from > from);
    others.splice(at < 0 ? others.length : at, 0, put);
    this.#series.set(series, others);
    this.#pages += 1;
    return put;
  }

  /** Bars of a page that start in [from, to): the index of the first, and of the one after. */
  within(page: RenderedPage, from: number, to: number): readonly [number, number] {
    if (from <= page.from && to >= page.to) return [0, page.bars];
    const index = this.#index(page);
    const before = (ms: number) => countBefore(page.bars, (bar) => startOf(index, bar) < ms);
    return [before(from), before(to)];
  }

  /** Bars [first, end) of a page, at least one. */
  slice(page: RenderedPage, first: number, end: number): PageSlice {
    const index = this.#index(page);
    const endOf = (bar: number) => index.readUInt32LE(page.bars * START_BYTES + bar * END_BYTES);
    const begin = first === 0 ? 0 : endOf(first - 1) + 1;
    const bytes = endOf(end - 1) - begin;
    return { position: page.position + begin, bytes, oldestMs: startOf(index, first) };
  }

  read({ position, bytes }: PageSlice, target: Buffer, at: number): void {
    const read = attempt(() => readSync(this.#file, target, at, bytes, position));
    if (read !== bytes) throw new PageFileFailed(`${read} bytes of ${bytes} are there`);
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(bytes: Buffer): void {
    const written = attempt(() => writeSync(this.#file, bytes, 0, bytes.length, this.#bytes));
    if (written !== bytes.length) throw new PageFileFailed('the disk is full');
    this.#bytes += written;
  }

  #index({ position, bytes, bars }: RenderedPage): Buffer {
    const index = Buffer.allocUnsafe(bars * (START_BYTES + END_BYTES));
    const place = { position: position + bytes, bytes: index.length, oldestMs: 0 };
    this.read(place, index, 0);
    return index;
  }
}

/** The start of each bar, then where each ends in the body. */
function indexOf(bars: readonly { readonly startMs: number; readonly text: string }[]): Buffer {
  const index = Buffer.allocUnsafe(bars.length * (START_BYTES + END_BYTES));
  let end = -1;
  for (const [at, { startMs, text }] of bars.entries()) {
    end += Buffer.byteLength(text) + 1;
    index.writeDoubleLE(startMs, at * START_BYTES);
    index.writeUInt32LE(end, bars.length * START_BYTES + at * END_BYTES);
  }
  return index;
}

function startOf(index: Buffer, bar: number): number {
  return index.readDoubleLE(bar * START_BYTES);
}

function pageAt(pages: readonly RenderedPage[], index: number): RenderedPage {
  const page = pages[index];
  if (page === undefined) throw new RangeError(`there is no page ${index}`);
  return page;
}

/** How many of `count` things in order, from the first on, are `before`. */
function countBefore(count: number, before: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function attempt<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new PageFileFailed(`the file of rendered bars: ${error}`);
  }
}
