/**
 * The devnet's ledger: one chain, its unspent outputs, a mempool. Synchronous, so it lives in a
 * worker.
 *
 * Slots come from `slotNow` and never go back, even after a fork; heights do. Each block has its
 * own slot, so a block that is made early takes the next slot, and the clock catches up. A
 * transaction taken out of a block by a fork returns at the head of the queue of `revalidateOne`,
 * before the mempool: until the queue is empty nothing else may be submitted.
 */

import { blake2b256 } from '../cardano/codec/hash.ts';
import { type OutputRef, refText, type Utxo } from '../cardano/codec/output.ts';
import type { SlotConfig } from '../cardano/codec/slots.ts';
import { decodeTransaction, namedRefs, type Transaction } from '../cardano/codec/transaction.ts';
import { ruleViolation } from '../cardano/ledger/checks.ts';
import { Mempool, type PendingTransaction } from '../cardano/ledger/mempool.ts';
import type { LedgerTerms, ProtocolParameters } from '../cardano/ledger/parameters.ts';
import type { RefusalReason, SubmitOutcome, UtxoState } from '../cardano/ledger/port.ts';
import { type Refusal, refusalOf } from '../cardano/ledger/refusals.ts';
import { judge } from '../cardano/ledger/scalus.ts';
import { UtxoSet } from '../cardano/ledger/utxoSet.ts';
import { assert, isFault } from '../engine/runtime/assert.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { jsonText } from '../engine/runtime/exactJson.ts';
import type { BlockHead, BlockRecord, LedgerFile } from './ledgerFile.ts';
import { type DevnetParameters, MAINNET_645, readDevnetParameters } from './parameters.ts';

export type Resubmit = 'all' | 'none' | readonly string[];

/** The blocks and transactions that a fork undid. */
export interface Fork {
  readonly tip: BlockHead | null;
  /** Ids of the transactions that lost their block, in chain order. */
  readonly takenBack: readonly { readonly height: number; readonly id: string }[];
}

const REASONS_KEPT = 10_000;

export class Ledger {
  readonly chain = new UtxoSet();
  readonly mempool = new Mempool();
  readonly slots: SlotConfig;
  readonly #file: LedgerFile;
  readonly #slotNow: () => number;
  readonly #reasons = new Map<string, RefusalReason>();
  #parameters: DevnetParameters;
  #returning = new Map<string, Transaction>();
  #tip: BlockHead | null;
  /** The newest that was current, and the newest that a block ever had. */
  #slot: number;
  #blockSlot: number;

  /** `file` already holds a genesis. */
  constructor(file: LedgerFile, slots: SlotConfig, slotNow: () => number) {
    this.slots = slots;
    this.#file = file;
    this.#slotNow = slotNow;
    for (const utxo of file.unspent()) this.chain.add(utxo);
    this.#tip = file.tip();
    this.#blockSlot = file.marks().slot;
    this.#slot = this.#blockSlot;
    const given = file.parameters();
    this.#parameters = given === null ? MAINNET_645 : readDevnetParameters(given);
  }

  /** The parameters in force. */
  get parameters(): DevnetParameters {
    return this.#parameters;
  }

