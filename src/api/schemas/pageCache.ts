/**
 * Answers as bytes, for what many ask alike: each is kept until something in its stream is touched,
 * wherever the log has got to meanwhile.
 */
import { LRUCache } from 'lru-cache';
import type { Fold } from '../../engine/fold/fold.ts';
import type { StateStore } from '../../engine/store/state.ts';

const CACHE_BYTES = 32 * 1024 * 1024;

interface Kept {
  /** Nothing was touched after it, up to `seq`. */
  seq: number;
  readonly body: Uint8Array;
}

export class PageCache {
  readonly #node: { readonly fold: Fold };
  /** Of the epoch; a new one has another. */
  #store: StateStore | null = null;
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: CACHE_BYTES,
    // What an entry takes beside its body counts too: many may hold next to nothing.
    sizeCalculation: ({ body }, name) => body.length + 2 * name.length + 200,
  });

  constructor(node: { readonly fold: Fold }) {
    this.#node = node;
  }

  /** `scope` as it is touched (store/changeIndex); `page` names one of its answers. */
  of(scope: string, page: string, render: () => Uint8Array): Uint8Array {
    const { store } = this.#node.fold;
    if (store !== this.#store) this.#kept.clear();
    this.#store = store;
    const applied = store.checkpoint?.seq ?? 0;
    const name = `${scope} ${page}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined && isCurrent(store, kept, scope, applied)) {
      kept.seq = applied;
      return kept.body;
    }
    const body = render();
    this.#kept.set(name, { seq: applied, body });
    return body;
  }
}

function isCurrent(store: StateStore, { seq }: Kept, scope: string, applied: number): boolean {
  if (seq === applied) return true;
  // Changes are known only back to the horizon.
  return seq >= store.horizonSeq && store.changedSince(scope, seq, 1).length === 0;
}
