/**
 * Maps Scalus's error texts to a reason of the port and a message for a person, which keeps the
 * original. The only place that reads these texts.
 */
import { beginningOf } from '../../engine/runtime/errors.ts';
import type { RefusalReason } from './port.ts';
import type { Rejection } from './scalus.ts';

export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
}

const LONGEST_TEXT = 600;
const MAX_LOGS = 20;

/** First match wins. `said` begins the message. */
const ERROR_PATTERNS: readonly (readonly [RegExp, RefusalReason, string])[] = [
  [/Borer|requirement failed|InvalidInputData/, 'MALFORMED', 'This is no transaction'],
  [/Invalid verified signatures|Invalid.*signature/i, 'BAD_SIGNATURE', 'A signature is wrong'],
  [/^Missing key hashes/, 'SIGNATURE_MISSING', 'A signature is missing'],
  [/^Value not conserved/, 'VALUE_NOT_CONSERVED', 'Inputs and outputs differ'],
  [/fee Coin\(\d+\) is less than/, 'FEE_TOO_SMALL', 'The fee is too small'],
  [/^Fee or collateral|[Cc]ollateral inputs? (count|exceed)/, 'COLLATERAL', 'Bad collateral'],
  [/^Too many collateral/, 'COLLATERAL', 'Bad collateral'],
  [/outputs are too small|not enough coin/i, 'OUTPUT_TOO_SMALL', 'An output holds too little ADA'],
  [/^Missing inputs/, 'INPUT_SPENT', 'An input is spent or unknown'],
  [/outside the validity interval/, 'EXPIRED', 'It is not valid in this slot'],
  [/^Plutus script validation failed|invalid flag/, 'SCRIPT_FAILED', 'A script failed'],
  [/[Ee]x(ecution)? ?[Uu]nits|too big|exceeds? max/i, 'LIMITS_EXCEEDED', 'Too large'],
];

export function refusalOf({ error, logs }: Rejection): Refusal {
  const text = error.replace(/\s+/g, ' ');
  const [, reason, said] = (logs.length > 0
    ? ([/./, 'SCRIPT_FAILED', 'A script failed'] as const)
    : ERROR_PATTERNS.find(([words]) => words.test(text))) ?? [
    /./,
    'REFUSED',
    'The ledger refuses it',
  ];
  const traces = logs.slice(-MAX_LOGS).join(' | ');
  const cause = traces === '' ? '' : ` [${beginningOf(traces, LONGEST_TEXT)}]`;
  return { reason, message: `${said}${cause}: ${beginningOf(plainText(text), LONGEST_TEXT)}` };
}

/** Maps the library's class names and printed forms to their meaning for a caller. */
const PLAIN: readonly (readonly [RegExp, string])[] = [
  [/\bTransactionInput\("?([0-9a-f]{64})"?, ?(\d+)\)/g, '$1:$2'],
  [/\b(?:[a-z][A-Za-z0-9_]*\.){2,}[A-Z][\w$.]*(?:: )?/g, ''],
  [/\bCoin\((-?\d+)\)/g, '$1 lovelace'],
  [/\b(?:Tagged|Sorted|Indexed|Tree|Hash|Ordered|List|Array)*(?:Set|Map|Seq|List|Vector)\(/g, '('],
  [/, missing [a-z ]+: \(\)/g, ''],
  [/for decoding an instance of `(\w+)` /g, ''],
  [/\b(?:None\.get|Some\()/g, ''],
  [/\bMap-Header\b/g, 'a map of definite length'],
  [/\bArray-Start or Array-Header\b/g, 'an array of length '],
  [/\bArray-Header\b/g, 'an array of length '],
  [/\bStart of unbounded Map\b/g, 'a map of indefinite length'],
  [/\bStart of unbounded Array\b/g, 'an array of indefinite length'],
];

export function plainText(text: string): string {
  return PLAIN.reduce((plain, [words, meaning]) => plain.replace(words, meaning), text).trim();
}
