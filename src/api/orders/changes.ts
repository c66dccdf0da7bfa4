/**
 * Changes of a list of orders. All changes between two positions travel in one frame; after a
 * rollback the frame is `OrdersRevised`, and an ordinary update with the same content follows for
 * clients that do not know this event.
 */

import { undoneSlots } from '../../engine/fold/chainFold.ts';
import { poolTag, readAbout } from '../../engine/fold/streamTags.ts';
import type { OrderView } from '../../engine/market/orderView.ts';
import { finish } from '../../engine/runtime/slices.ts';
import { changePage, type IndexedChange } from '../../engine/store/changeIndex.ts';
import type { Changes, DataOf, Part, Source } from '../topics/port.ts';
import { type FoundOrder, type OrderFilter, type OrderNode, Orders } from './orderLookup.ts';
import type { OrderChanges, OrdersRevised } from './schema.ts';

const FIRST = { offset: 0, limit: 100 };

type ChangesData = DataOf<typeof OrderChanges>;
type OrderPart<Topic extends string> =
  | Part<`${Topic}Update`, ChangesData>
  | Part<'OrdersRevised', DataOf<typeof OrdersRevised>>;

export class OrderSource<Topic extends string> implements Source<ChangesData, OrderPart<Topic>> {
  readonly key: string;
  readonly tags: readonly string[];
  readonly #node: OrderNode;
  readonly #filter: OrderFilter;
  readonly #scope: string;
  readonly #update: `${Topic}Update`;
  readonly #keys: ReadonlySet<string> | null;

  constructor(node: OrderNode, filter: OrderFilter, scope: string, topic: Topic, key: string) {
    this.key = key;
    this.tags = filter.token === null ? [scope] : [scope, poolTag(filter.token)];
    this.#node = node;
    this.#filter = filter;
    this.#scope = scope;
    this.#update = `${topic}Update`;
    this.#keys = filter.pkhs === null ? null : new Set(filter.pkhs);
  }

  snapshot(): ChangesData {
    if (!this.#isKnown()) return null;
    const orders = new Orders(this.#node);
    const { items: ledger, count } = finish(orders.ledger(this.#filter, FIRST));
    return { ledger, mempool: orders.mempool(this.#filter), removed: [], count };
  }

  since(seq: number): Changes<OrderPart<Topic>> | null {
    const { store, directory } = this.#node.fold;
    if (seq < store.horizonSeq) return null;
    const applied = store.checkpoint?.seq ?? 0;
    const { changes, completeTo } = changePage(applied, (limit) =>
      store.changedSince(this.#scope, seq, limit),
    );
    const { token } = this.#filter;
    const isGone = token !== null && directory.mayBeGone(token, seq, applied);
    const gone = { event: this.#update, seq: applied, data: null, isSnapshot: true } as const;
    const empty = isGone && completeTo === applied ? [gone] : [];
    const mine = changes.filter(({ about }) => this.#isMine(about));
    if (mine.length === 0) return { parts: empty, completeTo };
    const data = this.#changes(mine);
    const undoneSeq = Math.max(...mine.map((change) => change.undoneSeq));
    const update = { event: this.#update, seq: completeTo, data };
    if (undoneSeq <= seq) return { parts: [update, ...empty], completeTo };
    const revised = {
      event: 'OrdersRevised',
      seq: completeTo,
      data: { ...data, reason: 'rollback', ...undoneSlots(store, undoneSeq) },
    } as const;
    return { parts: [revised, update, ...empty], completeTo };
  }

  #changes(changes: readonly IndexedChange[]) {
    const orders = new Orders(this.#node);
    const isKnown = this.#isKnown();
    const [onChain, waiting]: [FoundOrder[], FoundOrder[]] = [[], []];
    const removed: string[] = [];
    for (const { ref } of changes) {
      // Without its token an order that waits is shown to its owner only.
      const found = isKnown ? orders.find(ref) : null;
      if (found === null) removed.push(ref);
      else (found.isOnChain ? onChain : waiting).push(found);
    }
    const [ledger, mempool] = [newestFirst(onChain), newestFirst(waiting)];
    return { ledger, mempool, removed, count: orders.count(this.#filter) };
  }

  /** The token that it is about, if it is about one. */
  #isKnown(): boolean {
    const { token } = this.#filter;
    return token === null || this.#node.fold.directory.find(token) !== null;
  }

  #isMine(about: string): boolean {
    const { token, pkh } = readAbout(about);
    const { token: wanted } = this.#filter;
    return (wanted === null || token === wanted) && (this.#keys === null || this.#keys.has(pkh));
  }
}

/** As HTTP lists them. */
function newestFirst(orders: readonly FoundOrder[]): OrderView[] {
  return orders.toSorted((a, b) => (a.place < b.place ? 1 : -1)).map(({ order }) => order);
}
