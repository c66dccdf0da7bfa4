/**
 * Entries: the only input of the fold. An entry is hashed over its text; the text names the hash
 * of the entry before it, so a log is a chain.
 *
 * Assumes: `timeMs` is market time as the leader saw it. It never goes back, except in a rollback.
 */
import { hash } from 'node:crypto';
import type { MarketEvent } from '../market/events.ts';
import type { MarketIdentity } from '../runtime/marketIdentity.ts';

/** Version of the texts below. A node that reads a higher version reports it and stops folding. */
export const ENTRY_VERSION = 4;
/** Block entries of an older version lack fields that the fold needs. */
export const OLDEST_CHAIN_VERSION = 3;
export const NO_HASH = '';

export interface TradeEvent {
  readonly base: string;
  readonly quote: string;
  readonly baseDecimals: number;
  readonly quoteDecimals: number;
  readonly id: string;
  /** Integer strings in smallest units. */
  readonly baseAmount: string;
  readonly quoteAmount: string;
}

/** Progress of a replayed file: the log holds everything up to this line. */
export interface FeedCursor {
  readonly feed: string;
  readonly line: number;
}

/** A block of a chain, as market events. */
export interface ChainBlock {
  readonly slot: number;
  /** Hex. */
  readonly hash: string;
  readonly height: number;
  readonly events: readonly MarketEvent[];
  /** Transactions of the mempool that are in this block. */
  readonly settled: readonly string[];
  /** Mempool transactions that the block invalidates: it spends their inputs. */
  readonly dropped: readonly DroppedTransaction[];
  /** No fork could reach it when it was written: the chain's newest block was too far away. */
  readonly isDeep?: true;
}

export interface DroppedTransaction {
  readonly id: string;
  /** A `RefusalReason` of the chain. */
  readonly reason: string;
}

/** A mempool transaction, as the order events that it would cause. */
export interface PendingTransaction {
  readonly id: string;
  /** Kinds `placed`, `executed`, `refunded` and `cancelled`. */
  readonly events: readonly MarketEvent[];
}

/** The mempool changed. Market time does not move. */
export interface MempoolPayload {
  readonly kind: 'mempool';
  /** The leader's clock. */
  readonly seenMs: number;
  /** `added`, with the next entries while `more` is set, is the whole mempool. */
  readonly whole: boolean;
  readonly added: readonly PendingTransaction[];
  readonly removed: readonly DroppedTransaction[];
  /**
   * Ids of transactions that waited, are in neither `added` nor `removed`, and may come again. If
   * the field is missing, a whole mempool gives these ids.
   */
  readonly absent?: readonly string[];
  /** The change continues in the next entry. */
  readonly more?: true;
}

/** Trades of one moment: trades of a feed, or trades in a block of a chain. */
export interface BlockPayload {
  readonly kind: 'block';
  /** The moment of its trades; `timeMs` lags behind it by the lateness that a replay allows. */
  readonly atMs: number;
  /** Trades of a feed; empty where `chain` says what happened. */
  readonly trades: readonly TradeEvent[];
  readonly cursor?: FeedCursor;
  readonly chain?: ChainBlock;
}

/**
 * Blocks of a chain in a row in which nothing happened to the market, as one entry: written while
 * the chain's newest block is further away than a fork can reach. `timeMs` is as for a block.
 */
export interface EmptyBlocksPayload {
  readonly kind: 'passed';
  /** Time of the last of these blocks. */
  readonly atMs: number;
  readonly slot: number;
  /** Hex. */
  readonly hash: string;
  readonly height: number;
  /** How many, that one included. */
  readonly blocks: number;
}

/** Everything after entry `toSeq` is undone. */
export interface RollbackPayload {
  readonly kind: 'rollback';
  readonly toSeq: number;
  readonly cursor?: FeedCursor;
}

/**
 * An interval ended (`end`: its bars become final) or the next one began (`start`: flat bars of
 * subscribers who asked for them). Two entries, because a position can carry one change per bar
 * series: a client ignores a second frame at the same position.
 */
interface TimePayload {
  readonly kind: 'time';
  readonly phase: 'end' | 'start';
}

export interface EpochBase {
  readonly seq: number;
  readonly stateHash?: string;
  /** Absent in entries of older versions, which took a state hash only after some entries. */
  readonly entryHash?: string;
}

/**
 * A new epoch. `base` is the state it starts at: the fold of this log up to `base.seq`, or, where
 * this is the log's first entry, the snapshot kept under the epoch's name. Without base: empty.
 */
export interface EpochPayload {
  readonly kind: 'epoch';
  readonly reason: 'new' | 'rollback' | 'log lost' | 'restored';
  readonly base?: EpochBase;
  readonly cursor?: FeedCursor;
  /** Absent in entries of older versions, and where there is no chain. */
  readonly market?: MarketIdentity;
}

/**
 * A node began to lead, in the entry's term. Its first mempool entry lists all pending
 * transactions.
 */
interface LeaderPayload {
  readonly kind: 'leader';
  readonly node: string;
  /** Only if no earlier entry has it: an older version started the log. */
  readonly market?: MarketIdentity;
}

export type Payload =
  | BlockPayload
  | EmptyBlocksPayload
  | RollbackPayload
  | TimePayload
  | EpochPayload
  | MempoolPayload
  | LeaderPayload;

export interface Entry {
  readonly version: number;
  readonly epoch: string;
  readonly seq: number;
  readonly term: number;
  readonly prevEntryHash: string;
  readonly timeMs: number;
  readonly payload: Payload;
}

/** An entry with the text that was hashed; the text is stored and sent. */
export interface SealedEntry {
  readonly entry: Entry;
  readonly text: string;
  readonly hash: string;
}

export function sealEntry(entry: Entry): SealedEntry {
  const text = JSON.stringify(entry);
  return { entry, text, hash: hash('sha256', text, 'hex') };
}

/**
 * Reads a stored text back. Throws on text that is no entry: the log is damaged. `known`: the hash,
 * where somebody compared it with the text already.
 */
export function openEntry(text: string, known?: string): SealedEntry {
  // trust: the text was sealed by a node of this market; its hash chain is checked by the reader
  const entry = JSON.parse(text) as Entry;
  return { entry, text, hash: known ?? hash('sha256', text, 'hex') };
}
