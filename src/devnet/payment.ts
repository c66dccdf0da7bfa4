/**
 * A plain payment: keys, inputs, outputs, a fee. The faucet pays with it; tests do, too.
 * What needs a script or coin selection is the builder's.
 */

import {
  array,
  byteString,
  encodeOutput,
  encodeRefs,
  map,
  type OutputPlan,
  uint,
} from '../cardano/codec/encode.ts';
import { blake2b256 } from '../cardano/codec/hash.ts';
import { fromHex } from '../cardano/codec/hex.ts';
import type { OutputRef } from '../cardano/codec/output.ts';
import type { Key } from '../cardano/keys/keys.ts';

interface PaymentPlan {
  readonly inputs: readonly OutputRef[];
  readonly outputs: readonly OutputPlan[];
  readonly feeLovelace: bigint;
}

export interface SignedTransaction {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Everyone in `keys` signs. */
export function signedPayment(plan: PaymentPlan, keys: readonly Key[]): SignedTransaction {
  const body = map([
    [uint(0), encodeRefs(plan.inputs)],
    [uint(1), array(plan.outputs.map(encodeOutput))],
    [uint(2), uint(plan.feeLovelace)],
  ]);
  return signedBody(body, keys);
}

const TRUE = Uint8Array.of(0xf5);
const NULL = Uint8Array.of(0xf6);

export function signedBody(body: Uint8Array, keys: readonly Key[]): SignedTransaction {
  const id = blake2b256(body);
  const witnesses = keys.map((key) =>
    array([byteString(fromHex(key.publicKey)), byteString(key.sign(fromHex(id)))]),
  );
  const witnessSet = map([[uint(0), array(witnesses)]]);
  return { id, bytes: array([body, witnessSet, TRUE, NULL]) };
}
