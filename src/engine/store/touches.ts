/**
 * Which parts of a stream changed, and when: one row for each part of a scope, with the seq of its
 * last change. What vanished keeps its row, so `since` can tell of it; rows beyond the horizon are
 * forgotten.
 *
 * Never: undone. A rollback touches what it puts back.
 */
import type { Database } from './database.ts';

/** `ref` of `scope` changed. */
export interface Touched {
  /** A stream's tag, for example all orders of a token. */
  readonly scope: string;
  readonly ref: string;
  /** What must be known of a part that is gone; free of control characters. */
  readonly about: string;
  /** By a rollback. */
  readonly undone: boolean;
}

export interface Touch extends Omit<Touched, 'undone'> {
  readonly seq: number;
  /** Seq of the last rollback that touched it; 0: none did. */
  readonly undoneSeq: number;
}

export class StagedTouches {
  readonly #scopes = new Map<string, Map<string, Touch>>();

  put(touch: Touch): void {
    let refs = this.#scopes.get(touch.scope);
    if (refs === undefined) {
      refs = new Map();
      this.#scopes.set(touch.scope, refs);
    }
    refs.set(touch.ref, newer(refs.get(touch.ref), touch));
  }

  count(scope: string): number {
    return this.#scopes.get(scope)?.size ?? 0;
  }

  /** Those of `scope` after `seq`, by ref. */
  over(scope: string, seq: number, below: ReadonlyMap<string, Touch>): Map<string, Touch> {
    const touches = new Map(below);
    for (const [ref, touch] of this.#scopes.get(scope) ?? []) {
      if (touch.seq > seq) touches.set(ref, newer(touches.get(ref), touch));
    }
    return touches;
  }

  *all(): Iterable<Touch> {
    for (const refs of this.#scopes.values()) yield* refs.values();
  }
}

function newer(older: Touch | undefined, touch: Touch): Touch {
  if (older === undefined || older.undoneSeq <= touch.undoneSeq) return touch;
  return { ...touch, undoneSeq: older.undoneSeq };
}

export function touchReads(database: Database) {
  const since = database.prepare<[string, number, number], Touch>(
    `SELECT scope, ref, seq, undone_seq AS undoneSeq, about FROM touches
     WHERE scope = ? AND seq > ? ORDER BY seq, ref LIMIT ?`,
  );
  return {
    since: (scope: string, seq: number, limit: number): Touch[] => since.all(scope, seq, limit),
  };
}

export function touchWrites(database: Database) {
  const upsert = database.prepare<[string, string, number, number, string]>(
    `INSERT INTO touches (scope, ref, seq, undone_seq, about) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET seq = excluded.seq, about = excluded.about,
     undone_seq = max(undone_seq, excluded.undone_seq)`,
  );
  const prune = database.prepare<[number]>('DELETE FROM touches WHERE seq <= ?');
  return {
    put: ({ scope, ref, seq, undoneSeq, about }: Touch): void => {
      upsert.run(scope, ref, seq, undoneSeq, about);
    },
    /** Nobody is answered from before the horizon. */
    prune: (horizonSeq: number): void => {
      prune.run(horizonSeq);
    },
  };
}

/** Touches in one answer, more only where one entry has more. */
const MOST = 500;

/**
 * A page of what was touched, of whole entries only: `completeTo` is the last entry that is in it,
 * or `applied` when there is no more. `read` gives the oldest ones, at most `limit`.
 */
export function touchPage(
  applied: number,
  read: (limit: number) => readonly Touch[],
): { readonly touches: readonly Touch[]; readonly completeTo: number } {
  const touches = read(MOST + 1);
  const beyond = touches[MOST];
  if (beyond === undefined) return { touches, completeTo: applied };
  const whole = touches.filter(({ seq }) => seq < beyond.seq);
  if (whole.length > 0) return { touches: whole, completeTo: beyond.seq - 1 };
  return { touches: ofEntry(beyond.seq, read), completeTo: beyond.seq };
}

/** All of the oldest entry; what follows may be far more than that. */
function ofEntry(entry: number, read: (limit: number) => readonly Touch[]): readonly Touch[] {
  for (let limit = 2 * MOST; ; limit *= 2) {
    const touches = read(limit);
    const isWhole = touches.length < limit || touches.at(-1)?.seq !== entry;
    if (isWhole) return touches.filter(({ seq }) => seq === entry);
  }
}
