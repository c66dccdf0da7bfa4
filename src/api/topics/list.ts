/**
 * A list as a stream: items that changed or are new on it, and the order of the whole list, so that
 * a client that was complete before has every item that the order names.
 *
 * The rows do not show which list a client had at a position, so the last lists that were sent are
 * remembered. For a position without one all items are the answer.
 */
import { crc32 } from 'node:zlib';
import type { AssetId } from '../../engine/market/asset.ts';
import type { Json } from '../../engine/runtime/json.ts';
import type { Part, Source } from './port.ts';

type ListUpdate<Item> = {
  /** Items that changed, in the order of the list. */
  readonly items: Item[];
  readonly order: AssetId[];
  readonly crc32: number;
};

interface LiveList<Event extends string, Item extends Json>
  extends Pick<Source, 'key' | 'tags' | 'weight'> {
  readonly event: Event;
  /** How many lists are remembered; a flush makes one. */
  readonly remembered: number;
  /** Positions of another state say nothing about this one. */
  state(): { readonly store: { readonly horizonSeq: number } };
  appliedSeq(): number;
  /** Whether the list or an item may have changed in (fromSeq, toSeq]; false only if surely not. */
  changedBetween(fromSeq: number, toSeq: number): boolean;
  prepare(isOver: () => boolean): boolean;
  order(): readonly AssetId[];
  /** Its change after `seq`; null: none. With null as `seq` the whole item; null: it is unknown. */
  item(asset: AssetId, seq: number | null): Item | null;
}

interface Given {
  readonly seq: number;
  readonly order: readonly AssetId[];
}

export class ListSource<Event extends string, Item extends Json>
  implements Source<ListUpdate<Item>, Part<Event, ListUpdate<Item>>>
{
  readonly key: string;
  readonly weight: number;
  readonly tags: readonly string[];
  readonly #list: LiveList<Event, Item>;
  /** Oldest first. */
  #given: Given[] = [];
  #state: object | null = null;

  constructor(list: LiveList<Event, Item>) {
    this.key = list.key;
    this.weight = list.weight ?? 1;
    this.tags = list.tags;
    this.#list = list;
  }

  prepare(isOver: () => boolean): boolean {
    return this.#list.prepare(isOver);
  }

  snapshot(): ListUpdate<Item> {
    return this.#update(this.#orderNow(), null, null);
  }

  since(seq: number): readonly Part<Event, ListUpdate<Item>>[] | null {
    const list = this.#list;
    if (seq < list.state().store.horizonSeq) return null;
    const applied = list.appliedSeq();
    if (!list.changedBetween(seq, applied)) return [];
    const order = this.#orderNow();
    const before = this.#orderAt(seq);
    const data = this.#update(order, before, seq);
    if (data.items.length === 0 && before !== null && areSame(before, order)) return [];
    const gone = order.length === 0 ? ({ isSnapshot: true } as const) : {};
    return [{ event: list.event, seq: applied, data, ...gone }];
  }

  /** For a client that had the list `before` at `seq`; null: it has nothing. */
  #update(order: readonly AssetId[], before: readonly AssetId[] | null, seq: number | null) {
    const had = new Set(before);
    const items = order.flatMap((asset) => {
      return this.#list.item(asset, had.has(asset) ? seq : null) ?? [];
    });
    // trust: `flatMap` makes a list flat, and no item is a list
    return { items: items as Item[], order: [...order], crc32: crc32(order.join(',')) };
  }

  /** At the applied position. */
  #orderNow(): readonly AssetId[] {
    const [state, seq] = [this.#list.state(), this.#list.appliedSeq()];
    if (state !== this.#state) this.#given = [];
    this.#state = state;
    const [last, order] = [this.#given.at(-1), this.#list.order()];
    if (last?.seq === seq) this.#given.pop();
    // One list for many positions, where nothing moves on it.
    const kept = last !== undefined && areSame(last.order, order) ? last.order : order;
    this.#given.push({ seq, order: kept });
    if (this.#given.length > this.#list.remembered) this.#given.shift();
    return kept;
  }

  /** null: not known. */
  #orderAt(seq: number): readonly AssetId[] | null {
    const given = this.#given.findLast((each) => each.seq <= seq);
    const isKnown = given !== undefined && !this.#list.changedBetween(given.seq, seq);
    return isKnown ? given.order : null;
  }
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
