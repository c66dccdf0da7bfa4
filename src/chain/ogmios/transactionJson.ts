/**
 * Transactions as Ogmios writes them. With their bytes (`--include-transaction-cbor`) the bytes are
 * what counts; without them `bytes`, `body` and `witnessSet` are empty and the rest is the same.
 * Source: Ogmios's schema, cardano.json.
 */
import { MalformedCbor } from '../../cardano/codec/cbor.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import { compareRefs } from '../../cardano/codec/output.ts';
import { decodePlutusData, type PlutusData } from '../../cardano/codec/plutusData.ts';
import {
  decodeTransaction,
  type KeyWitness,
  type Redeemer,
  type Transaction,
} from '../../cardano/codec/transaction.ts';
import {
  countOf,
  hexOf,
  integerOf,
  type JsonObject,
  listOf,
  objectOf,
  Unreadable,
} from './json.ts';
import { readAssets, readLovelace, readOutput, readRef } from './outputJson.ts';

const NO_BYTES = new Uint8Array(0);
const HASH_BYTES = 32;
const KEY_HASH_BYTES = 28;

/** The names differ in three. */
const PURPOSES: ReadonlyMap<unknown, Redeemer['purpose']> = new Map([
  ['spend', 'spend'],
  ['mint', 'mint'],
  ['publish', 'certificate'],
  ['withdraw', 'reward'],
  ['vote', 'vote'],
  ['propose', 'propose'],
]);

/** Throws `Unreadable`. */
export function readTransaction(value: unknown, what: string): Transaction {
  const fields = objectOf(value, what);
  const id = hexOf(fields.id, `${what}.id`, HASH_BYTES);
  return decoded(fields, id, `transaction ${id}`) ?? fromJson(fields, id, `transaction ${id}`);
}

/** null: there are no bytes, or they are of an era whose form is another. */
function decoded({ cbor }: JsonObject, id: string, what: string): Transaction | null {
  if (cbor === undefined) return null;
  try {
    const tx = decodeTransaction(fromHex(hexOf(cbor, `${what}.cbor`)));
    if (tx.id !== id) throw new Unreadable(`${what}.cbor is that of ${tx.id}`);
    return tx;
  } catch (error) {
    if (error instanceof MalformedCbor) return null;
    throw error;
  }
}

function fromJson(fields: JsonObject, id: string, what: string): Transaction {
  const refs = (name: string) =>
    listOf(fields[name], `${what}.${name}`).map((ref, at) => readRef(ref, `${what}.${name}.${at}`));
  const { collateralReturn, fee, totalCollateral, validityInterval, certificates } = fields;
  const interval = objectOf(validityInterval ?? {}, `${what}.validityInterval`);
  const outputs = listOf(fields.outputs, `${what}.outputs`);
  return {
    id,
    bytes: NO_BYTES,
    body: NO_BYTES,
    witnessSet: NO_BYTES,
    isValid: isValid(fields, what),
    inputs: refs('inputs').sort(compareRefs),
    referenceInputs: refs('references'),
    collateralInputs: refs('collaterals'),
    outputs: outputs.map((output, at) => readOutput(output, `${what}.outputs.${at}`)),
    collateralReturn:
      collateralReturn === undefined
        ? null
        : readOutput(collateralReturn, `${what}.collateralReturn`),
    totalCollateralLovelace:
      totalCollateral === undefined
        ? null
        : readLovelace(totalCollateral, `${what}.totalCollateral`),
    // Byron says none.
    feeLovelace: fee === undefined ? 0n : readLovelace(fee, `${what}.fee`),
    mint: new Map(readAssets(fields.mint ?? {}, `${what}.mint`)),
    validFromSlot: slotOrNull(interval.invalidBefore, `${what}.validityInterval.invalidBefore`),
    validToSlot: slotOrNull(interval.invalidAfter, `${what}.validityInterval.invalidAfter`),
    requiredSigners: listOf(
      fields.requiredExtraSignatories,
      `${what}.requiredExtraSignatories`,
    ).map((hash) => hexOf(hash, `${what}.requiredExtraSignatories`, KEY_HASH_BYTES)),
    hasCertificates: listOf(certificates, `${what}.certificates`).length > 0,
    hasWithdrawals: Object.keys(objectOf(fields.withdrawals ?? {}, what)).length > 0,
    redeemers: listOf(fields.redeemers, `${what}.redeemers`).map((redeemer, at) =>
      readRedeemer(redeemer, `${what}.redeemers.${at}`),
    ),
    keyWitnesses: listOf(fields.signatories, `${what}.signatories`).flatMap((each) =>
      readWitness(each, `${what}.signatories`),
    ),
  };
}

export function isValid({ spends }: JsonObject, what: string): boolean {
  if (spends === 'inputs') return true;
  if (spends === 'collaterals') return false;
  throw new Unreadable(`${what}.spends is neither inputs nor collaterals`);
}

/** A slot beyond 2^53 will never come: as a bound it is none. */
function slotOrNull(value: unknown, what: string): number | null {
  if (value === undefined) return null;
  const slot = integerOf(value, what);
  return slot > BigInt(Number.MAX_SAFE_INTEGER) ? null : countOf(Number(slot), what);
}

function readRedeemer(value: unknown, what: string): Redeemer {
  const { validator, redeemer, executionUnits } = objectOf(value, what);
  const { purpose: named, index } = objectOf(validator, `${what}.validator`);
  const units = objectOf(executionUnits, `${what}.executionUnits`);
  const purpose = PURPOSES.get(named);
  if (purpose === undefined) throw new Unreadable(`${what} is for an unknown purpose: ${named}`);
  return {
    purpose,
    index: countOf(index, `${what}.validator.index`),
    data: readData(redeemer, `${what}.redeemer`),
    memory: integerOf(units.memory, `${what}.executionUnits.memory`),
    cpu: integerOf(units.cpu, `${what}.executionUnits.cpu`),
  };
}

/** What our reader does not take is none of ours: it must not hold up the chain. */
function readData(value: unknown, what: string): PlutusData {
  const bytes = fromHex(hexOf(value, what));
  try {
    return decodePlutusData(bytes);
  } catch (error) {
    if (error instanceof MalformedCbor || error instanceof RangeError) return [];
    throw error;
  }
}

/** Those of Byron addresses have more to them, and no key that we could use. */
function readWitness(value: unknown, what: string): KeyWitness[] {
  const { key, signature, chainCode } = objectOf(value, what);
  if (chainCode !== undefined) return [];
  return [
    {
      publicKey: hexOf(key, `${what}.key`),
      signature: fromHex(hexOf(signature, `${what}.signature`)),
    },
  ];
}
