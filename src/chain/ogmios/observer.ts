import type { ChainTip } from '../port.ts';
import type { NodeFault } from './fault.ts';

/** What following a node through Ogmios tells; src/engine/runtime/chainEvents.ts says it. */

/**
 * Why a connection ended or was not made: `garbage` is no message of the protocol, `unreadable` one
 * whose content cannot be true, `foreign` a node that has none of our blocks.
 */
export type FaultCause =
  | 'unreachable'
  | 'closed'
  | 'stalled'
  | 'garbage'
  | 'oversized'
  | 'unreadable'
  | 'foreign';

/** `chain` follows blocks, `mempool` what waits, `questions` is for submits and parameters. */
export type ConnectionName = 'chain' | 'mempool' | 'questions';

export interface OgmiosObserver {
  nodeConnected(connection: ConnectionName): void;
  /** It is tried again after `retryInMs`; null: when it is needed again. */
  nodeLost(
    connection: ConnectionName,
    cause: FaultCause,
    message: string,
    retryInMs: number | null,
  ): void;
  /** The thread ended: nothing is followed any more. */
  ogmiosFailed(error: unknown): void;
}

export interface NodeReporter {
  connected(connection: ConnectionName): void;
  /** null: it is tried again when it is needed. */
  lost(connection: ConnectionName, fault: NodeFault, retryInMs: number | null): void;
  /** The node's newest block; null: it has none. */
  tip(tip: ChainTip | null): void;
}
