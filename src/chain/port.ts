/**
 * The blocks and the mempool of a chain, in order. Submitting and lookups are in the ledger's port
 * (cardano/ledger/port.ts). Contract suites: test/contracts/chain*.ts, run on every adapter.
 *
 * Source guarantees:
 * - Events come in order. After `back` to a point, the next `forward` is the child of that point.
 * - A stream opened at a known point starts with `back` to that point (it changes nothing there).
 * - Blocks come at least once: after a crash the stream is opened at the newest point that was
 *   stored, and the blocks after it come again.
 * - `mempool` reports changes of the pending transactions, in an order in which they apply. The
 *   first one after opening, and after every fork, is the whole mempool, with `whole: true`. A
 *   transaction neither in it nor in `removed` is undecided and comes later. A transaction that
 *   moves into a block is not reported as removed.
 *
 * May be lost: transactions pending when the ledger was killed.
 */
import type { Transaction } from '../cardano/codec/transaction.ts';
import type { RefusalReason } from '../cardano/ledger/port.ts';

export interface Point {
  readonly slot: number;
  /** Hash of the block, hex. */
  readonly hash: string;
}

/** The newest block of a chain, as last reported. */
export interface ChainTip extends Point {
  readonly height: number;
}

export interface Block {
  readonly point: Point;
  readonly height: number;
  /** Start of its slot. */
  readonly timeMs: number;
  /** Where a script failed (`isValid` false), only the collateral moved. */
  readonly transactions: readonly Transaction[];
  /** Index of each transaction in its block, if the source left some out; absent: none left out. */
  readonly txIndexes?: readonly number[];
}

export interface Removal {
  readonly id: string;
  readonly reason: RefusalReason;
}

export type ChainEvent =
  | { readonly kind: 'forward'; readonly block: Block }
  /** null: before the first block. */
  | { readonly kind: 'back'; readonly point: Point | null }
  | {
      readonly kind: 'mempool';
      readonly whole: boolean;
      readonly added: readonly Transaction[];
      readonly removed: readonly Removal[];
    };

export type MempoolEvent = Extract<ChainEvent, { kind: 'mempool' }>;

export interface ChainStream {
  /** Resolves with the next event; with null once the stream is closed. */
  next(): Promise<ChainEvent | null>;
  /** The same where it need not be waited for; null: ask `next`. */
  nextReceived?(): ChainEvent | null;
  close(): Promise<void>;
}

export interface ChainSource {
  /**
   * Opens at the newest of `points` (newest first) that is still on the chain; at the chain's start
   * when there are no points. null: this chain holds none of the points.
   */
  open(points: readonly Point[]): Promise<ChainStream | null>;
}
