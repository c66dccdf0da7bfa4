/**
 * Which parts of a stream changed, and when: one row for each part of a scope, with the seq of its
 * last change. A part that vanished keeps its row, so `since` can report it; rows beyond the
 * horizon are forgotten.
 *
 * Never: undone. A rollback records a change for each row that it restores.
 */
import type { Database } from './database.ts';

/** `ref` of `scope` changed. */
export interface StreamChange {
  /** A stream's tag, for example all orders of a token. */
  readonly scope: string;
  readonly ref: string;
  /** Data about a part that must survive its removal; free of control characters. */
  readonly about: string;
  /** By a rollback. */
  readonly undone: boolean;
}

export interface IndexedChange extends Omit<StreamChange, 'undone'> {
  readonly seq: number;
  /** Seq of the last rollback that changed it; 0: none did. */
  readonly undoneSeq: number;
}

export class PendingChangeIndex {
  readonly #scopes = new Map<string, Map<string, IndexedChange>>();

  put(change: IndexedChange): void {
    let refs = this.#scopes.get(change.scope);
    if (refs === undefined) {
      refs = new Map();
      this.#scopes.set(change.scope, refs);
    }
    refs.set(change.ref, newer(refs.get(change.ref), change));
  }

  count(scope: string): number {
    return this.#scopes.get(scope)?.size ?? 0;
  }

  /** Changes of `scope` after `seq`, by ref. */
  overlay(
    scope: string,
    seq: number,
    below: ReadonlyMap<string, IndexedChange>,
  ): Map<string, IndexedChange> {
    const changes = new Map(below);
    for (const [ref, change] of this.#scopes.get(scope) ?? []) {
      if (change.seq > seq) changes.set(ref, newer(changes.get(ref), change));
    }
    return changes;
  }

  *all(): Iterable<IndexedChange> {
    for (const refs of this.#scopes.values()) yield* refs.values();
  }
}

function newer(older: IndexedChange | undefined, change: IndexedChange): IndexedChange {
  if (older === undefined || older.undoneSeq <= change.undoneSeq) return change;
  return { ...change, undoneSeq: older.undoneSeq };
}

export function changeIndexReads(database: Database) {
  const since = database.prepare<[string, number, number], IndexedChange>(
    `SELECT scope, ref, seq, undone_seq AS undoneSeq, about FROM change_index
     WHERE scope = ? AND seq > ? ORDER BY seq, ref LIMIT +?`,
  );
  return {
    since: (scope: string, seq: number, limit: number): IndexedChange[] =>
      since.all(scope, seq, limit),
  };
}

export function changeIndexWrites(database: Database) {
  const upsert = database.prepare<[string, string, number, number, string]>(
    `INSERT INTO change_index (scope, ref, seq, undone_seq, about) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET seq = excluded.seq, about = excluded.about,
     undone_seq = max(undone_seq, excluded.undone_seq)`,
  );
  const prune = database.prepare<[number]>('DELETE FROM change_index WHERE seq <= ?');
  return {
    put: ({ scope, ref, seq, undoneSeq, about }: IndexedChange): void => {
      upsert.run(scope, ref, seq, undoneSeq, about);
    },
    /** No query reads from before the horizon. */
    prune: (horizonSeq: number): void => {
      prune.run(horizonSeq);
    },
  };
}

/** Changes in one answer, more only where one entry has more. */
const MAX_CHANGES = 500;

/**
 * A page of what changed, of whole entries only: `completeTo` is the last entry that is in it,
 * or `applied` when there is no more. `read` gives the oldest ones, at most `limit`.
 */
export function changePage(
  applied: number,
  read: (limit: number) => readonly IndexedChange[],
): { readonly changes: readonly IndexedChange[]; readonly completeTo: number } {
  const changes = read(MAX_CHANGES + 1);
  const beyond = changes[MAX_CHANGES];
  if (beyond === undefined) return { changes, completeTo: applied };
  const whole = changes.filter(({ seq }) => seq < beyond.seq);
  if (whole.length > 0) return { changes: whole, completeTo: beyond.seq - 1 };
  return { changes: ofEntry(beyond.seq, read), completeTo: beyond.seq };
}

/** All changes of the oldest entry; later changes may be far more. */
function ofEntry(
  entry: number,
  read: (limit: number) => readonly IndexedChange[],
): readonly IndexedChange[] {
  for (let limit = 2 * MAX_CHANGES; ; limit *= 2) {
    const changes = read(limit);
    const isWhole = changes.length < limit || changes.at(-1)?.seq !== entry;
    if (isWhole) return changes.filter(({ seq }) => seq === entry);
  }
}
