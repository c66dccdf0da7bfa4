/**
 * The first page of a token's orders as bytes: what every visitor of a token loads. It is kept
 * until an order of the token changes, wherever the log has got to meanwhile.
 */
import { LRUCache } from 'lru-cache';
import { ordersTag } from '../../actors/streamTags.ts';
import type { Answer } from '../../gateway/port.ts';
import type { AssetId } from '../../market/asset.ts';
import type { StateStore } from '../../store/state.ts';
import type { OrderNode } from './market.ts';

const CACHE_BYTES = 32 * 1024 * 1024;

interface Kept {
  /** No order changed after it, up to `seq`. */
  seq: number;
  readonly answer: Answer & { readonly body: Uint8Array };
}

export class FeedPages {
  readonly #node: OrderNode;
  /** Of the epoch; a new one has another. */
  #store: StateStore | null = null;
  readonly #kept = new LRUCache<AssetId, Kept>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ answer }) => answer.body.length + 1,
  });

  constructor(node: OrderNode) {
    this.#node = node;
  }

  of(token: AssetId, render: () => Uint8Array): Answer {
    const { store } = this.#node.fold;
    if (store !== this.#store) this.#kept.clear();
    this.#store = store;
    const applied = store.checkpoint?.seq ?? 0;
    const kept = this.#kept.get(token);
    if (kept !== undefined && isCurrent(store, kept, token, applied)) {
      kept.seq = applied;
      return kept.answer;
    }
    const answer = { body: render() };
    this.#kept.set(token, { seq: applied, answer });
    return answer;
  }
}

function isCurrent(store: StateStore, { seq }: Kept, token: AssetId, applied: number): boolean {
  if (seq === applied) return true;
  // What changed is told back to the horizon only.
  return seq >= store.horizonSeq && store.touchedSince(ordersTag(token), seq, 1).length === 0;
}
