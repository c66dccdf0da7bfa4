/**
 * The blocks and the mempool of a chain, in order. Submitting and looking up outputs are the
 * ledger's side (cardano/ledger/port.ts). Contract suites: test/contracts/chain*.ts, run on every
 * adapter.
 *
 * Source guarantees:
 * - Events come in order. After `back` to a point the next `forward` is the child of that point.
 * - A stream opened at a known point begins with `back` to that point (it changes nothing there).
 * - Blocks come at least once: after a crash the stream is opened at the newest point that was
 *   written down, and what followed it comes again.
 * - `mempool` tells changes of what waits, in the order in which it can be applied. The first one
 *   after opening, and after every fork, is the whole mempool, with `whole: true`: what is neither
 *   in it nor `removed` is being judged again and will be told. A transaction that moves into a
 *   block is not reported as removed.
 *
 * May be lost: what waited in the mempool when the ledger was killed.
 */
import type { Transaction } from '../cardano/codec/transaction.ts';
import type { RefusalReason } from '../cardano/ledger/port.ts';

export interface Point {
  readonly slot: number;
  /** Of the block, hex. */
  readonly hash: string;
}

/** The newest block of a chain, as it was told last. */
export interface ChainTip extends Point {
  readonly height: number;
}

export interface Block {
  readonly point: Point;
  readonly height: number;
  /** Start of its slot. */
  readonly timeMs: number;
  /** Those whose scripts failed (`isValid` false) moved only their collateral. */
  readonly transactions: readonly Transaction[];
  /** Position of each of them in the block; absent: all are here. A source may leave out others. */
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
  /** The next event, as soon as there is one; null once the stream is closed. */
  next(): Promise<ChainEvent | null>;
  close(): Promise<void>;
}

export interface ChainSource {
  /**
   * Opens at the newest of `points` that is still on the chain (newest first), or at the beginning
   * when the list is empty. null: none of them is on this chain.
   */
  open(points: readonly Point[]): Promise<ChainStream | null>;
}
