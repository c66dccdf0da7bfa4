/**
 * The embedded ledger: one chain, its unspent outputs, a mempool. Synchronous, so it lives in a
 * worker.
 *
 * Slots come from `slotNow` and never go back, not by a fork either; heights do. Each block has a
 * slot of its own, so one that is made early takes the next slot, and the clock catches up.
 * A transaction taken out of a block by a fork returns at the head of the queue of `revalidate`,
 * before what waited: until the queue is empty nothing else may be submitted.
 */

import { MalformedCbor } from '../cardano/cbor.ts';
import { blake2b256 } from '../cardano/hash.ts';
import { type OutputRef, refText } from '../cardano/output.ts';
import type { SlotConfig } from '../cardano/slots.ts';
import { decodeTransaction, type Transaction } from '../cardano/transaction.ts';
import type { RefusalReason, SubmitOutcome, UtxoState } from '../chain/port.ts';
import { assert } from '../runtime/assert.ts';
import { Failure } from '../runtime/errors.ts';
import { objection } from './checks.ts';
import type { BlockHead, BlockRecord, LedgerFile } from './ledgerFile.ts';
import { Mempool } from './mempool.ts';
import { PROTOCOL } from './parameters.ts';
import { type Refusal, refusalOf } from './refusals.ts';
import { Judge } from './scalus.ts';
import { UtxoSet } from './utxoSet.ts';

export type Resubmit = 'all' | 'none' | readonly string[];

/** What a fork undid. */
export interface Fork {
  readonly tip: BlockHead | null;
  /** Ids of the transactions that lost their block, in chain order. */
  readonly takenBack: readonly { readonly height: number; readonly id: string }[];
}

export interface LedgerLimits {
  /** States behind the newest blocks, to go back to without building one. */
  readonly judgesKept: number;
  /** Scalus remembers transactions that were judged; a new state forgets them. */
  readonly transactionsPerJudge: number;
}

export const LEDGER_LIMITS: LedgerLimits = { judgesKept: 64, transactionsPerJudge: 5_000 };

const REASONS_KEPT = 10_000;

export class Ledger {
  readonly chain = new UtxoSet();
  readonly mempool = new Mempool();
  readonly slots: SlotConfig;
  readonly #file: LedgerFile;
  readonly #limits: LedgerLimits;
  readonly #slotNow: () => number;
  readonly #judges = new Map<number, Judge>();
  readonly #reasons = new Map<string, RefusalReason>();
  #returning = new Map<string, Transaction>();
  #tip: BlockHead | null;
  /** The newest that was current, and the newest that a block ever had. */
  #slot: number;
  #blockSlot: number;
  /** After the newest block, and after the mempool. */
  #confirmed: Judge;
  #newest: Judge;
  #judged = 0;

  /** The file has begun. */
  constructor(
    file: LedgerFile,
    slots: SlotConfig,
    slotNow: () => number,
    limits: LedgerLimits = LEDGER_LIMITS,
  ) {
    this.slots = slots;
    this.#limits = limits;
    this.#file = file;
    this.#slotNow = slotNow;
    for (const utxo of file.unspent()) this.chain.add(utxo);
    this.#tip = file.tip();
    this.#blockSlot = file.marks().slot;
    this.#slot = this.#blockSlot;
    this.#confirmed = Judge.over(this.chain.all(), slots);
    this.#newest = this.#confirmed;
  }

  get tip(): BlockHead | null {
    return this.#tip;
  }

  get height(): number {
    return this.#tip?.height ?? 0;
  }

  /** The current one. */
  get slot(): number {
    this.#slot = Math.max(this.#slot, this.#slotNow());
    return this.#slot;
  }

  /** The newest that a block ever had. */
  get blockSlot(): number {
    return this.#blockSlot;
  }

  get isRevalidating(): boolean {
    return this.#returning.size > 0;
  }

