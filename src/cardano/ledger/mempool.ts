/**
 * Transactions that wait for a block, in the order of acceptance; each spends outputs of blocks or
 * of earlier ones. Submissions are bounded; transactions that a fork returns may exceed the bound.
 */

import { type OutputRef, refText, type Utxo } from '../codec/output.ts';
import { namedRefs, type Transaction, totalUnits } from '../codec/transaction.ts';
import type { ProtocolParameters } from './parameters.ts';
import type { RefusalReason } from './port.ts';

export interface PendingTransaction {
  readonly tx: Transaction;
  readonly effects: Effects;
}

interface Dropped {
  readonly id: string;
  readonly reason: RefusalReason;
}

const MAX_WAITING = 2_000;
const MAX_WAITING_BLOCKS = 16;

export class Mempool {
  readonly #waiting = new Map<string, PendingTransaction>();
  readonly #spentBy = new Map<string, string>();
  readonly #made = new Map<string, Utxo>();
  #bytes = 0;

  get size(): number {
    return this.#waiting.size;
  }

  all(): Iterable<PendingTransaction> {
    return this.#waiting.values();
  }

  has(id: string): boolean {
    return this.#waiting.has(id);
  }

  get(id: string): PendingTransaction | undefined {
    return this.#waiting.get(id);
  }

  hasRoomFor(bytes: number, { maxBlockBytes }: ProtocolParameters): boolean {
    const maxBytes = MAX_WAITING_BLOCKS * maxBlockBytes;
    return this.#waiting.size < MAX_WAITING && this.#bytes + bytes <= maxBytes;
  }

  /** The transaction that spends it, if one does. */
  spender(ref: OutputRef): string | undefined {
    return this.#spentBy.get(refText(ref));
  }

  /** Made by a waiting transaction, spent by another or not. */
  made(ref: OutputRef): Utxo | undefined {
    return this.#made.get(refText(ref));
  }

  add(tx: Transaction): void {
    const waiting = { tx, effects: effectsOf(tx) };
    this.#waiting.set(tx.id, waiting);
    for (const ref of waiting.effects.spent) this.#spentBy.set(refText(ref), tx.id);
    for (const utxo of waiting.effects.made) this.#made.set(refText(utxo.ref), utxo);
    this.#bytes += tx.bytes.length;
  }

  /**
   * Drops transactions that have expired by this slot, and transactions that need their outputs.
   */
  dropExpired(slot: number): Dropped[] {
    const dropped: Dropped[] = [];
    const missing = new Set<string>();
    for (const waiting of this.#waiting.values()) {
      const hasExpired = isExpired(waiting, slot);
      if (!hasExpired && !needs(waiting, missing)) continue;
      for (const { ref } of waiting.effects.made) missing.add(refText(ref));
      this.#remove(waiting);
      dropped.push({ id: waiting.tx.id, reason: hasExpired ? 'EXPIRED' : 'INPUT_SPENT' });
    }
    return dropped;
  }

  /** The oldest transactions that fit into one block. */
  nextBlock({
    maxBlockBytes,
    maxBlockMemory,
    maxBlockCpu,
  }: ProtocolParameters): PendingTransaction[] {
    const taken: PendingTransaction[] = [];
    let [bytes, memory, cpu] = [0, 0n, 0n];
    for (const waiting of this.#waiting.values()) {
      const units = totalUnits(waiting.tx.redeemers);
      bytes += waiting.tx.bytes.length;
      memory += units.memory;
      cpu += units.cpu;
      if (bytes > maxBlockBytes || memory > maxBlockMemory || cpu > maxBlockCpu) break;
      taken.push(waiting);
    }
    return taken;
  }

  /** It is in a block now, or dropped; false: it was not pending. */
  remove(id: string): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) this.#remove(waiting);
    return waiting !== undefined;
  }

  takeAll(): PendingTransaction[] {
    const taken = [...this.#waiting.values()];
    for (const waiting of taken) this.#remove(waiting);
    return taken;
  }

  #remove({ tx, effects }: PendingTransaction): void {
    this.#waiting.delete(tx.id);
    // A followed node's mempool arrives in parts: a conflicting transaction may be here already.
    for (const ref of effects.spent.map(refText)) {
      if (this.#spentBy.get(ref) === tx.id) this.#spentBy.delete(ref);
    }
    for (const { ref } of effects.made) this.#made.delete(refText(ref));
    this.#bytes -= tx.bytes.length;
  }
}

function isExpired({ tx: { validToSlot } }: PendingTransaction, slot: number): boolean {
  return validToSlot !== null && slot >= validToSlot;
}

function needs({ tx }: PendingTransaction, missing: ReadonlySet<string>): boolean {
  if (missing.size === 0) return false;
  return namedRefs(tx).some((ref) => missing.has(refText(ref)));
}

export interface Effects {
  readonly spent: readonly OutputRef[];
  readonly made: readonly Utxo[];
}

/**
 * The inputs that a transaction spends and the outputs that it makes; if its scripts fail, its
 * collateral and the collateral's return.
 */
export function effectsOf(tx: Transaction): Effects {
  if (tx.isValid) {
    const made = tx.outputs.map((output, index) => ({ ref: { txHash: tx.id, index }, output }));
    return { spent: tx.inputs, made };
  }
  const ref = { txHash: tx.id, index: tx.outputs.length };
  const made = tx.collateralReturn === null ? [] : [{ ref, output: tx.collateralReturn }];
  return { spent: tx.collateralInputs, made };
}
