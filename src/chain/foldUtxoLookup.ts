/**
 * Looks up market outputs (pools, orders, outputs with launched tokens) without a request: the fold
 * knows which of them are unspent at the served block, followed transactions know their contents.
 * All other outputs come from the index.
 *
 * Caches reference scripts and the server's collateral for a while: ordinary operation does not
 * spend them, and the node refuses a transaction that uses a spent one.
 */
import { LRUCache } from 'lru-cache';
import { type OutputRef, refText, type Utxo } from '../cardano/codec/output.ts';
import type { PartialDeployment } from '../cardano/datums/deployment.ts';
import type { UtxoLookup, UtxoState, UtxoView } from '../cardano/ledger/port.ts';
import type { AssetId } from '../engine/market/asset.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { Failure, Unavailable } from '../engine/runtime/errors.ts';
import type { StateStore } from '../engine/store/state.ts';
import type { MempoolOverlay } from './mempoolOverlay.ts';

interface FoldUtxoLookupDeps {
  /** The index of outputs. */
  readonly index: UtxoLookup;
  readonly store: () => StateStore;
  readonly overlay: MempoolOverlay;
  readonly deployment: Pick<PartialDeployment, 'scripts' | 'collateralKeyHash' | 'settings'> & {
    readonly scripts: { readonly launchPolicy?: { readonly ref: OutputRef } };
  };
  readonly clock: Clock;
}

type PageOf = NonNullable<Parameters<UtxoLookup['byPaymentKey']>[2]>;

const CACHED_MS = 10_000;
const MAX_CONTENTS = 20_000;
/** Builders ask for the first page only. */
const MAX_PAGES = 16;
/** Longest chain of pending transactions that move one asset. */
const MAX_STEPS = 1_000;

interface Cached<T> {
  readonly value: T;
  readonly untilMs: number;
}

export class FoldUtxoLookup implements UtxoLookup {
  readonly #deps: FoldUtxoLookupDeps;
  readonly #scriptRefs: ReadonlySet<string>;
  readonly #scripts = new Map<string, Cached<Utxo>>();
  /** By page, which a caller chooses. */
  readonly #collateral = new LRUCache<string, Cached<readonly Utxo[]>>({ max: MAX_PAGES });
  /** Contents that the index returned; they never change. */
  readonly #contents = new LRUCache<string, Utxo>({ max: MAX_CONTENTS });

  constructor(deps: FoldUtxoLookupDeps) {
    this.#deps = deps;
    const { scripts, settings } = deps.deployment;
    const held = [...Object.values(scripts), settings];
    this.#scriptRefs = new Set(held.flatMap((place) => (place?.ref ? [refText(place.ref)] : [])));
  }

  /** Pages of the collateral that are kept. */
  get keptPages(): number {
    return this.#collateral.size;
  }

  async byPaymentKey(keyHash: string, view: UtxoView, page: PageOf = {}): Promise<readonly Utxo[]> {
    const { index, deployment } = this.#deps;
    const isKept = keyHash === deployment.collateralKeyHash && view === 'spendable';
    if (!isKept) return index.byPaymentKey(keyHash, view, page);
    const key = JSON.stringify(page);
    const kept = this.#fresh(this.#collateral.get(key));
    if (kept !== null) return kept;
    const found = await index.byPaymentKey(keyHash, view, page);
    // An empty answer is not cached: the key may be paid at any moment.
    if (found.length > 0) this.#collateral.set(key, this.#cached(found));
    return found;
  }

  byAsset(asset: AssetId, view: UtxoView): Promise<readonly Utxo[]> {
    return this.#deps.index.byAsset(asset, view);
  }

  async newestOf(ref: OutputRef, asset: AssetId): Promise<Utxo | null> {
    const { index, overlay } = this.#deps;
    const start = this.#unspent(ref) ?? this.#fresh(this.#scripts.get(refText(ref)));
    if (start === null) return this.#kept(await index.newestOf(ref, asset));
    let newest = start;
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const spender = overlay.mempool.spender(newest.ref);
      if (spender === undefined) return newest;
      const made = overlay.mempool.get(spender)?.effects.made ?? [];
      const next = made.find(({ output }) => output.value.assets.has(asset));
      if (next === undefined) return null;
      newest = next;
    }
    return null;
  }

  /** Scripts and the first settings are asked for once in a while. */
  #kept(found: Utxo | null): Utxo | null {
    const name = found === null ? '' : refText(found.ref);
    const isPending = found !== null && this.#deps.overlay.mempool.made(found.ref) !== undefined;
    if (found !== null && this.#scriptRefs.has(name) && !isPending) {
      this.#scripts.set(name, this.#cached(found));
    }
    return found;
  }

  async byRefs(refs: readonly OutputRef[]): Promise<readonly UtxoState[]> {
    const known = refs.map((ref) => this.#known(ref));
    const missing = refs.filter((_, at) => known[at] === null);
    const asked = missing.length === 0 ? [] : await this.#deps.index.byRefs(missing);
    for (const state of asked) this.#remember(state);
    const others = asked[Symbol.iterator]();
    return known.map((state): UtxoState => state ?? others.next().value ?? { state: 'unknown' });
  }

  /** null: only the index knows. */
  #known(ref: OutputRef): UtxoState | null {
    const script = this.#fresh(this.#scripts.get(refText(ref)));
    const utxo = script ?? this.#unspent(ref);
    if (utxo === null) return null;
    const isSpent = this.#deps.overlay.mempool.spender(ref) !== undefined;
    return { state: isSpent ? 'spent' : 'unspent', utxo };
  }

  /** Unspent in a block, or made by a pending transaction; null: unknown here. */
  #unspent(ref: OutputRef): Utxo | null {
    const { overlay, store } = this.#deps;
    const made = overlay.mempool.made(ref);
    if (made !== undefined) return made;
    const name = refText(ref);
    if (store().get('outputs', name) === null) return null;
    return overlay.output(ref) ?? this.#contents.get(name) ?? null;
  }

  #remember(state: UtxoState): void {
    if (state.state === 'unknown' || state.utxo === null) return;
    const name = refText(state.utxo.ref);
    this.#contents.set(name, state.utxo);
    if (state.state === 'unspent' && this.#scriptRefs.has(name)) {
      this.#scripts.set(name, this.#cached(state.utxo));
    }
  }

  #cached<T>(value: T): Cached<T> {
    return { value, untilMs: this.#deps.clock.monotonicMs() + CACHED_MS };
  }

  #fresh<T>(kept: Cached<T> | undefined): T | null {
    if (kept === undefined || kept.untilMs < this.#deps.clock.monotonicMs()) return null;
    return kept.value;
  }
}

/** For a node without an index of outputs: it follows the chain, but knows no wallet. */
export function unavailableLookup(): UtxoLookup {
  const refuse = async (): Promise<never> => {
    const what = 'this node has no index of outputs, so it knows no wallet and builds nothing: ';
    throw new Unavailable(new Failure('NOT_READY', `${what}set KUPO_URL where it runs`));
  };
  return { byPaymentKey: refuse, byAsset: refuse, newestOf: refuse, byRefs: refuse };
}
