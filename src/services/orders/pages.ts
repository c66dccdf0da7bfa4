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
  /** A new epoch has another one. */
  readonly store: StateStore;
  /** No order changed after it, up to `seq`. */
  seq: number;
  readonly answer: Answer & { readonly body: Uint8Array };
}

export class FeedPages {
  readonly #node: OrderNode;
  readonly #kept = new LRUCache<AssetId, Kept>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ answer }) => answer.body.length + 1,
  });

  constructor(node: OrderNode) {
    this.#node = node;
  }

  of(token: AssetId, render: () => Uint8Array): Answer {
    const { store } = this.#node.fold;
    const applied = store.checkpoint?.seq ?? 0;
    const kept = this.#kept.get(token);
    if (kept?.store === store && isCurrent(kept, token, applied)) {
      kept.seq = applied;
      return kept.answer;
    }
    const answer = { body: render() };
    this.#kept.set(token, { store, seq: applied, answer });
    return answer;
  }
}

function isCurrent({ store, seq }: Kept, token: AssetId, applied: number): boolean {
  if (seq === applied) return true;
  // What changed is told back to the horizon only.
  return seq >= store.horizonSeq && store.touchedSince(ordersTag(token), seq, 1).length === 0;
}
