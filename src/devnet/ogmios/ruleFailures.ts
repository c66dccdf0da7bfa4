/**
 * Each rule of a Conway node that a transaction can break, with the code and the data of Ogmios'
 * schema (SubmitTransactionFailure), in the order in which Ogmios prefers them: a missing input,
 * for example, before the balance that it spoils. Source: its `predicateFailurePriority`.
 *
 * One rule stands elsewhere than there: what is missing or too much (scripts, redeemers, datums) is
 * named before the integrity hash, which differs because of it.
 */
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
import type { JudgedTransaction, RuleFailure } from './judged.ts';
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

/** The first rule that it breaks; null: none of these, so that its scripts decide. */
export function ruleFailure(judged: JudgedTransaction): RuleFailure | null {
  for (const rule of RULES) {
    const found = rule(judged);
    if (found !== null) return found;
  }
  return null;
}
