/**
 * Answers that read much, made a few milliseconds at a time out of one state: rows are held as they
 * were when the request came, which is the position that the answer carries.
 */
import type { Fold } from '../../engine/actors/fold.ts';
import type { MempoolIndex } from '../../engine/actors/mempoolRows.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { inSlices, sliceOf } from '../../engine/runtime/slices.ts';
import type { HeldRows, KeyedRow } from '../../engine/store/keyedRows.ts';
import type { KeyedTable } from '../../engine/store/rows.ts';
import { AGAIN, type Answer, type Handled } from '../gateway/port.ts';

/** One state of a node. What else is read of the node must be read before the first `yield`. */
export interface HeldState {
  readonly rows: HeldRows['rows'];
  readonly pending: Pick<MempoolIndex, 'end' | 'part'>;
}

/** Yields wherever it may pause. */
export type Steps<T> = Generator<void, T>;

/** Each keeps rows that change meanwhile. */
const MOST_WAITING = 8;

export class SlicedReads {
  readonly #node: { readonly fold: Fold };
  readonly #clock: Clock;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(node: { readonly fold: Fold }, clock: Clock) {
    this.#node = node;
    this.#clock = clock;
  }

  /** What takes one slice is answered at once; the rest one after the other. */
  answer(make: (state: HeldState) => Steps<Answer | Failure>): Handled | Promise<Answer | Failure> {
    if (this.#waiting >= MOST_WAITING) return AGAIN;
    const { fold } = this.#node;
    const { rows, release } = fold.store.hold();
    let pending: HeldState['pending'] = fold.mempool;
    const end: MempoolIndex['end'] = (ref) => pending.end(ref);
    const part: MempoolIndex['part'] = (ref) => pending.part(ref);
    const work = make({ rows, pending: { end, part } });
    let answer: Answer | Failure | null = null;
    const run = (isOver: () => boolean) =>
      fold.store.atOnce(() => {
        while (answer === null) {
          const step = work.next();
          if (step.done === true) answer = step.value;
          else if (isOver()) break;
        }
        return answer !== null;
      });
    let isWaiting = false;
    try {
      if (run(sliceOf(this.#clock)) && answer !== null) return answer;
      // Most answers take one slice: they need no copy.
      pending = fold.mempool.hold();
      isWaiting = true;
    } finally {
      if (!isWaiting) release();
    }
    this.#waiting += 1;
    const isReplaced = () => this.#node.fold !== fold;
    const rest = this.#last
      .then(() =>
        inSlices(
          this.#clock,
          (isOver) => isReplaced() || run(isOver),
          () => false,
        ),
      )
      .then(() => answer ?? replaced())
      .finally(() => {
        release();
        this.#waiting -= 1;
      });
    this.#last = rest.catch(() => null);
    return rest;
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
  return new Failure('NOT_READY', message, { retryAfterSeconds: 1 });
}
