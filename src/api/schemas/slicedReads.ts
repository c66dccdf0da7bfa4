/**
 * Answers that read much, made a few milliseconds at a time out of one state: rows are held as they
 * were when the request came, which is the position that the answer carries.
 */
import type { Fold } from '../../engine/fold/fold.ts';
import type { MempoolIndex } from '../../engine/fold/mempoolRows.ts';
import { type Failure, notReady } from '../../engine/runtime/errors.ts';
import type { HeldRows, KeyedRow } from '../../engine/store/keyedRows.ts';
import type { KeyedTable } from '../../engine/store/rows.ts';
import { type Answer, SlicedAnswer } from '../gateway/port.ts';

/** One state of a node. Read other parts of the node before the first `yield`. */
export interface HeldState {
  readonly rows: HeldRows['rows'];
  readonly pending: Pick<MempoolIndex, 'pendingEnd' | 'part'>;
}

/** Yields wherever it may pause. */
export type Steps<T> = Generator<void, T>;

/** Each keeps rows that change meanwhile. */
const MAX_RUNNING = 8;

export class SlicedReads {
  readonly #node: { readonly fold: Fold };
  #running = 0;

  constructor(node: { readonly fold: Fold }) {
    this.#node = node;
  }

  /** Makes an answer of the state at its beginning; a few are made at the same time. */
  answer(make: (state: HeldState) => Steps<Answer | Failure>): SlicedAnswer {
    let read: HeldRead | null = null;
    const release = () => {
      if (read === null || read.isReleased) return;
      read.release();
      this.#running -= 1;
    };
    const step = (isOver: () => boolean) => {
      if (read === null) {
        if (this.#running >= MAX_RUNNING) return null;
        this.#running += 1;
        read = new HeldRead(this.#node, make);
      }
      try {
        const answer = read.step(isOver);
        if (answer === null) return null;
        release();
        return answer;
      } catch (error) {
        release();
        throw error;
      }
    };
    return new SlicedAnswer(step, { isHeld: () => read !== null, release });
  }
}

class HeldRead {
  isReleased = false;
  readonly #node: { readonly fold: Fold };
  readonly #fold: Fold;
  readonly #work: Steps<Answer | Failure>;
  readonly #rows: HeldRows;
  #pending: HeldState['pending'];
  #isPendingHeld = false;

  constructor(node: { readonly fold: Fold }, make: (state: HeldState) => Steps<Answer | Failure>) {
    this.#node = node;
    this.#fold = node.fold;
    this.#pending = node.fold.mempool;
    this.#rows = node.fold.store.snapshot();
    const end: MempoolIndex['pendingEnd'] = (ref) => this.#pending.pendingEnd(ref);
    const part: MempoolIndex['part'] = (ref) => this.#pending.part(ref);
    this.#work = make({ rows: this.#rows.rows, pending: { pendingEnd: end, part } });
  }

  step(isOver: () => boolean): Answer | Failure | null {
    if (this.#node.fold !== this.#fold) return replaced();
    const answer = this.#fold.store.atOnce(() => {
      for (;;) {
        const step = this.#work.next();
        if (step.done === true) return step.value;
        if (isOver()) return null;
      }
    });
    if (answer === null && !this.#isPendingHeld) {
      // Most answers take one slice: they need no copy.
      this.#pending = this.#fold.mempool.snapshot();
      this.#isPendingHeld = true;
    }
    return answer;
  }

  release(): void {
    this.isReleased = true;
    this.#rows.release();
  }
}

const ROWS_A_STEP = 100;

/** Rows whose key begins with `prefix`, ascending. */
export function* eachUnder(
  rows: HeldState['rows'],
  table: KeyedTable,
  { prefix, most }: { readonly prefix: string; readonly most: number },
  take: (row: KeyedRow) => void,
): Steps<void> {
  let after: { readonly after?: string } = {};
  for (let left = most; left > 0; left -= ROWS_A_STEP) {
    const limit = Math.min(ROWS_A_STEP, left);
    const query = { order: 'ascending', offset: 0, limit, ...after } as const;
    const page = rows.pages(table)(prefix, query);
    for (const row of page) {
      take(row);
      yield;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    after = { after: last.key };
  }
}

function replaced(): Failure {
  const message = 'the state of this node was replaced while the answer was made: ask again';
  return notReady(message);
}
