/**
 * One page of several lists together, newest first. Every list is a range of keys that end with the
 * order's place in the chain; the one with the newest order left goes next.
 */
import sortedBtree from 'sorted-btree';
import type { RefText } from '../../engine/market/events.ts';
import type { KeyedRow } from '../../engine/store/keyedRows.ts';
import type { StateStore } from '../../engine/store/state.ts';

export interface ListPage {
  readonly offset: number;
  readonly limit: number;
  /** Only what lies before this place in the chain. */
  readonly before?: string;
}

/** Of each list at first: a page of many lists needs few of each. Then more and more. */
const FIRST_CHUNK = 8;
const MOST_CHUNK = 512;

type Read = ReturnType<StateStore['pages']>;

export function walkLists(
  store: StateStore,
  lists: readonly string[],
  { offset, limit, before }: ListPage,
): RefText[] {
  const [only] = lists;
  if (only === undefined) return [];
  if (lists.length === 1) {
    const after = before === undefined ? {} : { after: `${only}/${before}` };
    const page = { order: 'descending', offset, limit, ...after } as const;
    return store.page('order_index', `${only}/`, page).map(({ value }) => value);
  }
  const heads = new sortedBtree.default<string, Walk>();
  const enter = (walk: Walk) => {
    const place = walk.place();
    if (place !== null) heads.set(place, walk);
  };
  const read = store.pages('order_index');
  for (const list of lists) enter(new Walk(read, list, before));
  const refs: RefText[] = [];
  for (let index = 0; index < offset + limit; index += 1) {
    const place = heads.maxKey();
    const walk = place === undefined ? undefined : heads.get(place);
    if (place === undefined || walk === undefined) break;
    heads.delete(place);
    const ref = walk.take();
    if (index >= offset) refs.push(ref);
    enter(walk);
  }
  return refs;
}

/** A list, from its newest order on. */
class Walk {
  readonly #readPage: Read;
  readonly #prefix: string;
  #rows: readonly KeyedRow[] = [];
  #next = 0;
  #after: string | undefined;
  #hasMore = true;
  #chunk = FIRST_CHUNK;

  constructor(read: Read, list: string, before: string | undefined) {
    this.#readPage = read;
    this.#prefix = `${list}/`;
    this.#after = before === undefined ? undefined : `${this.#prefix}${before}`;
  }

  /** Of the order that comes next; null at the end. */
  place(): string | null {
    if (this.#next >= this.#rows.length && this.#hasMore) this.#read();
    return this.#rows[this.#next]?.key.slice(this.#prefix.length) ?? null;
  }

  take(): RefText {
    const ref = this.#rows[this.#next]?.value ?? '';
    this.#next += 1;
    return ref;
  }

  #read(): void {
    const after = this.#after === undefined ? {} : { after: this.#after };
    const limit = this.#chunk;
    const page = { order: 'descending', offset: 0, limit, ...after } as const;
    this.#rows = this.#readPage(this.#prefix, page);
    this.#next = 0;
    this.#after = this.#rows.at(-1)?.key;
    this.#hasMore = this.#rows.length === limit;
    this.#chunk = Math.min(2 * limit, MOST_CHUNK);
  }
}
