/**
 * What a ledger does that follows another one: it takes that one's blocks as they are and its
 * mempool as it is told, and goes back where it went back.
 *
 * Transactions are not judged again; but a block must follow the newest here, have the hash of what
 * it says, and find its inputs. What does not is no matter for a retry: the ledgers have diverged.
 *
 * What loses its block, and what waited then, returns: another ledger judges it and tells. Whoever
 * begins to lead before it was told judges it here.
 */
import { fromHex } from '../cardano/codec/hex.ts';
import { type OutputRef, refText } from '../cardano/codec/output.ts';
import { decodeTransaction, type Transaction } from '../cardano/codec/transaction.ts';
import { afterWhatTheyNeed } from '../cardano/ledger/dependencies.ts';
import { effectsOf } from '../cardano/ledger/effects.ts';
import type { UtxoSet } from '../cardano/ledger/utxoSet.ts';
import type { Point, Removal } from '../chain/port.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { blockHash } from './blockHash.ts';
import type { Fork, Ledger } from './ledger.ts';
import type { BlockHead, BlockRecord, LedgerFile } from './ledgerFile.ts';

/** A block of another ledger; its transactions in hex, in order. */
export interface BlockCopy {
  readonly head: BlockHead;
  readonly raw: readonly string[];
}

/** A change of another ledger's mempool; `added` in hex, in order. */
export interface MempoolCopy {
  /** `added` is all that waits there. */
  readonly whole: boolean;
  /** Nothing is being judged there: what was not told of is gone. */
  readonly isJudged: boolean;
  readonly added: readonly string[];
  readonly removed: readonly Removal[];
}

export type CopyOutcome =
  | { readonly outcome: 'done' }
  /** The disk refused; nothing has changed, the same may be tried again. */
  | { readonly outcome: 'stalled'; readonly message: string }
  /** This ledger is another one. Nothing has changed. */
  | { readonly outcome: 'diverged'; readonly message: string };

export type Reconciled =
  /** `point` is the newest block now; null: none, the chain is at its beginning. */
  | { readonly outcome: 'common'; readonly point: Point | null }
  | { readonly outcome: 'none' }
  | { readonly outcome: 'stalled'; readonly message: string };

const DONE: CopyOutcome = { outcome: 'done' };

export class Replica {
  readonly #ledger: Ledger;
  readonly #file: LedgerFile;
  readonly #forked: (fork: Fork) => void;

  /** `forked` is told of everything that is undone. */
  constructor(ledger: Ledger, file: LedgerFile, forked: (fork: Fork) => void) {
    this.#ledger = ledger;
    this.#file = file;
    this.#forked = forked;
  }

  /** All of the blocks or none. */
  apply(copies: readonly BlockCopy[]): CopyOutcome {
    const records = recordsOf(copies, this.#ledger);
    if (typeof records === 'string') return diverged(records);
    const failure = this.#ledger.append(records);
    if (failure !== null) return { outcome: 'stalled', message: failure.message };
    const spent = records.flatMap(({ transactions }) => transactions.flatMap((tx) => tx.spent));
    for (const ref of spent) {
      const loser = this.#ledger.mempool.spender(ref);
      if (loser !== undefined) this.#ledger.drop(loser, 'INPUT_SPENT');
    }
    return DONE;
  }

  applyMempool({ whole, isJudged, added, removed }: MempoolCopy): CopyOutcome {
    const read = decodedAll(added);
    if (typeof read === 'string') return diverged(read);
    if (whole && isJudged) this.#ledger.forgetWaiting();
    else if (whole) this.#ledger.takeOut();
    for (const { id, reason } of removed) this.#ledger.drop(id, reason);
    for (const tx of afterWhatTheyNeed(read)) this.#ledger.takeIn(tx);
    return DONE;
  }

  /** Back to a block, or to the beginning. What waits is to be told anew. */
  rollTo(point: BlockHead | null): CopyOutcome {
    const height = point?.height ?? 0;
    if (point !== null && this.#file.head(height)?.hash !== point.hash) {
      return diverged(`block ${height} ${point.hash}, to go back to, is not here`);
    }
    const failure = this.#undo(height);
    if (failure === null) return DONE;
    const isDisk = failure.cause === 'SERVER_ERROR';
    return { outcome: isDisk ? 'stalled' : 'diverged', message: failure.message };
  }

  #undo(height: number): Failure | null {
    const { tip } = this.#ledger;
    if (height === this.#ledger.height) {
      this.#ledger.takeOut();
      this.#forked({ tip, takenBack: [] });
      return null;
    }
    const fork = this.#ledger.fork(this.#ledger.height - height, 'all');
    if (fork instanceof Failure) return fork;
    this.#forked(fork);
    return null;
  }

