/** Plain payments: keys, inputs, outputs, a fee. Scripts and coin selection are the builder's. */

import {
  array,
  byteString,
  encodeOutput,
  encodeRefs,
  map,
  type NewOutput,
  uint,
} from '../cardano/codec/encode.ts';
import { blake2b256 } from '../cardano/codec/hash.ts';
import { fromHex } from '../cardano/codec/hex.ts';
import type { OutputRef } from '../cardano/codec/output.ts';
import { coins } from '../cardano/codec/value.ts';
import type { Key } from '../cardano/keys/keys.ts';
import { type LedgerTerms, minFeeLovelace } from '../cardano/ledger/parameters.ts';
import { judge } from '../cardano/ledger/scalus.ts';
import { keyAddress } from '../cardano/validators/deploy.ts';
import { genesisUtxosOf } from '../cardano/validators/genesis.ts';

/** A payment of one input and two outputs is shorter. */
export const PAYMENT_BYTES = 400;

interface Payment {
  readonly inputs: readonly OutputRef[];
  readonly outputs: readonly NewOutput[];
  readonly feeLovelace: bigint;
}

export interface SignedTransaction {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Everyone in `keys` signs. */
export function signedPayment(payment: Payment, keys: readonly Key[]): SignedTransaction {
  const body = map([
    [uint(0), encodeRefs(payment.inputs)],
    [uint(1), array(payment.outputs.map(encodeOutput))],
    [uint(2), uint(payment.feeLovelace)],
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

const ROUNDS = 3;
const LOVELACE = 10_000_000n;

/** Compiles the judge's code with a few payments: the first takes 0.2 s, later ones 5 ms. */
export function warmUp(key: Key, terms: LedgerTerms): void {
  const address = keyAddress(key.hash);
  const utxos = genesisUtxosOf([{ address, value: coins(LOVELACE) }]);
  const inputs = utxos.map(({ ref }) => ref);
  const feeLovelace = minFeeLovelace(terms.parameters, PAYMENT_BYTES);
  const outputs = [{ address, value: coins(LOVELACE - feeLovelace) }];
  const payment = signedPayment({ inputs, outputs, feeLovelace }, [key]);
  for (let round = 0; round < ROUNDS; round += 1) judge(payment, utxos, terms, 0);
}
