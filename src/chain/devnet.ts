import type { SubmitOutcome } from '../cardano/ledger/port.ts';
import type { Failure } from '../engine/runtime/errors.ts';

/** Where clients' transactions go; a Failure: they cannot go anywhere now. */
export interface Counter {
  submit(bytes: Uint8Array): Promise<SubmitOutcome | Failure>;
}

/**
 * What can be done with a chain that runs in this process, and with no other. A fork and blocks are
 * answered once this node shows them, and after a second or two all the same: they are done.
 */
export interface Devnet {
  faucet(address: string, lovelace: bigint): Promise<SubmitOutcome | Failure>;
  /** Undoes `depth` blocks (fewer where there are fewer); resolves with the height then. */
  fork(depth: number, resubmit: 'all' | 'none'): Promise<number | Failure>;
  /** Makes blocks at once; resolves with the height then. */
  mine(blocks: number): Promise<number | Failure>;
}