  /**
   * Takes back what is above the newest of `points`, newest first: blocks that nobody else has.
   * What waits is to be told anew. `reachesStart`: the oldest of them is the chain's first block.
   */
  reconcile(points: readonly Point[], reachesStart: boolean): Reconciled {
    const head = newestOf(points, this.#file);
    const isAtStart = this.#ledger.tip === null || reachesStart;
    if (head === null && !isAtStart) return { outcome: 'none' };
    const failure = this.#undo(head?.height ?? 0);
    if (failure?.cause === 'SERVER_ERROR') return { outcome: 'stalled', message: failure.message };
    if (failure !== null) return { outcome: 'none' };
    const point = head === null ? null : { slot: head.slot, hash: head.hash };
    return { outcome: 'common', point };
  }
}

/** The first of `points` that is a block of this chain. */
export function newestOf(points: readonly Point[], file: LedgerFile): BlockHead | null {
  for (const { slot, hash } of points) {
    const head = file.headAt(slot);
    if (head !== null && head.hash === hash) return head;
  }
  return null;
}

function diverged(message: string): CopyOutcome {
  return { outcome: 'diverged', message: `this ledger is not the leader's: ${message}` };
}

/** Or what is wrong with them. */
function recordsOf(
  copies: readonly BlockCopy[],
  { tip, chain }: { readonly tip: BlockHead | null; readonly chain: UtxoSet },
): BlockRecord[] | string {
  const records: BlockRecord[] = [];
  const outputs = new Outputs(chain);
  let parent = tip;
  for (const { head, raw } of copies) {
    const txs = decodedAll(raw);
    if (typeof txs === 'string') return txs;
    const fault = faultOf(head, parent, txs) ?? outputs.move(txs);
    if (fault !== null) return `block ${head.height} ${head.hash}: ${fault}`;
    const transactions = txs.map((tx) => ({ id: tx.id, bytes: tx.bytes, ...effectsOf(tx) }));
    records.push({ ...head, transactions });
    parent = head;
  }
  return records;
}

function faultOf(
  { height, slot, hash }: BlockHead,
  parent: BlockHead | null,
  transactions: readonly Transaction[],
): string | null {
  const before = parent?.height ?? 0;
  if (height !== before + 1) return `it does not follow block ${before}`;
  if (slot <= (parent?.slot ?? 0)) return `its slot ${slot} is not after its parent's`;
  const is = blockHash(parent, { height, slot }, transactions);
  return is === hash ? null : `with its parent and transactions the hash is ${is}`;
}

function decodedAll(raw: readonly string[]): Transaction[] | string {
  try {
    return raw.map((hex) => decodeTransaction(fromHex(hex)));
  } catch (error) {
    return `bytes that are no transaction (${error instanceof Error ? error.message : error})`;
  }
}

/** What is unspent after some transactions more. */
class Outputs {
  readonly #chain: UtxoSet;
  readonly #made = new Set<string>();
  readonly #spent = new Set<string>();

  constructor(chain: UtxoSet) {
    this.#chain = chain;
  }

  move(transactions: readonly Transaction[]): string | null {
    for (const tx of transactions) {
      const { made, spent } = effectsOf(tx);
      const missing = spent.find((ref) => !this.#has(ref));
      if (missing !== undefined) return `input ${refText(missing)} of ${tx.id} is not there`;
      for (const ref of spent) this.#spent.add(refText(ref));
      for (const { ref } of made) this.#made.add(refText(ref));
    }
    return null;
  }

  #has(ref: OutputRef): boolean {
    const name = refText(ref);
    if (this.#spent.has(name)) return false;
    return this.#made.has(name) || this.#chain.get(ref) !== undefined;
  }
}
