/**
 * What waits in a node's mempool, laid over what Kupo knows, which is blocks alone.
 *
 * Fed by whoever follows the chain: a `mempool` event is taken as it comes; the transactions of a
 * block are settled once the fold has applied the block, never before, because until then answers
 * need not know the block; a roll-back forgets everything, and the next event is whole.
 */
import { refText } from '../../cardano/output.ts';
import type { Transaction } from '../../cardano/transaction.ts';
import { effectsOf } from '../../ledger/effects.ts';
import { Mempool } from '../../ledger/mempool.ts';
import type { ChainEvent } from '../port.ts';

type MempoolEvent = Extract<ChainEvent, { kind: 'mempool' }>;

/** More than any node's mempool holds; what comes after is not laid over until there is room. */
const MOST_WAITING = 20_000;

export class MempoolView {
  #mempool = new Mempool();

  /** Spenders, what they make, and their order; as it is now, not to be kept. */
  get mempool(): Mempool {
    return this.#mempool;
  }

  take({ whole, added, removed }: MempoolEvent): void {
    if (whole) this.forget();
    for (const { id } of removed) this.#mempool.remove(id);
    for (const tx of added) {
      if (this.#mempool.size < MOST_WAITING && !this.#mempool.has(tx.id)) this.#mempool.add(tx);
    }
  }

  /** They are in a block; what these made impossible goes as well. */
  settle(transactions: readonly Transaction[]): void {
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

  forget(): void {
    this.#mempool = new Mempool();
  }
}
