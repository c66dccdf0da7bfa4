import type { ChainTip } from '../port.ts';
import type { NodeFault } from './fault.ts';

/** Events of following a node through Ogmios; engine/runtime/chainEvents.ts logs them. */

/**
 * Why a connection ended or could not be opened. `garbage`: not a message of the protocol;
 * `unreadable`: a message with impossible content; `foreign`: the node's chain lacks our blocks.
 */
export type NodeFaultKind =
  | 'unreachable'
  | 'closed'
  | 'stalled'
  | 'garbage'
  | 'oversized'
  | 'unreadable'
  | 'foreign';

/** `chain` is for blocks, `mempool` for pending transactions, `questions` for all other calls. */
export type ConnectionName = 'chain' | 'mempool' | 'questions';

export interface OgmiosObserver {
  nodeConnected(connection: ConnectionName): void;
  /** The next attempt is after `retryInMs`; null: when it is needed. */
  nodeLost(
    connection: ConnectionName,
    cause: NodeFaultKind,
    message: string,
    retryInMs: number | null,
  ): void;
  /** A part of a transaction is not known here and was passed over; each kind is reported once. */
  partPassedOver(part: string): void;
  /** The thread ended: following has stopped. */
  ogmiosFailed(error: unknown): void;
}

export interface NodeReporter {
  connected(connection: ConnectionName): void;
  /** `retryInMs` null: it reconnects when it is needed. */
  lost(connection: ConnectionName, fault: NodeFault, retryInMs: number | null): void;
  /** The node's newest block; null: it has none. */
  tip(tip: ChainTip | null): void;
  /** See `OgmiosObserver.partPassedOver`. */
  passedOver(part: string): void;
}
