/**
 * Plain payments: keys, inputs, outputs, a fee; and the faucet, which pays with them. Scripts and
 * coin selection are the builder's.
 */

import { parseAddress } from '../cardano/codec/address.ts';
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
import type { OutputRef, Utxo } from '../cardano/codec/output.ts';
import { coins } from '../cardano/codec/value.ts';
import type { Key } from '../cardano/keys/keys.ts';
import { type LedgerTerms, minFeeLovelace } from '../cardano/ledger/parameters.ts';
import type { SubmitOutcome } from '../cardano/ledger/port.ts';
import { judge } from '../cardano/ledger/scalus.ts';
import { utxosOfCredential } from '../cardano/ledger/views.ts';
import { keyAddress } from '../cardano/validators/deploy.ts';
import { genesisUtxosOf } from '../cardano/validators/genesis.ts';
import type { Ledger } from './ledger.ts';

/** More than the least lovelace of an output without tokens. */
export const LEAST_GIFT_LOVELACE = 1_000_000n;
export const MOST_GIFT_LOVELACE = 10_000n * 1_000_000n;
/** A payment of one input and two outputs is shorter. */
const PAYMENT_BYTES = 400;

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

/** Pays from the faucet's fullest output, its pending change included. */
export function payFromFaucet(
  ledger: Ledger,
  key: Key,
  address: string,
  lovelace: bigint,
): SubmitOutcome {
  const parsed = parseAddress(address);
  if (parsed === null || parsed.network !== 'testnet' || parsed.pointer) {
    return refused('The faucet pays to addresses of this devnet (addr_test1…)');
  }
  if (lovelace < LEAST_GIFT_LOVELACE || lovelace > MOST_GIFT_LOVELACE) {
    const bounds = `${LEAST_GIFT_LOVELACE} to ${MOST_GIFT_LOVELACE}`;
    return refused(`The faucet gives ${bounds} lovelace at once`);
  }
  const feeLovelace = minFeeLovelace(ledger.parameters.values, PAYMENT_BYTES);
  const source = fullest(utxosOfCredential(ledger, key.hash, 'newest', {}));
  const changeLovelace = (source?.output.value.lovelace ?? 0n) - lovelace - feeLovelace;
  if (source === undefined || changeLovelace < LEAST_GIFT_LOVELACE) {
    return refused('The faucet is empty');
  }
  const outputs = [
    { address, value: coins(lovelace) },
    { address: keyAddress(key.hash), value: coins(changeLovelace) },
  ];
  const { bytes } = signedPayment({ inputs: [source.ref], outputs, feeLovelace }, [key]);
  return ledger.submit(bytes);
}

function refused(message: string): SubmitOutcome {
  return { outcome: 'refused', reason: 'REFUSED', message };
}

/**
 * The fullest output was not spent lately, so outputs take turns. A plain payment cannot spend
 * outputs with tokens or a script, which others sent here.
 */
function fullest(utxos: readonly Utxo[]): Utxo | undefined {
  const plain = utxos.filter(({ output }) => {
    return output.value.assets.size === 0 && output.scriptHash === null;
  });
  return plain.reduce<Utxo | undefined>(
    (best, utxo) =>
      best === undefined || utxo.output.value.lovelace > best.output.value.lovelace ? utxo : best,
    undefined,
  );
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
