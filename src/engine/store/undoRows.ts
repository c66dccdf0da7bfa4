/**
 * Data for a rollback: of every entry of the last `horizon` blocks a record, with the images of the
 * rows that it changed and the trades that it counted; and of every commit the bars that it
 * changed, as they were before it (`undoneBars.ts` makes the rest of the two). One row a commit, in
 * compressed texts, which would else be most of what a market writes (decision 0102).
 *
 * The points a rollback can go back to are kept in memory too, oldest first.
 */
import { deflateSync, inflateSync } from 'node:zlib';
import type { PoolStep, Trade } from '../market/trade.ts';
import type { Database } from './database.ts';
import { KEPT_TABLES, type RowChange, type RowImage, type TableName, textOf } from './rows.ts';
import { type CountedTrades, tradeKey } from './tradeIds.ts';
import { imagesOfBars, type UndoneCommit } from './undoneBars.ts';

/** State after entry `seq`; `atMs` is the moment of its trades. */
export interface Point {
  readonly seq: number;
  readonly atMs: number;
  /** Market time after it. */
  readonly marketMs: number;
  /** Largest moment of any block up to it. */
  readonly seenMs: number;
}

/** The effects of an entry that wait to be written. */
export interface EntryEffects extends Point {
  /** A rollback can go back to it. */
  readonly block: boolean;
  readonly changes: readonly RowChange[];
  readonly trades: CountedTrades;
}

/** The same, read back; images of its rows: see `takeImages`. */
export interface UndoRecord extends Point {
  readonly block: boolean;
  readonly trades: readonly PairTrade[];
}

export interface PairTrade {
  readonly pair: number;
  readonly trade: Trade;
}

interface StoredUndo {
  readonly horizonSeq: number;
  readonly records: Uint8Array;
  readonly bars: Uint8Array;
}

export class UndoPoints {
  readonly #horizon: number;
  readonly #from;
  #points: Point[];

  constructor(database: Database, horizon: number) {
    this.#horizon = horizon;
    this.#from = database.prepare<[number], StoredUndo>(
      `SELECT horizon_seq AS horizonSeq, records, bars FROM undo WHERE to_seq >= ? ORDER BY to_seq`,
    );
    const stored = this.#from.all(0);
    const horizonSeq = stored.at(-1)?.horizonSeq ?? 0;
    // A commit may begin before the horizon; what fell out of it stays out.
    this.#points = stored
      .flatMap(({ records }) => recordsOf(unpacked(records)).map(readHeader))
      .filter(({ block, seq }) => block && seq >= horizonSeq)
      .map(({ block: _, ...point }) => point);
  }

  /** The oldest seq a rollback can still go back to, and `since` can still be answered from. */
  get horizonSeq(): number {
    return this.oldest?.seq ?? 0;
  }

  /** The one of `horizonSeq`; null before the first block. */
  get oldest(): Point | null {
    return this.#points[this.#oldestIndex()] ?? null;
  }

  get newest(): Point | null {
    return this.#points[this.#points.length - 1] ?? null;
  }

  /** The newest point at or before a moment; null when it lies beyond the horizon. */
  atOrBefore(atMs: number): Point | null {
    for (let index = this.#points.length - 1; index >= this.#oldestIndex(); index -= 1) {
      const point = this.#points[index];
      if (point !== undefined && point.atMs <= atMs) return point;
    }
    return null;
  }

  /** No bar that ended before this moment has changed in order since `seq`; -1: cannot tell. */
  oldestMarketMsSince(seq: number): number {
    let oldestMs = Number.POSITIVE_INFINITY;
    for (let index = this.#points.length - 1; index >= 0; index -= 1) {
      const point = this.#points[index];
      if (point === undefined) break;
      oldestMs = Math.min(oldestMs, point.marketMs);
      if (point.seq <= seq) return oldestMs;
    }
    return -1;
  }

  /** `isDeep`: nothing before it can be gone back to any more. */
  add(point: Point, isDeep: boolean): void {
    if (isDeep) this.#points = [];
    this.#points.push(point);
    if (this.#points.length > 2 * this.#horizon + 2) {
      this.#points = this.#points.slice(this.#oldestIndex());
    }
  }

  forgetAfter(toSeq: number): void {
    // Points beyond the horizon stay out, though fewer blocks are left: their images are gone.
    this.#points = this.#points.slice(this.#oldestIndex()).filter((point) => point.seq <= toSeq);
  }

  /**
   * Values after entry `toSeq` of the rows that later entries changed, each row once, in the order
   * of the first change; then bars. Nothing may wait to be written.
   */
  imagesAfter(toSeq: number): RowImage[] {
    const images = new Map<string, RowImage>();
    const commits: UndoneCommit[] = [];
    for (const stored of this.#from.all(toSeq)) {
      const texts = recordsOf(unpacked(stored.records));
      const records = texts.map(decodeRecord);
      for (const [at, { seq, trades }] of records.entries()) {
        if (seq <= toSeq) continue;
        takeImages(texts[at] ?? '', images);
        for (const { pair, trade } of trades) {
          const key = tradeKey(pair, trade.id);
          images.set(`trade_ids\t${key}`, { table: 'trade_ids', key, value: null });
        }
      }
      commits.push({ records, bars: barsBefore(unpacked(stored.bars)) });
    }
    return [...images.values(), ...imagesOfBars(toSeq, commits)];
  }

  /** Undoing `horizon` blocks ends at the point before them: one point more than blocks. */
  #oldestIndex(): number {
    return Math.max(0, this.#points.length - this.#horizon - 1);
  }
}

