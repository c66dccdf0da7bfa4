/**
 * Pages far down in long lists of orders. The database would count every row above a page each
 * time; this remembers places where it has counted, by how many older orders there are: new orders
 * come above them.
 *
 * Assumes: orders join these lists in the order of the chain, and leave them by a rollback only.
 *          So not for lists of open orders.
 */
import { LRUCache } from 'lru-cache';
import type { KeyedRow } from '../../engine/store/keyedRows.ts';
import type { StateStore } from '../../engine/store/state.ts';

interface Mark {
  readonly key: string;
  /** Number of the list's orders that are older than the order with this key. */
  readonly older: number;
}

const MAX_LISTS = 1_000;
const MAX_MARKS = 512;
/** Walking over this many rows is cheaper than remembering another mark. */
const NEAR = 256;

export class ListMarks {
  readonly #store: StateStore;
  /** Marks of each list, the oldest first. */
  readonly #lists = new LRUCache<string, Mark[]>({ max: MAX_LISTS });
  #undoneSeq = 0;

  constructor(store: StateStore) {
    this.#store = store;
  }

  /** Rows of a list with `count` orders, newest first. */
  page(list: string, count: number, offset: number, limit: number): KeyedRow[] {
    if (this.#store.undoneSeq !== this.#undoneSeq) this.#lists.clear();
    this.#undoneSeq = this.#store.undoneSeq;
    const older = count - 1 - offset;
    const marks = this.#lists.get(list) ?? [];
    const next = marks.findIndex((mark) => mark.older > older);
    const above = marks[next];
    const skipped = above === undefined ? offset : above.older - 1 - older;
    const after = above === undefined ? {} : { after: above.key };
    const range = { order: 'descending', offset: skipped, limit, ...after } as const;
    const rows = this.#store.page('order_index', `${list}/`, range);
    const [first] = rows;
    if (first !== undefined && skipped > NEAR && marks.length < MAX_MARKS) {
      marks.splice(next < 0 ? marks.length : next, 0, { key: first.key, older });
      this.#lists.set(list, marks);
    }
    return rows;
  }
}
