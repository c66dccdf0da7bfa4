/**
 * The undo record: before-images of every entry of the last `horizon` blocks, and with them the
 * points a rollback can go back to. Points are also kept in memory, oldest first.
 */
import type { Database } from './database.ts';
import { decodeImages, encodeImages, type RowChange, type RowImage } from './rows.ts';

/** State after entry `seq`; `atMs` is the moment of its trades. */
export interface Point {
  readonly seq: number;
  readonly atMs: number;
}

interface PendingUndo {
  readonly seq: number;
  readonly block: boolean;
  readonly atMs: number;
  readonly changes: readonly RowChange[];
}

export class UndoRows {
  readonly #horizon: number;
  readonly #insert;
  readonly #after;
  readonly #dropAfter;
  readonly #dropUpTo;
  #points: Point[];
  #pending: PendingUndo[] = [];

  constructor(database: Database, horizon: number) {
    this.#horizon = horizon;
    this.#insert = database.prepare<[number, number, number, string]>(
      'INSERT INTO undo (seq, block, at_ms, images) VALUES (?, ?, ?, ?)',
    );
    this.#after = database.prepare<[number], { images: string }>(
      'SELECT images FROM undo WHERE seq > ? ORDER BY seq DESC',
    );
    this.#dropAfter = database.prepare<[number]>('DELETE FROM undo WHERE seq > ?');
    this.#dropUpTo = database.prepare<[number]>('DELETE FROM undo WHERE seq <= ?');
    this.#points = database
      .prepare<[], { seq: number; atMs: number }>(
        'SELECT seq, at_ms AS atMs FROM undo WHERE block = 1 ORDER BY seq',
      )
      .all();
  }

  /** The oldest seq a rollback can still go back to, and `since` can still be answered from. */
  get horizonSeq(): number {
    return this.#points[this.#oldestIndex()]?.seq ?? 0;
  }

  get newestPoint(): Point | null {
    return this.#points[this.#points.length - 1] ?? null;
  }

  /** The newest point at or before a moment; null when it lies beyond the horizon. */
  pointAtOrBefore(atMs: number): Point | null {
    for (let index = this.#points.length - 1; index >= this.#oldestIndex(); index -= 1) {
      const point = this.#points[index];
      if (point !== undefined && point.atMs <= atMs) return point;
    }
    return null;
  }

  record(seq: number, block: boolean, atMs: number, changes: readonly RowChange[]): void {
    this.#pending.push({ seq, block, atMs, changes });
    if (!block) return;
    this.#points.push({ seq, atMs });
    if (this.#points.length > 2 * this.#horizon + 2) {
      this.#points = this.#points.slice(this.#oldestIndex());
    }
  }

  /** Images of all entries after `toSeq`, newest first. Nothing may be pending. */
  imagesAfter(toSeq: number): RowImage[] {
    return this.#after.all(toSeq).flatMap((row) => decodeImages(row.images).reverse());
  }

  forgetPointsAfter(toSeq: number): void {
    this.#points = this.#points.filter((point) => point.seq <= toSeq);
  }

  /** Inside the commit: what is beyond the horizon already is never written at all. */
  write(undoneTo: number | null): void {
    if (undoneTo !== null) this.#dropAfter.run(undoneTo);
    const oldest = this.horizonSeq;
    // The oldest point keeps its row, for its moment; its images are not needed to get back to it.
    this.#dropUpTo.run(oldest - 1);
    for (const { seq, block, atMs, changes } of this.#pending) {
      if (seq < oldest) continue;
      this.#insert.run(seq, block ? 1 : 0, atMs, seq === oldest ? '' : encodeImages(changes));
    }
  }

  written(): void {
    this.#pending = [];
  }

  /** Undoing `horizon` blocks ends at the point before them: one point more than blocks. */
  #oldestIndex(): number {
    return Math.max(0, this.#points.length - this.#horizon - 1);
  }
}