export function undoWrites(database: Database) {
  const insert = database.prepare<[number, number, Uint8Array, Uint8Array]>(
    'INSERT INTO undo (to_seq, horizon_seq, records, bars) VALUES (?, ?, ?, ?)',
  );
  const after = database.prepare<[number], StoredUndo>(
    `SELECT horizon_seq AS horizonSeq, records, bars FROM undo WHERE to_seq > ? ORDER BY to_seq`,
  );
  const removeAfter = database.prepare<[number]>('DELETE FROM undo WHERE to_seq > ?');
  const removeBefore = database.prepare<[number]>('DELETE FROM undo WHERE to_seq < ?');

  function put(records: string, bars: string, horizonSeq: number): void {
    if (records === '') return;
    const last = records.slice(records.lastIndexOf(RECORD_END, records.length - 2) + 1);
    insert.run(readHeader(last).seq, horizonSeq, packed(records), packed(bars));
  }

  return {
    /** `bars`: their values before the commit, lines of key and value. */
    put,
    dropAfter(toSeq: number): void {
      const [cut] = after.all(toSeq);
      removeAfter.run(toSeq);
      if (cut === undefined) return;
      const kept = recordsOf(unpacked(cut.records)).filter(
        (record) => readHeader(record).seq <= toSeq,
      );
      const records = kept.map((record) => `${record}${RECORD_END}`).join('');
      put(records, unpacked(cut.bars), cut.horizonSeq);
    },
    /** Only whole commits: a commit that reaches over the horizon is needed whole. */
    dropBefore: (seq: number): void => {
      removeBefore.run(seq);
    },
  };
}

/** A higher level takes more time and a twelfth less room. */
const FASTEST = { level: 1 };

function packed(text: string): Uint8Array {
  return deflateSync(text, FASTEST);
}

/** Throws `SyntaxError` where the bytes are not as they were written: the row is damaged. */
function unpacked(bytes: Uint8Array): string {
  try {
    return inflateSync(bytes).toString();
  } catch (error) {
    throw new SyntaxError('a record to undo a commit by is compressed text', { cause: error });
  }
}

const RECORD_END = '\u0002';
const TRADE = '+';

/**
 * A line `seq, block, atMs, marketMs, seenMs`, lines `table, key, value` and lines of trades. An
 * entry beyond the horizon needs no images.
 */
