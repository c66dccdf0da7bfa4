/**
 * The naive model of a follower: keeps whole blocks, and recomputes everything from the genesis
 * each time it is asked. Its input comes from a stream, so it proves the stream, too.
 */
import assert from 'node:assert/strict';
import { type OutputRef, refText, type Utxo } from '../../src/cardano/codec/output.ts';
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import {
  addValues,
  coins,
  NOTHING,
  subtractValue,
  type Value,
} from '../../src/cardano/codec/value.ts';
import type { UtxoView } from '../../src/cardano/ledger/port.ts';
import { credentialOf } from '../../src/cardano/ledger/utxoSet.ts';
import type { Block, ChainEvent } from '../../src/chain/port.ts';

interface NaiveBlock {
  readonly hash: string;
  readonly transactions: readonly Transaction[];
}

export class NaiveChain {
  readonly #genesis: readonly Utxo[];
  #blocks: NaiveBlock[] = [];
  readonly #waiting = new Map<string, Transaction>();
  /** Ids that lost their block and were not heard of since. */
  readonly #limbo = new Set<string>();

  constructor(genesis: readonly Utxo[]) {
    this.#genesis = genesis;
  }

  get hashes(): string[] {
    return this.#blocks.map(({ hash }) => hash);
  }

  get waiting(): string[] {
    return [...this.#waiting.keys()];
  }

  get limbo(): number {
    return this.#limbo.size;
  }

  apply(event: ChainEvent): void {
    if (event.kind === 'back') this.#back(event.point?.hash ?? null);
    else if (event.kind === 'forward') this.#forward(event.block);
    else {
      if (event.whole) {
        for (const id of this.#waiting.keys()) this.#limbo.add(id);
        this.#waiting.clear();
      }
      for (const tx of event.added) this.#add(tx);
      for (const { id } of event.removed) {
        assert.ok(this.#waiting.delete(id) || this.#limbo.delete(id), `${id} is known`);
      }
    }
  }

  #add(tx: Transaction): void {
    assert.ok(!this.#waiting.has(tx.id), 'is reported as pending once');
    assert.ok(!this.#isInBlock(tx.id), 'does not wait when it is in a block');
    this.#waiting.set(tx.id, tx);
    this.#limbo.delete(tx.id);
  }

  #isInBlock(id: string): boolean {
    return this.#blocks.some(({ transactions }) => transactions.some((tx) => tx.id === id));
  }

  #back(hash: string | null): void {
    const at = hash === null ? -1 : this.hashes.indexOf(hash);
    assert.ok(hash === null || at >= 0, 'goes back to a block that was told');
    for (const { transactions } of this.#blocks.slice(at + 1)) {
      for (const { id } of transactions) this.#limbo.add(id);
    }
    this.#blocks = this.#blocks.slice(0, at + 1);
  }

  #forward({ point, height, transactions }: Block): void {
    assert.equal(height, this.#blocks.length + 1, 'a child of the newest block');
    this.#blocks.push({ hash: point.hash, transactions });
    for (const { id, validFromSlot, validToSlot } of transactions) {
      assert.ok(point.slot >= (validFromSlot ?? 0), 'no block holds what is not valid yet');
      assert.ok(point.slot < (validToSlot ?? Number.POSITIVE_INFINITY), 'nor what has expired');
      this.#waiting.delete(id);
      this.#limbo.delete(id);
    }
  }

  /** Recomputed from the genesis; throws when an input is not there. */
  confirmed(): Map<string, Utxo> {
    const unspent = new Map(this.#genesis.map((utxo) => [refText(utxo.ref), utxo]));
    for (const { transactions } of this.#blocks) for (const tx of transactions) move(unspent, tx);
    return unspent;
  }

  view(view: UtxoView, fits: (utxo: Utxo) => boolean): string[] {
    const seen = this.confirmed();
    const all = new Map(seen);
    for (const tx of this.#waiting.values()) {
      const owners = inputsOf(tx).map((ref) => credentialOf(all.get(refText(ref)) ?? missing(ref)));
      move(all, tx);
      for (const utxo of outputsOf(tx)) {
        const isChange = owners.includes(credentialOf(utxo));
        if (view === 'newest' || (view === 'wallet' && isChange)) seen.set(refText(utxo.ref), utxo);
      }
    }
    const left = [...seen].filter(([name, utxo]) => all.has(name) && fits(utxo));
    return left.map(([name]) => name).sort();
  }

  /** Genesis + minted - burned - fees, which must equal the unspent total. */
  expectedTotal(): Value {
    let total = addValues(...this.#genesis.map(({ output }) => output.value));
    const unspent = new Map(this.#genesis.map((utxo) => [refText(utxo.ref), utxo]));
    for (const tx of this.#blocks.flatMap(({ transactions }) => transactions)) {
      const minted = { lovelace: 0n, assets: tx.isValid ? tx.mint : NOTHING.assets };
      total = subtractValue(addValues(total, minted), coins(paidBy(tx, unspent)));
      move(unspent, tx);
    }
    return total;
  }
}

/** The fee; with failed scripts, the part of the collateral that is not returned. */
function paidBy(tx: Transaction, unspent: ReadonlyMap<string, Utxo>): bigint {
  if (tx.isValid) return tx.feeLovelace;
  const taken = tx.collateralInputs.map((ref) => unspent.get(refText(ref)) ?? missing(ref));
  const lovelace = taken.reduce((sum, { output }) => sum + output.value.lovelace, 0n);
  return lovelace - (tx.collateralReturn?.value.lovelace ?? 0n);
}

function inputsOf(tx: Transaction): readonly OutputRef[] {
  return tx.isValid ? tx.inputs : tx.collateralInputs;
}

function outputsOf(tx: Transaction): Utxo[] {
  const { id: txHash, outputs, collateralReturn } = tx;
  if (tx.isValid) return outputs.map((output, index) => ({ ref: { txHash, index }, output }));
  if (collateralReturn === null) return [];
  return [{ ref: { txHash, index: outputs.length }, output: collateralReturn }];
}

function move(unspent: Map<string, Utxo>, tx: Transaction): void {
  for (const ref of inputsOf(tx)) if (!unspent.delete(refText(ref))) missing(ref);
  for (const utxo of outputsOf(tx)) unspent.set(refText(utxo.ref), utxo);
}

function missing(ref: OutputRef): never {
  throw new Error(`input ${refText(ref)} is not there`);
}
