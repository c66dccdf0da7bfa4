/**
 * Checks that every transaction of ours must pass: two judges, two evaluators, a foreign reader.
 */
import assert from 'node:assert/strict';
import { CML } from '@lucid-evolution/lucid';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import type { BuiltTransaction } from '../../../src/cardano/transactions/port.ts';
import { genericCopy } from './foreign.ts';
import { budgetsByLucid } from './lucid.ts';
import { NOW_SLOT, type Person, refused, signedBy } from './world.ts';

/** Signs for the people and returns the bytes that the ledger accepted. */
export function accepted(
  transaction: BuiltTransaction,
  plan: TransactionPlan,
  people: readonly Person[],
  slot = NOW_SLOT,
): Uint8Array {
  const bytes = signedBy(transaction.bytes, people);
  const utxos = [...transaction.inputs, ...transaction.collateral, ...plan.references];
  assert.equal(refused(bytes, utxos, slot), null);
  const again = CML.Transaction.from_cbor_bytes(bytes);
  assert.equal(CML.hash_transaction(again.body()).to_hex(), transaction.id);
  assert.deepEqual(genericCopy(transaction.bytes), Buffer.from(transaction.bytes));
  assert.deepEqual(genericCopy(bytes), Buffer.from(bytes));
  sameBudgets(bytes, [...transaction.inputs, ...plan.references]);
  return bytes;
}

function sameBudgets(bytes: Uint8Array, utxos: BuiltTransaction['inputs']): void {
  const { redeemers } = decodeTransaction(bytes);
  if (redeemers.length === 0) return;
  const declared = redeemers.map(({ purpose, index, memory, cpu }): [string, string] => [
    `${purpose} ${index}`,
    `${memory}/${cpu}`,
  ]);
  assert.deepEqual(new Map(declared), budgetsByLucid(bytes, utxos));
}
