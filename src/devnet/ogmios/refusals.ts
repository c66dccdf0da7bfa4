/**
 * Refusals of the devnet's ledger as Ogmios reports them: codes and data of `submitTransaction`, as
 * a node of the Conway era gives them. Source: SubmitTransactionFailure in its schema.
 *
 * The rules are in Ogmios' order of preference: a missing input, for example, comes before the
 * balance that it spoils. Source: its `predicateFailurePriority`. With one exception: missing or
 * extraneous scripts, redeemers and datums come before the integrity hash, which differs because of
 * them.
 */
import { decodeTransaction, type Transaction } from '../../cardano/codec/transaction.ts';
import type { RefusalReason } from '../../cardano/ledger/port.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import {
  conflictingReferences,
  emptyInputs,
  incompleteWithdrawals,
  insufficientCollateral,
  largeValues,
  lockedCollateral,
  missingCollateral,
  notConserved,
  otherThanAdaAsCollateral,
  outsideValidity,
  smallFee,
  smallOutputs,
  tooLarge,
  tooManyCollaterals,
  tooManyUnits,
  totalCollateralMismatch,
  unknownOutputs,
  wrongNetwork,
} from './bodyRules.ts';
import { certificateFault, proposalFault, voteFault } from './certificates.ts';
import { JudgedTransaction, type RefusalContext, type RuleFailure } from './judged.ts';
import { CODES, type RpcError } from './rpc.ts';
import {
  extraneousDatums,
  extraneousRedeemers,
  extraneousScripts,
  failingNativeScripts,
  integrityHashMismatch,
  invalidSignatures,
  longMetadata,
  malformedScripts,
  metadataHashMismatch,
  missingDatumOfInput,
  missingDatums,
  missingMetadata,
  missingMetadataHash,
  missingRedeemers,
  missingScripts,
  missingSignatures,
} from './witnessRules.ts';

interface Refused {
  readonly reason: RefusalReason;
  readonly message: string;
}

/** The message of each code. */
const MESSAGES: Readonly<Record<number, string>> = {
  3100: 'Some signatures are invalid.',
  3101: 'Some signatures are missing.',
  3102: 'Some script witnesses are missing.',
  3103: 'The transaction contains failing native scripts.',
  3104: 'Extraneous (non-required) scripts found in the transaction.',
  3105: 'Missing required metadata hash in the transaction body.',
  3106: 'No metadata corresponding to a specified metadata hash.',
  3107: "There's a mismatch between the metadata hash in the body and the metadata.",
  3108: 'Metadata byte strings and texts must be no longer than 64 bytes.',
  3109: 'Missing required redeemer(s) for Plutus scripts.',
  3110: 'Extraneous (non-required) redeemers found in the transaction.',
  3111: 'Some Plutus scripts are missing their associated datums.',
  3112: 'The transaction contains datums not associated with any script or output.',
  3113: "The script integrity hash doesn't match the computed one.",
  3114: 'Inputs locked by Plutus scripts have no associated datums: they are unspendable.',
  3116: 'Some Plutus scripts in the witness set or in an output are malformed.',
  3117: 'The transaction contains unknown UTxO references as inputs.',
  3118: 'The transaction is outside of its validity interval.',
  3119: 'The transaction exceeds the maximum size allowed by the protocol.',
  3120: 'Some output values in the transaction are too large.',
  3121: 'The transaction has no inputs.',
  3122: "The transaction's fee is below the minimum required by the protocol.",
  3123: 'In and out value not conserved.',
  3124: 'Some entities in the transaction are of another network.',
  3125: 'Some outputs have an insufficient amount of Ada attached to them.',
  3128: 'Insufficient collateral value for Plutus scripts in the transaction.',
  3129: 'An input provided for collateral is locked by a script.',
  3131: 'The transaction contains too many collateral inputs.',
  3132: "The transaction doesn't provide any collateral inputs but it must.",
  3133: 'The collateral carries something else than Ada.',
  3134: 'The execution budget of the transaction is above the allowed limit.',
  3135: 'The declared total collateral is not the computed one.',
  3136: 'Scripts were declared to succeed and fail, or the reverse.',
  3138: 'Reference(s) to unknown governance proposals found in the transaction.',
  3140: 'The transaction references an unknown stake pool.',
  3141: 'The transaction contains incomplete or invalid rewards withdrawals.',
  3146: 'The transaction references an unknown stake credential.',
  3151: 'The deposit of a registration does not match the protocol parameters.',
  3153: 'The transaction references an unknown delegate representative.',
  3154: 'The transaction references an unknown constitutional committee member.',
  3164: 'Identical UTxO references were found in both the transaction inputs and references.',
};