  submit(bytes: Uint8Array): SubmitOutcome {
    assert(!this.isRevalidating, 'what returns goes first');
    const tx = decoded(bytes);
    if ('reason' in tx) return { outcome: 'refused', ...tx };
    if (this.mempool.has(tx.id) || this.#file.isInBlock(tx.id)) {
      return { outcome: 'accepted', txHash: tx.id };
    }
    const refusal = this.#accept(tx);
    return refusal === null
      ? { outcome: 'accepted', txHash: tx.id }
      : { outcome: 'refused', ...refusal };
  }

  #accept(tx: Transaction): Refusal | null {
    if (!this.mempool.hasRoomFor(tx.bytes.length)) {
      return { reason: 'MEMPOOL_FULL', message: 'Too much waits for a block: try again' };
    }
    const fault = objection(tx, this.slot) ?? this.#missing(tx);
    if (fault !== null) return fault;
    const verdict = this.#newest.after(tx.bytes, tx.id, this.slot);
    if (!(verdict instanceof Judge)) return refusalOf(verdict);
    this.#newest = verdict;
    this.mempool.add(tx, verdict);
    this.#reasons.delete(tx.id);
    return null;
  }

  #missing({ inputs, referenceInputs, collateralInputs }: Transaction): Refusal | null {
    for (const ref of [...inputs, ...referenceInputs, ...collateralInputs]) {
      const state = this.output(ref).state;
      if (state === 'unspent') continue;
      const by = this.mempool.spender(ref);
      const spender = by === undefined ? '' : ` by ${by}, which waits for a block`;
      return { reason: 'INPUT_SPENT', message: `Input ${refText(ref)} is ${state}${spender}` };
    }
    return null;
  }

  /** In the view `newest`. */
  output(ref: OutputRef): UtxoState {
    const waiting = this.mempool.spender(ref) !== undefined;
    const utxo = this.chain.get(ref) ?? this.mempool.made(ref);
    if (utxo !== undefined) return { state: waiting ? 'spent' : 'unspent', utxo };
    const known = this.#file.output(ref);
    return known === null ? { state: 'unknown' } : { state: 'spent', utxo: known.utxo };
  }

  /** Why a transaction stopped waiting without a block; as long as that is remembered. */
  reasonOf(id: string): RefusalReason {
    return this.#reasons.get(id) ?? 'REFUSED';
  }

  returns(id: string): boolean {
    return this.#returning.has(id);
  }

  /** Makes `count` blocks, on disk when it returns; the first takes what waits and fits. */
  forge(count = 1): void {
    const blocks: BlockRecord[] = [];
    for (let made = 0; made < count; made += 1) blocks.push(this.#forge());
    this.#file.append(blocks);
  }

  #forge(): BlockRecord {
    const slot = Math.max(this.slot, this.#blockSlot + 1);
    const taken = this.mempool.takeBlock(slot);
    if (this.mempool.hasExpired(slot)) {
      const waiting = this.mempool.takeAll().map(({ tx }) => [tx.id, tx] as const);
      this.#returning = new Map([...waiting, ...this.#returning]);
    }
    const made = taken.flatMap(({ effects }) => effects.made);
    const spent = taken.flatMap(({ effects }) => effects.spent);
    for (const utxo of made) this.chain.add(utxo);
    for (const ref of spent) this.chain.remove(ref);
    const height = this.height + 1;
    const transactions = taken.map(({ tx: { id, bytes } }) => ({ id, bytes }));
    const hash = this.#hash(height, slot, transactions);
    this.#tip = { height, slot, hash };
    this.#slot = slot;
    this.#blockSlot = slot;
    this.#moveOn(taken.at(-1)?.after ?? this.#confirmed, taken.length);
    return { height, slot, hash, transactions, spent, made };
  }

  #hash(height: number, slot: number, transactions: readonly { id: string }[]): string {
    const ids = transactions.map(({ id }) => id).join('');
    const text = `${this.#tip?.hash ?? ''} ${height} ${slot} ${ids}`;
    return blake2b256(Buffer.from(text));
  }

  #moveOn(confirmed: Judge, transactions: number): void {
    this.#confirmed = confirmed;
    this.#judged += transactions;
    if (this.mempool.size === 0) {
      if (this.#judged >= this.#limits.transactionsPerJudge) this.#renew();
      this.#newest = this.#confirmed;
    }
    this.#judges.set(this.height, this.#confirmed);
    this.#judges.delete(this.height - this.#limits.judgesKept);
  }

  #renew(): void {
    this.#judged = 0;
    this.#judges.clear();
    this.#confirmed = Judge.over(this.chain.all(), this.slots);
  }

  /**
   * Takes `depth` blocks back at once, no deeper than K below the highest block there ever was.
   * Their transactions and those that wait then return.
   */
  fork(depth: number, resubmit: Resubmit): Fork | Failure {
    const most = this.height - this.#file.marks().settled;
    if (depth < 1 || depth > most) {
      return new Failure('INVALID_PARAMS', `at most ${most} blocks can be taken back now`);
    }
    const target = this.height - depth;
    const taken = this.#blocksAbove(target);
    const waiting = [...this.mempool.takeAll().map(({ tx }) => tx), ...this.#returning.values()];
    const { gone, revived } = this.#file.rollback(target);
    for (const ref of gone) this.chain.remove(ref);
    for (const utxo of revived) this.chain.add(utxo);
    for (let height = target + 1; height <= target + depth; height += 1) {
      this.#judges.delete(height);
    }
    this.#tip = this.#file.head(target);
    this.#confirmed = this.#judges.get(target) ?? Judge.over(this.chain.all(), this.slots);
    this.#newest = this.#confirmed;
    this.#returning = new Map();
    for (const { tx } of taken) {
      if (resubmit === 'all' || resubmit.includes(tx.id)) this.#returning.set(tx.id, tx);
      else this.#note(tx.id, 'REFUSED');
    }
    for (const tx of waiting) this.#returning.set(tx.id, tx);
    const takenBack = taken.map(({ height, tx }) => ({ height, id: tx.id }));
    return { tip: this.#tip, takenBack };
  }

  #blocksAbove(target: number): { height: number; tx: Transaction }[] {
    const heights = Array.from({ length: this.height - target }, (_, at) => target + 1 + at);
    return heights.flatMap((height) =>
      this.#file
        .transactionsOf(height)
        .map(({ bytes }) => ({ height, tx: decodeTransaction(bytes) })),
    );
  }

  /** Judges the next of those that return; it waits again or is dropped with the reason. */
  revalidateOne(): void {
    const [tx] = this.#returning.values();
    if (tx === undefined) return;
    this.#returning.delete(tx.id);
    const refusal = this.#accept(tx);
    if (refusal !== null) this.#note(tx.id, refusal.reason);
  }

  #note(id: string, reason: RefusalReason): void {
    this.#reasons.delete(id);
    this.#reasons.set(id, reason);
    if (this.#reasons.size <= REASONS_KEPT) return;
    const [oldest] = this.#reasons.keys();
    if (oldest !== undefined) this.#reasons.delete(oldest);
  }
}

function decoded(bytes: Uint8Array): Transaction | Refusal {
  if (bytes.length > PROTOCOL.maxTransactionBytes) {
    const most = PROTOCOL.maxTransactionBytes;
    const message = `Too large: ${bytes.length} bytes, at most ${most}`;
    return { reason: 'LIMITS_EXCEEDED', message };
  }
  try {
    return decodeTransaction(bytes);
  } catch (error) {
    // Whatever a stranger's bytes make the decoder throw is the fault of the bytes.
    const cause = error instanceof MalformedCbor ? error.message : 'it cannot be read';
    return { reason: 'MALFORMED', message: `This is no transaction: ${cause}` };
  }
}
