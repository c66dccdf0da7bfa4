/**
 * Pending transactions of a node's mempool, overlaid on Kupo's outputs, which come from blocks.
 *
 * The follower of the chain reports to it: a `mempool` event at once; a block's transactions once
 * the fold has applied the block, and never before, because until then answers need not have the
 * block; a roll-back clears everything, and the next event is the whole mempool.
 */
import { LRUCache } from 'lru-cache';
import { type OutputRef, refText, type Utxo } from '../cardano/codec/output.ts';
import { decodeTransaction, type Transaction } from '../cardano/codec/transaction.ts';
import { type Effects, effectsOf, Mempool } from '../cardano/ledger/mempool.ts';
import type { SubmitOutcome, Submitter, UtxoLookup } from '../cardano/ledger/port.ts';
import { isFault } from '../engine/runtime/assert.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { Unavailable } from '../engine/runtime/errors.ts';
import type { MempoolEvent } from './port.ts';

interface OverlayPosition {
  readonly clears: number;
  readonly confirmed: number;
}

/** The effects of a pending transaction that is now in a block. */
export interface Confirmed {
  /** Slot of that block, or of a later one. */
  readonly slot: number;
  readonly effects: Effects;
}

/** Methods that the follower of the chain calls. */
export type OverlayWriter = Pick<MempoolOverlay, 'apply' | 'markShown' | 'confirm' | 'clear'>;

/** More than any node's mempool holds; further transactions are left out. */
const MAX_PENDING = 20_000;
const MAX_SHOWN = 20_000;
const MAX_CONFIRMED = 5_000;
const MAX_OUTPUTS = 20_000;

export class MempoolOverlay {
  #mempool = new Mempool();
  readonly #outputs = new LRUCache<string, Utxo>({ max: MAX_OUTPUTS });
  readonly #confirmed: Confirmed[] = [];
  /** How many were dropped from `#confirmed`. */
  #confirmedBefore = 0;
  /** How often everything was cleared. */
  #clears = 0;
  /** Ids of the newest transactions that the fold shows. */
  readonly #shown = new LRUCache<string, true>({ max: MAX_SHOWN });
  /** Callers of `untilShown`, by transaction id. */
  readonly #awaited = new Map<string, Set<() => void>>();

  /** The live object: read it at once, do not keep it. */
  get mempool(): Mempool {
    return this.#mempool;
  }

  apply({ whole, added, removed }: MempoolEvent): void {
    if (whole) this.#mempool = new Mempool();
    for (const { id } of removed) this.#mempool.remove(id);
    for (const tx of added) {
      if (this.#mempool.size < MAX_PENDING && !this.#mempool.has(tx.id)) this.#mempool.add(tx);
    }
  }

  /** The fold shows these transactions. */
  markShown(transactions: readonly Transaction[]): void {
    this.#show(transactions);
  }

  /** They are in blocks up to `slot`. Pending transactions that this makes impossible go, too. */
  confirm(transactions: readonly Transaction[], slot: number): void {
    this.#show(transactions);
    for (const tx of transactions) {
      const effects = effectsOf(tx);
      if (this.#mempool.has(tx.id)) this.#confirmed.push({ slot, effects });
      for (const utxo of effects.made) this.#outputs.set(refText(utxo.ref), utxo);
    }
    const tooMany = Math.max(0, this.#confirmed.length - MAX_CONFIRMED);
    this.#confirmed.splice(0, tooMany);
    this.#confirmedBefore += tooMany;
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
    this.#clears += 1;
  }

  /** An output of a recently confirmed transaction, spent or not. */
  output(ref: OutputRef): Utxo | undefined {
    return this.#outputs.get(refText(ref));
  }

  /** The present moment, for `confirmedSince`. */
  position(): OverlayPosition {
    return { clears: this.#clears, confirmed: this.#confirmedBefore + this.#confirmed.length };
  }

  /** Transactions that entered a block since `position`, oldest first; null: already forgotten. */
  confirmedSince({ clears, confirmed }: OverlayPosition): readonly Confirmed[] | null {
    if (clears !== this.#clears || confirmed < this.#confirmedBefore) return null;
    return this.#confirmed.slice(confirmed - this.#confirmedBefore);
  }

  /** Resolves once this node shows the transaction, pending or in a block, or after `limitMs`. */
  async untilShown(id: string, clock: Clock, limitMs: number): Promise<void> {
    if (this.#shown.has(id)) return;
    const shown = Promise.withResolvers<void>();
    const others = this.#awaited.get(id) ?? new Set();
    this.#awaited.set(id, others.add(shown.resolve));
    const timer = clock.after(limitMs, shown.resolve);
    await shown.promise;
    timer.cancel();
    others.delete(shown.resolve);
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

/**
 * Submits, and answers once this node shows the transaction or after a second. A transaction that
 * was submitted before gets the same answer again, even when its outputs are spent by now.
 */
export function shownSubmitter(
  source: Submitter,
  overlay: MempoolOverlay,
  utxos: UtxoLookup,
  clock: Clock,
): Submitter {
  return {
    async submit(bytes) {
      const outcome = await source.submit(bytes);
      if (outcome.outcome === 'refused')
        return (await acceptedBefore(bytes, outcome, utxos)) ?? outcome;
      await overlay.untilShown(outcome.txHash, clock, SHOWN_MS);
      return outcome;
    },
  };
}

/** null: the transaction is new, or the index of outputs does not answer. */
async function acceptedBefore(
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
    if (isFault(error, 'malformedCbor') || error instanceof Unavailable) return null;
    throw error;
  }
}
