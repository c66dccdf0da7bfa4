/** What the thread tells without being asked. */
import type { ChainTip } from '../port.ts';
import type { NodeFault } from './fault.ts';
import type { ConnectionName } from './observer.ts';

export interface NodeReporter {
  connected(connection: ConnectionName): void;
  /** null: it is tried again when it is needed. */
  lost(connection: ConnectionName, fault: NodeFault, retryInMs: number | null): void;
  /** The node's newest block; null: it has none. */
  tip(tip: ChainTip | null): void;
}