type Rule = (judged: JudgedTransaction) => RuleFailure | null;

const RULES: readonly Rule[] = [
  conflictingReferences,
  // Each of the next stands by itself.
  emptyInputs,
  wrongNetwork,
  outsideValidity,
  certificateFault,
  proposalFault,
  largeValues,
  unknownOutputs,
  voteFault,
  missingDatumOfInput,
  lockedCollateral,
  // The causes of another integrity hash.
  missingRedeemers,
  missingDatums,
  missingScripts,
  extraneousScripts,
  extraneousRedeemers,
  extraneousDatums,
  integrityHashMismatch,
  longMetadata,
  missingMetadata,
  missingMetadataHash,
  metadataHashMismatch,
  malformedScripts,
  invalidSignatures,
  missingSignatures,
  failingNativeScripts,
  otherThanAdaAsCollateral,
  missingCollateral,
  tooManyCollaterals,
  incompleteWithdrawals,
  totalCollateralMismatch,
  insufficientCollateral,
  smallOutputs,
  tooManyUnits,
  tooLarge,
  smallFee,
  notConserved,
];

/** The first rule that the transaction breaks; null: none, so that its scripts decide. */
function ruleFailure(judged: JudgedTransaction): RuleFailure | null {
  for (const rule of RULES) {
    const found = rule(judged);
    if (found !== null) return found;
  }
  return null;
}

/** null: no transaction. */
export function transactionOf(bytes: Uint8Array): Transaction | null {
  try {
    return decodeTransaction(bytes);
  } catch (error) {
    if (isFault(error, 'malformedCbor')) return null;
    throw error;
  }
}

export function deserialisationFailure(message: string): RpcError {
  const eras = ['shelley', 'allegra', 'mary', 'alonzo', 'babbage', 'conway'];
  return {
    code: CODES.invalidParams,
    message: 'Invalid transaction; It looks like the given transaction wasn’t well-formed.',
    data: Object.fromEntries(eras.map((era) => [era, message])),
  };
}

/** The refusal of a Conway node's mempool if all inputs of a transaction are spent. */
export const ALL_SPENT = 'All inputs are spent. Transaction has probably already been included';

export function mempoolError(error: string): RpcError {
  const message =
    "The transaction couldn't be added to the mempool. A justification is given as 'data.error'.";
  return { code: 3997, message, data: { error } };
}

/** Nothing is wrong with the transaction: the same may be submitted again. */
export function notNow(message: string): RpcError {
  return { code: CODES.internalError, message };
}

export function refusalError(
  { reason, message }: Refused,
  tx: Transaction,
  context: RefusalContext,
): RpcError {
  if (reason === 'MALFORMED' && tx.inputs.length > 0) return deserialisationFailure(message);
  if (reason === 'MEMPOOL_FULL') return mempoolError(`The mempool is full. ${message}`);
  if (reason === 'SCRIPT_FAILED') return scriptsDecide(tx, message);
  if (tx.inputs.length > 0 && tx.inputs.every((ref) => context.output(ref) === null)) {
    return mempoolError(ALL_SPENT);
  }
  const found = ruleFailure(new JudgedTransaction(tx, context));
  if (found === null) return mempoolError(message);
  const { code, data } = found;
  return { code, message: MESSAGES[code] ?? message, ...(data === undefined ? {} : { data }) };
}

/** With the words of the evaluator. */
function scriptsDecide({ isValid }: Transaction, message: string): RpcError {
  const declaredSpending = isValid ? 'inputs' : 'collaterals';
  return {
    code: 3136,
    message: MESSAGES[3136] ?? '',
    data: { declaredSpending, mismatchReason: message },
  };
}