export function encodeRecord(effects: EntryEffects, horizonSeq: number): string {
  const { seq, block, atMs, marketMs, seenMs, changes, trades: counted } = effects;
  let text = `${seq}\t${block ? 1 : 0}\t${atMs}\t${marketMs}\t${seenMs}\n`;
  if (seq > horizonSeq) {
    for (const { table, key, before } of changes) {
      if (!KEPT_TABLES.has(table))
        text += `${table}\t${key}\t${before === null ? '' : textOf(before)}\n`;
    }
  }
  const { pairs, trades } = counted;
  for (let at = 0; at < trades.length; at += 1) {
    const trade = trades[at];
    if (trade === undefined) break;
    const { id, baseAmount, quoteAmount, step } = trade;
    text += `${TRADE}\t${pairs[at]}\t${id}\t${baseAmount}\t${quoteAmount}\t${stepText(step)}\n`;
  }
  return `${text}${RECORD_END}`;
}

export function recordsOf(text: string): string[] {
  const records = text.split(RECORD_END);
  records.pop();
  return records;
}

/** Throws `SyntaxError`, as JSON and BigInt do: the row is damaged. */
export function decodeRecord(text: string): UndoRecord {
  const header = readHeader(text);
  const trades: PairTrade[] = [];
  // They are its last lines, and tables do not begin with their mark.
  for (let at = text.indexOf(`\n${TRADE}`) + 1; at > 0; ) {
    const end = text.indexOf('\n', at);
    trades.push(readTrade(text.slice(at, end), header.atMs));
    at = text.startsWith(TRADE, end + 1) ? end + 1 : 0;
  }
  return { ...header, trades };
}

/**
 * Values of keyed rows before the entry, in the order of its changes, by table and key with a tab
 * between. A row that is already in `images` keeps its value.
 */
export function takeImages(record: string, images: Map<string, RowImage>): void {
  let at = record.indexOf('\n') + 1;
  while (at < record.length && !record.startsWith(TRADE, at)) {
    const afterTable = record.indexOf('\t', at);
    const afterKey = record.indexOf('\t', afterTable + 1);
    const end = record.indexOf('\n', afterKey);
    const name = record.slice(at, afterKey);
    if (!images.has(name)) {
      // trust: our own record, written by encodeRecord
      const table = record.slice(at, afterTable) as TableName;
      const value = end === afterKey + 1 ? null : record.slice(afterKey + 1, end);
      images.set(name, { table, key: record.slice(afterTable + 1, afterKey), value });
    }
    at = end + 1;
  }
}

function readHeader(record: string): Point & { readonly block: boolean } {
  const end = record.indexOf('\n');
  const numbers = record.slice(0, end).split('\t').map(Number);
  const [seq, block, atMs, marketMs, seenMs] = numbers;
  if (seenMs === undefined || !numbers.every(Number.isSafeInteger))
    throw new SyntaxError('a record to undo an entry by begins with the numbers of the entry');
  const point = { seq: seq ?? 0, atMs: atMs ?? 0, marketMs: marketMs ?? 0, seenMs };
  return { ...point, block: block === 1 };
}

function readTrade(line: string, timeMs: number): PairTrade {
  const [, pair, id = '', base = '', quote = '', isBuy = '', ...spots] = line.split('\t');
  const trade = { id, timeMs, baseAmount: BigInt(base), quoteAmount: BigInt(quote) };
  const step = readStep(isBuy, spots);
  return { pair: Number(pair), trade: step === null ? trade : { ...trade, step } };
}

function stepText(step: PoolStep | undefined): string {
  if (step === undefined) return '';
  const { isBuy, before, after } = step;
  const spots = `${before.numerator}\t${before.denominator}\t${after.numerator}`;
  return `${isBuy ? 1 : 0}\t${spots}\t${after.denominator}`;
}

function readStep(isBuy: string, spots: readonly string[]): PoolStep | null {
  if (isBuy === '') return null;
  const [numerator = 0n, denominator = 0n, toNumerator = 0n, toDenominator = 0n] =
    spots.map(BigInt);
  return {
    isBuy: isBuy === '1',
    before: { numerator, denominator },
    after: { numerator: toNumerator, denominator: toDenominator },
  };
}

/** By key; null: not there. */
function barsBefore(text: string): Map<string, string | null> {
  const bars = new Map<string, string | null>();
  for (const line of text.split('\n').slice(0, -1)) {
    const tab = line.indexOf('\t');
    bars.set(line.slice(0, tab), line.slice(tab + 1) || null);
  }
  return bars;
}
