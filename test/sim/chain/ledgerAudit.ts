/**
 * Invariants of the devnet's ledger, computed from its blocks alone, with none of its code: no
 * output is spent twice or without existing, no value appears or vanishes, and an accepted
 * transaction is in a block, pending, or impossible now.
 */
import { refText, type Utxo } from '../../../src/cardano/codec/output.ts';
import {
  decodeTransaction,
  namedRefs,
  type Transaction,
} from '../../../src/cardano/codec/transaction.ts';
import { addValues, asValue, coins, equalValues } from '../../../src/cardano/codec/value.ts';
import type { DevnetCore } from '../../../src/devnet/devnet.ts';

interface WalkedBlock {
  readonly hash: string;
  readonly spent: readonly Utxo[];
  readonly made: readonly string[];
}

/** An answer to a submission may come so late. */
const ANSWER_MS = 30_000;

export class LedgerAudit {
  readonly #core: () => DevnetCore | null;
  readonly #accepted = new Map<string, Transaction>();
  readonly #blocks: WalkedBlock[] = [];
  readonly #unspent = new Map<string, Utxo>();
  #faults: string[] = [];
  #droppedMs = Number.NEGATIVE_INFINITY;

  /** `core`: null while the devnet does not run. */
  constructor(core: () => DevnetCore | null) {
    this.#core = core;
  }

  /** Its submitter was answered that it is accepted. */
  accepted(tx: Transaction, nowMs = Number.POSITIVE_INFINITY): void {
    if (nowMs > this.#droppedMs + ANSWER_MS) this.#accepted.set(tx.id, tx);
  }

  /** A fork is about to drop what its blocks held: accepted transactions may disappear. */
  forkDrops(nowMs: number): void {
    if (this.#core() !== null) this.#faults = this.check();
    this.#accepted.clear();
    this.#droppedMs = nowMs;
  }

  get acceptedCount(): number {
    return this.#accepted.size;
  }

  /** Empty: no fault is known. While the devnet does not run, no more can be checked. */
  check(): string[] {
    const core = this.#core();
    if (core === null) return [];
    this.#walk(core);
    const spendable = new Set(Array.from(core.file.unspent(), ({ ref }) => refText(ref)));
    const isSame =
      spendable.size === this.#unspent.size &&
      [...this.#unspent.keys()].every((ref) => spendable.has(ref));
    const shown = isSame ? [] : [`${spendable.size} outputs can be spent, not as its blocks say`];
    return [...this.#faults, ...shown, ...this.#lost(core)];
  }

  #lost({ ledger, file }: DevnetCore): string[] {
    const { slot } = ledger;
    const lost = [...this.#accepted.values()].filter((tx) => {
      if (ledger.mempool.has(tx.id) || ledger.returns(tx.id) || file.isInBlock(tx.id)) return false;
      if (tx.validToSlot !== null && tx.validToSlot <= slot) return false;
      return namedRefs(tx).every((ref) => ledger.output(ref).state === 'unspent');
    });
    return lost.map(({ id }) => `${id} was accepted, is in no block, and could still be`);
  }

  #walk({ file }: DevnetCore): void {
    if (this.#blocks.length === 0) {
      this.#unspent.clear();
      for (const utxo of file.genesisOutputs()) this.#unspent.set(refText(utxo.ref), utxo);
    }
    for (let last = this.#blocks.at(-1); last !== undefined; last = this.#blocks.at(-1)) {
      if (file.head(this.#blocks.length)?.hash === last.hash) break;
      this.#undo(last);
    }
    const tip = file.tip()?.height ?? 0;
    while (this.#blocks.length < tip) {
      const height = this.#blocks.length + 1;
      const transactions = file.transactionsOf(height).map(({ bytes }) => decodeTransaction(bytes));
      this.#apply(file.head(height)?.hash ?? '', transactions);
    }
  }

  #undo({ spent, made }: WalkedBlock): void {
    this.#blocks.pop();
    for (const ref of made) this.#unspent.delete(ref);
    for (const utxo of spent) this.#unspent.set(refText(utxo.ref), utxo);
  }

  #apply(hash: string, transactions: readonly Transaction[]): void {
    const before = new Map<string, Utxo>();
    const made = new Set<string>();
    for (const tx of transactions) {
      const inputs = tx.inputs.flatMap((ref) => this.#unspent.get(refText(ref)) ?? []);
      if (inputs.length < tx.inputs.length) this.#faults.push(`${tx.id} spends what is not there`);
      for (const utxo of inputs) {
        const ref = refText(utxo.ref);
        this.#unspent.delete(ref);
        if (!made.delete(ref)) before.set(ref, utxo);
      }
      const put = addValues(asValue(0n, tx.mint), ...inputs.map(({ output }) => output.value));
      const paid = addValues(coins(tx.feeLovelace), ...tx.outputs.map(({ value }) => value));
      if (!equalValues(put, paid)) this.#faults.push(`${tx.id} makes or loses coins or tokens`);
      for (const [index, output] of tx.outputs.entries()) {
        const ref = { txHash: tx.id, index };
        this.#unspent.set(refText(ref), { ref, output });
        made.add(refText(ref));
      }
    }
    this.#blocks.push({ hash, spent: [...before.values()], made: [...made] });
  }
}
