/**
 * Answers as bytes, for what many ask alike: each is kept until something in its stream is touched,
 * wherever the log has got to meanwhile.
 */
import type { Fold } from '../../engine/fold/fold.ts';
import { VersionedCache } from '../../engine/runtime/versionedCache.ts';
import type { StateStore } from '../../engine/store/state.ts';

const CACHE_BYTES = 32 * 1024 * 1024;

export class PageCache {
  readonly #node: { readonly fold: Fold };
  /** The store of the epoch; a new one has another. */
  #store: StateStore | null = null;
  /** At the seq up to which nothing in the scope was touched. */
  readonly #kept = new VersionedCache<string, Uint8Array, number>({
    maxSize: CACHE_BYTES,
    // An entry has a size beside its body: many may hold next to nothing.
    sizeCalculation: ({ value }, name) => value.length + 2 * name.length + 200,
  });

  constructor(node: { readonly fold: Fold }) {
    this.#node = node;
  }

  /** `scope` as it is touched (store/changeIndex); `page` names an answer within it. */
  of(scope: string, page: string, render: () => Uint8Array): Uint8Array {
    const { store } = this.#node.fold;
    if (store !== this.#store) this.#kept.clear();
    this.#store = store;
    const applied = store.checkpoint?.seq ?? 0;
    return this.#kept.of(`${scope} ${page}`, applied, render, (seq) => {
      if (seq === applied) return true;
      // Changes are known only back to the horizon.
      return seq >= store.horizonSeq && store.changedSince(scope, seq, 1).length === 0;
    });
  }
}
