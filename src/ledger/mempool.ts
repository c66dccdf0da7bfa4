/**
 * Transactions that wait for a block, in the order in which they were accepted; each one's inputs
 * are there after those before it. Bounded: two blocks' worth and more is refused, never dropped.
 */
import { type OutputRef, refText, type Utxo } from '../cardano/output.ts';
import type { Transaction } from '../cardano/transaction.ts';
import { unitsOf } from './checks.ts';
import { type Effects, effectsOf } from './effects.ts';
import { PROTOCOL } from './parameters.ts';
import type { Judge } from './scalus.ts';

export interface Waiting {
  readonly tx: Transaction;
  readonly effects: Effects;
  /** The state after this transaction and all before it. */
  readonly after: Judge;
}

export const MOST_WAITING = 2_000;
export const MOST_WAITING_BYTES = 16 * PROTOCOL.maxBlockBytes;

export class Mempool {
  readonly #waiting = new Map<string, Waiting>();
  readonly #spentBy = new Map<string, string>();
  readonly #made = new Map<string, Utxo>();
  #bytes = 0;

  get size(): number {
    return this.#waiting.size;
  }

  all(): Iterable<Waiting> {
    return this.#waiting.values();
  }

  has(id: string): boolean {
    return this.#waiting.has(id);
  }

  hasRoomFor(bytes: number): boolean {
    return this.#waiting.size < MOST_WAITING && this.#bytes + bytes <= MOST_WAITING_BYTES;
  }

  /** The transaction that spends it, if one does. */
  spender(ref: OutputRef): string | undefined {
    return this.#spentBy.get(refText(ref));
  }

  /** Made by a waiting transaction, spent by another or not. */
  made(ref: OutputRef): Utxo | undefined {
    return this.#made.get(refText(ref));
  }

  add(tx: Transaction, after: Judge): Waiting {
    const waiting = { tx, effects: effectsOf(tx), after };
    this.#waiting.set(tx.id, waiting);
    for (const ref of waiting.effects.spent) this.#spentBy.set(refText(ref), tx.id);
    for (const utxo of waiting.effects.made) this.#made.set(refText(utxo.ref), utxo);
    this.#bytes += tx.bytes.length;
    return waiting;
  }

  hasExpired(slot: number): boolean {
    return [...this.#waiting.values()].some((waiting) => isExpired(waiting, slot));
  }

  /** The oldest ones that fit into one block of this slot; they stop waiting. */
  takeBlock(slot: number): Waiting[] {
    const taken: Waiting[] = [];
    let [bytes, memory, cpu] = [0, 0n, 0n];
    for (const waiting of this.#waiting.values()) {
      const units = unitsOf(waiting.tx.redeemers);
      bytes += waiting.tx.bytes.length;
      memory += units.memory;
      cpu += units.cpu;
      if (isExpired(waiting, slot)) break;
      const { maxBlockBytes, maxBlockMemory, maxBlockCpu } = PROTOCOL;
      if (bytes > maxBlockBytes || memory > maxBlockMemory || cpu > maxBlockCpu) break;
      taken.push(waiting);
    }
    for (const waiting of taken) this.#remove(waiting);
    return taken;
  }

  takeAll(): Waiting[] {
    const taken = [...this.#waiting.values()];
    for (const waiting of taken) this.#remove(waiting);
    return taken;
  }

  #remove({ tx, effects }: Waiting): void {
    this.#waiting.delete(tx.id);
    for (const ref of effects.spent) this.#spentBy.delete(refText(ref));
    for (const { ref } of effects.made) this.#made.delete(refText(ref));
    this.#bytes -= tx.bytes.length;
  }
}

function isExpired({ tx: { validToSlot } }: Waiting, slot: number): boolean {
  return validToSlot !== null && slot >= validToSlot;
}
