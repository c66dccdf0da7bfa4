/**
 * The server's signatures. For a user's transaction it gives one only, its collateral's, and only
 * for a body that it built in this very request, after these rules held on the final bytes:
 *
 * 1. no normal input and no withdrawal, certificate or required signer belongs to a server key;
 * 2. collateral inputs are exactly ours, total_collateral is at most 1 ADA, the return is to us;
 * 3. every script ran successfully on ledger state, in these very bytes;
 * 4. is_valid is true.
 *
 * A broken rule is a fault of ours or an attack: nothing is signed and nothing says how close it
 * was. Source: onchain.md, section Building and signing.
 */

import { assert } from '../../engine/runtime/assert.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { parseAddress } from '../codec/address.ts';
import { fromHex } from '../codec/hex.ts';
import { refText, type Utxo } from '../codec/output.ts';
import { decodeTransaction, type Transaction } from '../codec/transaction.ts';
import type { Key } from '../keys/keys.ts';
import type { BuiltTransaction } from './port.ts';
import { addWitnesses } from './witness.ts';

export interface CollateralRules {
  /** Payment key hashes of all keys that the server holds, the collateral's among them. */
  readonly serverKeyHashes: ReadonlySet<string>;
  /** The server's collateral outputs as our ledger gave them for this request. */
  readonly collateral: readonly Utxo[];
  readonly collateralKey: Key;
}

const MAX_COLLATERAL_LOVELACE = 1_000_000n;

/** The bytes with our signature for the collateral. */
export function signCollateral(
  built: BuiltTransaction,
  rules: CollateralRules,
): Uint8Array | Failure {
  const transaction = decodeTransaction(built.bytes);
  const broken = brokenRule(transaction, built, rules);
  if (broken !== null) return new Failure('SERVER_ERROR', `signature: ${broken}`);
  return signed(built.bytes, transaction, [rules.collateralKey]);
}

/** Which rule forbids the signature; null when all hold. */
export function brokenRule(
  transaction: Transaction,
  built: BuiltTransaction,
  rules: CollateralRules,
): string | null {
  if (!inputsAreForeign(transaction, built.inputs, rules)) return 'an input belongs to the server';
  if (transaction.hasWithdrawals || transaction.hasCertificates) {
    return 'it withdraws or certifies';
  }
  if (transaction.requiredSigners.some((hash) => rules.serverKeyHashes.has(hash))) {
    return 'it requires a server key';
  }
  if (!collateralIsOurs(transaction, rules)) return 'the collateral is not ours alone';
  const total = transaction.totalCollateralLovelace;
  if (total === null || total > MAX_COLLATERAL_LOVELACE) return 'too much collateral is at stake';
  if (transaction.redeemers.length === 0 || built.scriptsRanIn !== transaction.id) {
    return 'its scripts did not run';
  }
  return transaction.isValid ? null : 'it announces a failing script';
}

/** Every input is known, and no server key owns it. */
function inputsAreForeign(
  { inputs }: Transaction,
  resolved: readonly Utxo[],
  { serverKeyHashes }: CollateralRules,
): boolean {
  const held = new Map(resolved.map(({ ref, output }) => [refText(ref), output]));
  return inputs.every((ref) => {
    const output = held.get(refText(ref));
    const payment = output === undefined ? null : parseAddress(output.address)?.payment;
    return payment != null && !serverKeyHashes.has(payment.hash);
  });
}

function collateralIsOurs(
  { collateralInputs, collateralReturn }: Transaction,
  { collateral, collateralKey }: CollateralRules,
): boolean {
  const ours = new Map(collateral.map(({ ref, output }) => [refText(ref), output]));
  const isOurs = (address: string | undefined): boolean => {
    const payment = address === undefined ? null : parseAddress(address)?.payment;
    return payment?.kind === 'key' && payment.hash === collateralKey.hash;
  };
  return (
    collateralInputs.length > 0 &&
    collateralInputs.every((ref) => isOurs(ours.get(refText(ref))?.address)) &&
    isOurs(collateralReturn?.address)
  );
}

/**
 * Signs the executor's own transaction with the keys that the ledger requires: the fee counts no
 * other. It must not sign a transaction that a user requested.
 */
export function signOwn(built: BuiltTransaction, keys: readonly Key[]): Uint8Array {
  const transaction = decodeTransaction(built.bytes);
  assert(transaction.id === built.id, 'the body is the one that was built');
  assert(built.scriptsRanIn === null || built.scriptsRanIn === built.id, 'its scripts ran');
  const signers = [...signersOf(built, transaction)].map((hash) => {
    const key = keys.find((held) => held.hash === hash);
    assert(key !== undefined, `key ${hash} signs`);
    return key;
  });
  return signed(built.bytes, transaction, signers);
}

/** Hashes of the keys without which the ledger refuses. */
function signersOf(
  { inputs, collateral }: BuiltTransaction,
  { requiredSigners }: Transaction,
): ReadonlySet<string> {
  const owners = [...inputs, ...collateral].flatMap(({ output }) => {
    const payment = parseAddress(output.address)?.payment;
    return payment?.kind === 'key' ? [payment.hash] : [];
  });
  return new Set([...owners, ...requiredSigners]);
}

function signed(bytes: Uint8Array, { id }: Transaction, keys: readonly Key[]): Uint8Array {
  const body = fromHex(id);
  return addWitnesses(
    bytes,
    keys.map((key) => ({ publicKey: key.publicKey, signature: key.sign(body) })),
  );
}
