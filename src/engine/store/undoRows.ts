/**
 * The undo record: before-images of every entry of the last `horizon` blocks, and with them the
 * points a rollback can go back to. Points are kept in memory too, oldest first.
 */
import { type BarChange, barText } from './barRows.ts';
import type { Database } from './database.ts';
import { KEPT_TABLES, type RowChange, type RowImage, type TableName } from './rows.ts';

/** State after entry `seq`; `atMs` is the moment of its trades. */
export interface Point {
  readonly seq: number;
  readonly atMs: number;
  /** Market time after it. */
  readonly marketMs: number;
}

export class UndoPoints {
  readonly #horizon: number;
  readonly #after;
  #points: Point[];

  constructor(database: Database, horizon: number) {
    this.#horizon = horizon;
    this.#after = database.prepare<[number], { images: string }>(
      'SELECT images FROM undo WHERE seq > ? ORDER BY seq DESC',
    );
    this.#points = database
      .prepare<[], Point>(
        'SELECT seq, at_ms AS atMs, market_ms AS marketMs FROM undo WHERE block = 1 ORDER BY seq',
      )
      .all();
  }

  /** The oldest seq a rollback can still go back to, and `since` can still be answered from. */
  get horizonSeq(): number {
    return this.#points[this.#oldestIndex()]?.seq ?? 0;
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

  add(point: Point): void {
    this.#points.push(point);
    if (this.#points.length > 2 * this.#horizon + 2) {
      this.#points = this.#points.slice(this.#oldestIndex());
    }
  }

  forgetAfter(toSeq: number): void {
    // What fell out of the horizon stays out, though fewer blocks are left: its images are gone.
    this.#points = this.#points.slice(this.#oldestIndex()).filter((point) => point.seq <= toSeq);
  }

  /** Images of all entries after `toSeq`, newest first. Nothing may wait to be written. */
  imagesAfter(toSeq: number): RowImage[] {
    return this.#after.all(toSeq).flatMap((row) => decodeImages(row.images).reverse());
  }

  /** Undoing `horizon` blocks ends at the point before them: one point more than blocks. */
  #oldestIndex(): number {
    return Math.max(0, this.#points.length - this.#horizon - 1);
  }
}

export function undoWrites(database: Database) {
  const insert = database.prepare<[number, number, number, number, string]>(
    'INSERT INTO undo (seq, block, at_ms, market_ms, images) VALUES (?, ?, ?, ?, ?)',
  );
  const dropAfter = database.prepare<[number]>('DELETE FROM undo WHERE seq > ?');
  const dropBefore = database.prepare<[number]>('DELETE FROM undo WHERE seq < ?');
  return {
    insert: (point: Point, block: boolean, images: string): void => {
      insert.run(point.seq, block ? 1 : 0, point.atMs, point.marketMs, images);
    },
    dropAfter: (seq: number): void => {
      dropAfter.run(seq);
    },
    dropBefore: (seq: number): void => {
      dropBefore.run(seq);
    },
  };
}

/** An entry's before-images: what its rows were, of those that a rollback undoes. */
export function encodeImages(changes: readonly RowChange[], bars: readonly BarChange[]): string {
  let text = '';
  for (const { table, key, before } of changes) {
    if (!KEPT_TABLES.has(table)) text += `${table}\t${key}\t${before ?? ''}\n`;
  }
  for (const { place, before } of bars) text += `bars\t${place.key}\t${barText(before) ?? ''}\n`;
  return text;
}

export function decodeImages(text: string): RowImage[] {
  const lines = text.split('\n');
  lines.pop();
  return lines.map((line) => {
    const afterTable = line.indexOf('\t');
    const afterKey = line.indexOf('\t', afterTable + 1);
    const value = line.slice(afterKey + 1);
    // trust: our own undo record, written by encodeImages
    const table = line.slice(0, afterTable) as TableName;
    return { table, key: line.slice(afterTable + 1, afterKey), value: value === '' ? null : value };
  });
}