  /** The parameters and slot times by which transactions are judged now. */
  get terms(): LedgerTerms {
    return { parameters: this.#parameters.values, slots: this.slots };
  }

  /**
   * Puts other parameters in force, from the next submission on and for good. Pending transactions
   * are judged again by them.
   */
  changeParameters(parameters: DevnetParameters): Failure | null {
    const failure = this.#file.keepParameters(jsonText(parameters.json));
    if (failure !== null) return failure;
    this.#parameters = parameters;
    this.restore([]);
    return null;
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
    const tx = decoded(bytes, this.#parameters.values);
    if ('reason' in tx) return { outcome: 'refused', ...tx };
    if (this.mempool.has(tx.id) || this.#file.isInBlock(tx.id)) {
      return { outcome: 'accepted', txHash: tx.id };
    }
    if (!this.mempool.hasRoomFor(tx.bytes.length, this.#parameters.values)) {
      const message = 'Too much waits for a block: try again';
      return { outcome: 'refused', reason: 'MEMPOOL_FULL', message };
    }
    const refusal = this.#accept(tx);
    return refusal === null
      ? { outcome: 'accepted', txHash: tx.id }
      : { outcome: 'refused', ...refusal };
  }

  #accept(tx: Transaction): Refusal | null {
    const fault = ruleViolation(tx, this.#parameters.values, this.slot);
    if (fault !== null) return fault;
    const utxos = this.#needed(tx);
    if (!Array.isArray(utxos)) return utxos;
    const rejection = judge(tx, utxos, this.terms, this.slot);
    if (rejection !== null) return refusalOf(rejection);
    this.mempool.add(tx);
    this.#reasons.delete(tx.id);
    return null;
  }

  /** The outputs that it names, once each; a refusal where one is missing. */
  #needed(tx: Transaction): Utxo[] | Refusal {
    const needed = new Map<string, Utxo>();
    for (const ref of namedRefs(tx)) {
      const found = this.output(ref);
      if (found.state === 'unspent') {
        needed.set(refText(ref), found.utxo);
        continue;
      }
      const { state } = found;
      const by = this.mempool.spender(ref);
      const spender = by === undefined ? '' : ` by ${by}, which waits for a block`;
      return { reason: 'INPUT_SPENT', message: `Input ${refText(ref)} is ${state}${spender}` };
    }
    return [...needed.values()];
  }

  /** In the view `newest`. */
  output(ref: OutputRef): UtxoState {
    const waiting = this.mempool.spender(ref) !== undefined;
    const utxo = this.chain.get(ref) ?? this.mempool.made(ref);
    if (utxo !== undefined) return { state: waiting ? 'spent' : 'unspent', utxo };
    const known = this.#file.output(ref);
    return known === null ? { state: 'unknown' } : { state: 'spent', utxo: known.utxo };
  }

  /** Why a transaction left the mempool without a block; REFUSED once that is forgotten. */
  reasonOf(id: string): RefusalReason {
    return this.#reasons.get(id) ?? 'REFUSED';
  }

  returns(id: string): boolean {
    return this.#returning.has(id);
  }

  /**
   * Makes `count` blocks, on disk when it returns; each takes pending transactions that fit. A disk
   * that refuses is a Failure: earlier blocks are made then, the next one's transactions stay.
   */
  forge(count = 1): Failure | null {
    for (let left = count; left > 0; ) {
      const slot = Math.max(this.slot, this.#blockSlot + 1);
      for (const { id, reason } of this.mempool.dropExpired(slot)) this.#recordRefusal(id, reason);
      const isEmpty = this.mempool.size === 0;
      const taken = this.mempool.nextBlock(this.#parameters.values);
      const blocks = this.#blocks(isEmpty ? left : 1, slot, taken);
      const failure = this.append(blocks);
      if (failure !== null) return failure;
      left -= blocks.length;
    }
    return null;
  }

  /** Blocks that follow the newest, one by one; nothing has changed where the disk refuses. */
  append(blocks: readonly BlockRecord[]): Failure | null {
    const failure = this.#file.append(blocks);
    if (failure !== null) return failure;
    for (const block of blocks) {
      for (const { id } of block.transactions) {
        this.mempool.remove(id);
        this.#returning.delete(id);
      }
      this.#put(block);
    }
    return null;
  }

  /** The next blocks, the first in `slot` with all of `taken`. */
  #blocks(count: number, slot: number, taken: readonly PendingTransaction[]): BlockRecord[] {
    const blocks: BlockRecord[] = [];
    for (let at = 0; at < count; at += 1) {
      blocks.push(blockAfter(blocks.at(-1) ?? this.#tip, slot + at, at === 0 ? taken : []));
    }
    return blocks;
  }

  #put({ height, slot, hash, transactions }: BlockRecord): void {
    for (const utxo of transactions.flatMap(({ made }) => made)) this.chain.add(utxo);
    for (const ref of transactions.flatMap(({ spent }) => spent)) this.chain.remove(ref);
    this.#tip = { height, slot, hash };
    this.#blockSlot = Math.max(this.#blockSlot, slot);
    this.#slot = Math.max(this.#slot, this.#blockSlot);
  }

  /**
   * Takes `depth` blocks back at once, at most K below the highest block ever made. Their
   * transactions and the pending ones are judged again.
   */
  fork(depth: number, resubmit: Resubmit): Fork | Failure {
    const most = this.height - this.#file.marks().settled;
    if (depth < 1 || depth > most) {
      return new Failure('INVALID_PARAMS', `at most ${most} blocks can be taken back now`);
    }
    const target = this.height - depth;
    const taken = this.#blocksAbove(target);
    const undone = this.#file.rollback(target);
    if (undone instanceof Failure) return undone;
    const waiting = this.#takeWaiting();
    for (const ref of undone.gone) this.chain.remove(ref);
    for (const utxo of undone.revived) this.chain.add(utxo);
    this.#tip = this.#file.head(target);
    this.#returning = new Map();
    for (const { tx } of taken) {
      if (resubmit === 'all' || resubmit.includes(tx.id)) this.#returning.set(tx.id, tx);
      else this.#recordRefusal(tx.id, 'REFUSED');
    }
    for (const tx of waiting) this.#returning.set(tx.id, tx);
    const takenBack = taken.map(({ height, tx }) => ({ height, id: tx.id }));
    return { tip: this.#tip, takenBack };
  }

  /** Transactions accepted before a stop: judged again, after what returns already. */
  restore(transactions: readonly Transaction[]): void {
    const all = afterWhatTheyNeed([...this.#takeWaiting(), ...transactions]);
    this.#returning = new Map(all.map((tx) => [tx.id, tx]));
  }

  /** Accepted transactions that no block contains: the mempool, and returns of a fork. */
  *accepted(): Iterable<Transaction> {
    for (const { tx } of this.mempool.all()) yield tx;
    yield* this.#returning.values();
  }

  /** The transactions of the newest `depth` blocks, in chain order. */
  newest(depth: number): Transaction[] {
    return this.#blocksAbove(Math.max(0, this.height - depth)).map(({ tx }) => tx);
  }

  /** Drops a transaction that is in no block, with the reason. */
  drop(id: string, reason: RefusalReason): void {
    const isKnown = this.#returning.delete(id);
    if (this.mempool.remove(id) || isKnown) this.#recordRefusal(id, reason);
  }

  #takeWaiting(): Transaction[] {
    return [...this.mempool.takeAll().map(({ tx }) => tx), ...this.#returning.values()];
  }

  #blocksAbove(target: number): { height: number; tx: Transaction }[] {
    const heights = Array.from({ length: this.height - target }, (_, at) => target + 1 + at);
    return heights.flatMap((height) =>
      this.#file
        .transactionsOf(height)
        .map(({ bytes }) => ({ height, tx: decodeTransaction(bytes) })),
    );
  }

  /** Judges the next returned transaction: it is pending again, or dropped with the reason. */
  revalidateOne(): void {
    const [tx] = this.#returning.values();
    if (tx === undefined) return;
    this.#returning.delete(tx.id);
    const refusal = this.#accept(tx);
    if (refusal !== null) this.#recordRefusal(tx.id, refusal.reason);
  }

  #recordRefusal(id: string, reason: RefusalReason): void {
    this.#reasons.delete(id);
    this.#reasons.set(id, reason);
    if (this.#reasons.size <= REASONS_KEPT) return;
    const [oldest] = this.#reasons.keys();
    if (oldest !== undefined) this.#reasons.delete(oldest);
  }
}

/** Sorts so that each comes after those whose outputs it names; otherwise keeps the order. */
function afterWhatTheyNeed(transactions: readonly Transaction[]): Transaction[] {
  const left = new Map(transactions.map((tx) => [tx.id, tx]));
  const ordered: Transaction[] = [];
  for (const first of transactions) {
    const path = [first];
    for (let tx = path.at(-1); tx !== undefined; tx = path.at(-1)) {
      const needed = left.has(tx.id) ? neededBy(tx, left) : undefined;
      if (needed !== undefined) path.push(needed);
      else {
        path.pop();
        if (left.delete(tx.id)) ordered.push(tx);
      }
    }
  }
  return ordered;
}

/** One of `left`. Never `tx`: its id is a hash over the outputs that it needs. */
function neededBy(
  tx: Transaction,
  left: ReadonlyMap<string, Transaction>,
): Transaction | undefined {
  for (const { txHash } of namedRefs(tx)) {
    const needed = left.get(txHash);
    if (needed !== undefined) return needed;
  }
  return undefined;
}

/** Reads submitted bytes. */
function decoded(bytes: Uint8Array, { maxBytes }: ProtocolParameters): Transaction | Refusal {
  if (bytes.length > maxBytes) {
    const message = `Too large: ${bytes.length} bytes, at most ${maxBytes}`;
    return { reason: 'LIMITS_EXCEEDED', message };
  }
  try {
    return decodeTransaction(bytes);
  } catch (error) {
    // Any error of the decoder is the fault of the submitted bytes.
    const cause = isFault(error, 'malformedCbor') ? error.message : 'it cannot be read';
    return { reason: 'MALFORMED', message: `This is no transaction: ${cause}` };
  }
}

/** The block in `slot` that follows `parent`. */
export function blockAfter(
  parent: BlockHead | null,
  slot: number,
  inside: readonly PendingTransaction[],
): BlockRecord {
  const head = { height: (parent?.height ?? 0) + 1, slot };
  const transactions = inside.map(({ tx: { id, bytes }, effects }) => ({ id, bytes, ...effects }));
  return { ...head, hash: blockHash(parent, head, transactions), transactions };
}

/** A block's hash: over its parent's hash, its height and slot, and its transactions. */
function blockHash(
  parent: { readonly hash: string } | null,
  { height, slot }: { readonly height: number; readonly slot: number },
  transactions: readonly { readonly id: string }[],
): string {
  const ids = transactions.map(({ id }) => id).join('');
  return blake2b256(Buffer.from(`${parent?.hash ?? ''} ${height} ${slot} ${ids}`));
}
