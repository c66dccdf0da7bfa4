/**
 * The builder of transactions: a plan in, bytes out. Builds happen off the main thread, one after
 * another per thread, a bounded number waits; a full queue answers OVERLOADED at once.
 *
 * Guarantees of a built transaction: outputs are exactly the plan's (except for the output that
 * pays the fee), every spent input is in the plan, every script ran successfully on these exact
 * bytes, inputs = outputs + fee, and the fee is enough for all signatures. A build changes nothing:
 * it may be repeated, and is lost without harm.
 */

import { type Cause, Failure } from '../../engine/runtime/errors.ts';
import type { Utxo } from '../codec/output.ts';
import type { TransactionPlan } from './plan.ts';

export interface BuiltTransaction {
  readonly outcome: 'built';
  /** Hash of the body, hex. */
  readonly id: string;
  /** The whole transaction, not yet signed. */
  readonly bytes: Uint8Array;
  readonly feeLovelace: bigint;
  /** Content of all its inputs, in the order of the ledger. */
  readonly inputs: readonly Utxo[];
  readonly collateral: readonly Utxo[];
  /** Id of the transaction whose scripts all ran; null where none has to. */
  readonly scriptsRanIn: string | null;
}

const BUILD_REFUSALS = [
  /** The wallet has too little; the message says how much is missing. */
  'FUNDS',
  /** The wallet has enough, in too many outputs. */
  'CONSOLIDATE',
  'OUTPUT_TOO_SMALL',
  'TOO_LARGE',
  'SCRIPT_FAILED',
  'COLLATERAL',
] as const;

export interface BuildRefusal {
  readonly outcome: 'refused';
  readonly reason: (typeof BUILD_REFUSALS)[number];
  /** For a person. */
  readonly message: string;
  /** Log of the script that failed. */
  readonly log: readonly string[];
}

export type BuildOutcome = BuiltTransaction | BuildRefusal;

export interface BuildOptions {
  /**
   * Goes before every build that is not urgent, and has a separate bound on the queue: for the
   * executor.
   */
  readonly urgent?: boolean;
}

export interface Builder {
  /** A Failure only where nothing was tried: OVERLOADED, or SERVER_ERROR for a broken build. */
  build(plan: TransactionPlan, options?: BuildOptions): Promise<BuildOutcome | Failure>;
}

const STEPS = {
  FUNDS: 'wallet',
  CONSOLIDATE: 'wallet',
  OUTPUT_TOO_SMALL: 'build',
  TOO_LARGE: 'build',
  SCRIPT_FAILED: 'script',
  COLLATERAL: 'collateral',
} as const;

/**
 * The refusal as an answer of a route, with the step that failed; `cause` is UNKNOWN on /order and
 * SERVER_ERROR elsewhere. `note` says more for a person.
 */
export function failureOf({ reason, message }: BuildRefusal, cause: Cause, note = ''): Failure {
  const more = note === '' ? '' : `; ${note}`;
  return new Failure(cause, `${STEPS[reason]}: ${message}${more}`, { reason });
}
