/** Where clients' transactions go, and what a devnet can do beside what every Cardano does. */
import type { SubmitOutcome } from '../cardano/ledger/port.ts';
import type { Failure } from '../engine/runtime/errors.ts';

/** A Failure: nothing can be submitted now. */
export interface Counter {
  submit(bytes: Uint8Array): Promise<SubmitOutcome | Failure>;
}

/**
 * What only a devnet can do. It is answered once this node shows it, and after a second or two all
 * the same: it is done.
 */
export interface Devnet {
  faucet(address: string, lovelace: bigint): Promise<SubmitOutcome | Failure>;
  /** Undoes `depth` blocks (fewer where there are fewer); resolves with the height then. */
  fork(depth: number, resubmit: 'all' | 'none'): Promise<number | Failure>;
  /** Makes blocks at once; resolves with the height then. */
  mine(blocks: number): Promise<number | Failure>;
}
