/**
 * What waits in a node's mempool, laid over what Kupo knows, which is blocks alone.
 *
 * Fed by whoever follows the chain: a `mempool` event is taken as it comes; the transactions of a
 * block are settled once the fold has applied the block, never before, because until then answers
 * need not know the block; a roll-back forgets everything, and the next event is whole.
 */
import { LRUCache } from 'lru-cache';
import { MalformedCbor } from '../cardano/codec/cbor.ts';
import { type OutputRef, refText, type Utxo } from '../cardano/codec/output.ts';
import { decodeTransaction, type Transaction } from '../cardano/codec/transaction.ts';
import { type Effects, effectsOf, Mempool } from '../cardano/ledger/mempool.ts';
import type { SubmitOutcome, Submitter, UtxoLookup } from '../cardano/ledger/port.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { Unavailable } from '../engine/runtime/errors.ts';
import type { MempoolEvent } from './port.ts';

interface OverlayPosition {
  readonly forgotten: number;
  readonly settled: number;
}

/** What a transaction of the mempool did once it was in a block. */
export interface Confirmed {
  /** Of that block, or of a later one. */
  readonly slot: number;
  readonly effects: Effects;
}

/** What a follower of the chain reports to the overlay. */
export type OverlayWriter = Pick<MempoolOverlay, 'apply' | 'markShown' | 'confirm' | 'clear'>;

/** More than any node's mempool holds; what comes after is not laid over until there is room. */
const MOST_WAITING = 20_000;
const MOST_SHOWN = 20_000;
const MOST_SETTLED = 5_000;
const MOST_OUTPUTS = 20_000;

export class MempoolOverlay {
  #mempool = new Mempool();
  readonly #outputs = new LRUCache<string, Utxo>({ max: MOST_OUTPUTS });
  readonly #settled: Confirmed[] = [];
  /** How many there were before those. */
  #settledBefore = 0;
  /** How often everything was forgotten. */
  #forgotten = 0;
  /** Ids of the newest transactions that the fold shows. */
  readonly #shown = new LRUCache<string, true>({ max: MOST_SHOWN });
  /** Callers that wait until a transaction is shown, by its id. */
  readonly #awaited = new Map<string, Set<() => void>>();

  /** Spenders, what they make, and their order; as it is now, not to be kept. */
  get mempool(): Mempool {
    return this.#mempool;
  }

  apply({ whole, added, removed }: MempoolEvent): void {
    if (whole) this.#mempool = new Mempool();
    for (const { id } of removed) this.#mempool.remove(id);
    for (const tx of added) {
      if (this.#mempool.size < MOST_WAITING && !this.#mempool.has(tx.id)) this.#mempool.add(tx);
    }
  }

  /** The fold shows them as well. */
  markShown(transactions: readonly Transaction[]): void {
    this.#show(transactions);
  }

  /** They are in blocks, the newest of them of `slot`; what they made impossible goes as well. */
  confirm(transactions: readonly Transaction[], slot: number): void {
    this.#show(transactions);
    for (const tx of transactions) {
      const effects = effectsOf(tx);
      if (this.#mempool.has(tx.id)) this.#settled.push({ slot, effects });
      for (const utxo of effects.made) this.#outputs.set(refText(utxo.ref), utxo);
    }
    const tooMany = Math.max(0, this.#settled.length - MOST_SETTLED);
    this.#settled.splice(0, tooMany);
    this.#settledBefore += tooMany;
    if (this.#mempool.size === 0) return;
    const gone = new Set<string>();
    for (const tx of transactions) {
      if (this.#mempool.remove(tx.id)) continue;
      for (const ref of effectsOf(tx).spent) gone.add(refText(ref));
    }
    for (const { tx, effects } of [...this.#mempool.all()]) {
      if (!effects.spent.some((ref) => gone.has(refText(ref)))) continue;
      for (const { ref } of effects.made) gone.add(refText(ref));
      this.#mempool.remove(tx.id);
    }
  }

  clear(): void {
    this.#mempool = new Mempool();
    this.#shown.clear();
    this.#forgotten += 1;
  }

  /** Made by a transaction that was settled here, spent or not, of the newest ones. */
  output(ref: OutputRef): Utxo | undefined {
    return this.#outputs.get(refText(ref));
  }

  /** A moment, for `settledSince`. */
  position(): OverlayPosition {
    return { forgotten: this.#forgotten, settled: this.#settledBefore + this.#settled.length };
  }

  /** What left the mempool for a block since then, oldest first; null: it is not known any more. */
  confirmedSince({ forgotten, settled }: OverlayPosition): readonly Confirmed[] | null {
    if (forgotten !== this.#forgotten || settled < this.#settledBefore) return null;
    return this.#settled.slice(settled - this.#settledBefore);
  }

  /** Resolves once this node shows it, pending or in a block; after `limitMs` in any case. */
  async untilShown(id: string, clock: Clock, limitMs: number): Promise<void> {
    if (this.#shown.has(id)) return;
    const told = Promise.withResolvers<void>();
    const others = this.#awaited.get(id) ?? new Set();
    this.#awaited.set(id, others.add(told.resolve));
    const timer = clock.after(limitMs, told.resolve);
    await told.promise;
    timer.cancel();
    others.delete(told.resolve);
    if (others.size === 0 && this.#awaited.get(id) === others) this.#awaited.delete(id);
  }

  #show(transactions: readonly Transaction[]): void {
    for (const { id } of transactions) {
      this.#shown.set(id, true);
      for (const resolve of this.#awaited.get(id) ?? []) resolve();
    }
  }
}

const SHOWN_MS = 1_000;

export function shownSubmitter(
  source: Submitter,
  view: MempoolOverlay,
  utxos: UtxoLookup,
  clock: Clock,
): Submitter {
  return {
    async submit(bytes) {
      const outcome = await source.submit(bytes);
      if (outcome.outcome === 'refused')
        return (await knownBefore(bytes, outcome, utxos)) ?? outcome;
      await view.untilShown(outcome.txHash, clock, SHOWN_MS);
      return outcome;
    },
  };
}

/** null: it is new, or the index of outputs cannot be asked. */
async function knownBefore(
  bytes: Uint8Array,
  { reason }: Extract<SubmitOutcome, { outcome: 'refused' }>,
  utxos: UtxoLookup,
): Promise<SubmitOutcome | null> {
  if (reason !== 'INPUT_SPENT') return null;
  try {
    const { id: txHash } = decodeTransaction(bytes);
    const [first] = await utxos.byRefs([{ txHash, index: 0 }]);
    return first === undefined || first.state === 'unknown'
      ? null
      : { outcome: 'accepted', txHash };
  } catch (error) {
    if (error instanceof MalformedCbor || error instanceof Unavailable) return null;
    throw error;
  }
}
