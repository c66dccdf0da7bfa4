/**
 * Blocks, transactions and outputs of all eras, as Ogmios writes them. A transaction with its bytes
 * (`--include-transaction-cbor`) is decoded from them; otherwise `bytes`, `body` and `witnessSet`
 * are empty and the rest is the same. Source: Ogmios's schema, cardano.json.
 */

import { array, byteString, uint } from '../../cardano/codec/encode.ts';
import {
  type ForeignOutput,
  foreignOutput,
  SCRIPT_LANGUAGES,
} from '../../cardano/codec/foreignOutput.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import {
  countOf,
  hexOf,
  integerOf,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
  unreadable,
} from '../../cardano/codec/json.ts';
import { compareRefs, type Output, type OutputRef } from '../../cardano/codec/output.ts';
import { decodePlutusHex, type PlutusData } from '../../cardano/codec/plutusData.ts';
import {
  decodeTransaction,
  type KeyWitness,
  type Redeemer,
  type Transaction,
} from '../../cardano/codec/transaction.ts';
import { asValue, type Value } from '../../cardano/codec/value.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { isFault } from '../../engine/runtime/assert.ts';

const NO_BYTES = new Uint8Array(0);
const HASH_BYTES = 32;
const KEY_HASH_BYTES = 28;

/** Three names differ. */
const PURPOSES: ReadonlyMap<unknown, Redeemer['purpose']> = new Map([
  ['spend', 'spend'],
  ['mint', 'mint'],
  ['publish', 'certificate'],
  ['withdraw', 'reward'],
  ['vote', 'vote'],
  ['propose', 'propose'],
]);

/** Throws `unreadableMessage`. */
export function readTransaction(value: unknown, what: string): Transaction {
  const fields = objectOf(value, what);
  const id = hexOf(fields.id, `${what}.id`, HASH_BYTES);
  return decoded(fields, id, `transaction ${id}`) ?? fromJson(fields, id, `transaction ${id}`);
}

/** null: no bytes, or bytes of an era with another format. */
function decoded({ cbor }: JsonObject, id: string, what: string): Transaction | null {
  if (cbor === undefined) return null;
  try {
    const tx = decodeTransaction(fromHex(hexOf(cbor, `${what}.cbor`)));
    if (tx.id !== id) throw unreadable(`${what}.cbor is that of ${tx.id}`);
    return tx;
  } catch (error) {
    if (isFault(error, 'malformedCbor')) return null;
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
    // Byron transactions state none.
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

function isValid({ spends }: JsonObject, what: string): boolean {
  if (spends === 'inputs') return true;
  if (spends === 'collaterals') return false;
  throw unreadable(`${what}.spends is neither inputs nor collaterals`);
}

/** A slot beyond 2^53 never comes, so it is no bound. */
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
  if (purpose === undefined) throw unreadable(`${what} is for an unknown purpose: ${named}`);
  return {
    purpose,
    index: countOf(index, `${what}.validator.index`),
    data: readData(redeemer, `${what}.redeemer`),
    memory: integerOf(units.memory, `${what}.executionUnits.memory`),
    cpu: integerOf(units.cpu, `${what}.executionUnits.cpu`),
  };
}

/** Data that our reader refuses is none of ours and must not stop the chain. */
function readData(value: unknown, what: string): PlutusData {
  const hex = hexOf(value, what);
  try {
    return decodePlutusHex(hex);
  } catch (error) {
    if (isFault(error, 'malformedCbor') || error instanceof RangeError) return [];
    throw error;
  }
}

/** Skips witnesses of Byron addresses, whose keys we cannot use. */
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

const POLICY_BYTES = 28;
const DEEPEST_SCRIPT = 64;

function readRef(value: unknown, what: string): OutputRef {
  const { transaction, index } = objectOf(value, what);
  const { id } = objectOf(transaction, `${what}.transaction`);
  return {
    txHash: hexOf(id, `${what}.transaction.id`, HASH_BYTES),
    index: countOf(index, `${what}.index`),
  };
}

export function readOutput(value: unknown, what: string): Output {
  const fields = objectOf(value, what);
  const output = foreignOutput({
    address: textOf(fields.address, `${what}.address`),
    value: readValue(fields.value, `${what}.value`),
    datum: readDatum(fields.datum, fields.datumHash, what),
    script: fields.script === undefined ? null : readScript(fields.script, `${what}.script`),
  });
  if (output === null) throw unreadable(`${what}.address is no address: ${fields.address}`);
  return output;
}

function readLovelace(value: unknown, what: string): bigint {
  const { ada } = objectOf(value, what);
  return integerOf(objectOf(ada, `${what}.ada`).lovelace, `${what}.ada.lovelace`);
}

function readValue(value: unknown, what: string): Value {
  const { ada, ...assets } = objectOf(value, what);
  return asValue(readLovelace({ ada }, what), readAssets(assets, what));
}

/**
 * In the order of canonical CBOR: policies ascending, names by length, then bytes. A message does
 * not keep the transaction's order.
 */
function readAssets(value: unknown, what: string): [AssetId, bigint][] {
  const policies = sorted(objectOf(value, what), POLICY_BYTES, what);
  return policies.flatMap(([policy, names]) => {
    const where = `${what}.${policy}`;
    return sorted(objectOf(names, where), undefined, where).map(
      ([name, amount]): [AssetId, bigint] => [
        `${policy}.${name}`,
        integerOf(amount, `${where}.${name}`),
      ],
    );
  });
}

function sorted(object: object, bytes: number | undefined, what: string): [string, unknown][] {
  const entries = Object.entries(object);
  for (const [key] of entries) hexOf(key, `a key of ${what}`, bytes);
  return entries.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
}

function readDatum(inline: unknown, hash: unknown, what: string): ForeignOutput['datum'] {
  if (inline !== undefined && inline !== null) return { inline: hexOf(inline, `${what}.datum`) };
  if (hash === undefined || hash === null) return null;
  return { hash: hexOf(hash, `${what}.datumHash`, HASH_BYTES) };
}

function readScript(value: unknown, what: string): NonNullable<ForeignOutput['script']> {
  const { language, cbor, json } = objectOf(value, what);
  const known = SCRIPT_LANGUAGES.find((each) => each === language);
  if (known === undefined) throw unreadable(`${what}.language is unknown: ${language}`);
  if (known === 'native' && cbor === undefined) {
    return { language: known, code: toHex(encodeClause(json, `${what}.json`, DEEPEST_SCRIPT)) };
  }
  return { language: known, code: hexOf(cbor, `${what}.cbor`) };
}

/**
 * Native scripts come as clauses, and their hash is over CBOR. Below DEEPEST_SCRIPT levels an empty
 * script stands in, so that the output still has one. Source: Conway CDDL.
 */
function encodeClause(value: unknown, what: string, depth: number): Uint8Array {
  if (depth === 0) return array([]);
  const { clause, from, atLeast, slot } = objectOf(value, what);
  const each = () =>
    array(listOf(from, `${what}.from`).map((one) => encodeClause(one, what, depth - 1)));
  switch (clause) {
    case 'signature':
      return array([uint(0), byteString(fromHex(hexOf(from, `${what}.from`, POLICY_BYTES)))]);
    case 'all':
      return array([uint(1), each()]);
    case 'any':
      return array([uint(2), each()]);
    case 'some':
      return array([uint(3), uint(integerOf(atLeast, `${what}.atLeast`)), each()]);
    case 'after':
      return array([uint(4), uint(integerOf(slot, `${what}.slot`))]);
    case 'before':
      return array([uint(5), uint(integerOf(slot, `${what}.slot`))]);
    default:
      throw unreadable(`${what}.clause is unknown: ${clause}`);
  }
}

export interface BlockHeader {
  readonly hash: string;
  /** Of the block before; 'genesis' where there is none (Byron: a hash of its own). */
  readonly ancestor: string;
  readonly height: number;
  /** null: a block between epochs of Byron, which has none. */
  readonly slot: number | null;
  readonly era: string;
}

/** Throws `unreadableMessage`. */
export function readHeader(block: JsonObject): BlockHeader {
  const hash = hexOf(block.id, 'block.id', HASH_BYTES);
  const what = `block ${hash}`;
  return {
    hash,
    ancestor: textOf(block.ancestor, `${what}: ancestor`),
    height: countOf(block.height, `${what}: height`),
    slot: block.type === 'ebb' ? null : countOf(block.slot, `${what}: slot`),
    era: textOf(block.era, `${what}: era`),
  };
}

interface ListedTransaction {
  readonly id: string;
  readonly fields: JsonObject;
}

export function transactionsOf(block: JsonObject, { hash }: BlockHeader): ListedTransaction[] {
  const what = `block ${hash}: transaction`;
  return listOf(block.transactions, `${what}s`).map((value, at) => {
    const fields = objectOf(value, `${what} ${at}`);
    return { id: hexOf(fields.id, `${what} ${at}: id`, HASH_BYTES), fields };
  });
}

/** null: the origin. */
export function readPoint(value: unknown, what: string): { slot: number; hash: string } | null {
  if (value === 'origin') return null;
  const { slot, id } = objectOf(value, what);
  return { slot: countOf(slot, `${what}.slot`), hash: hexOf(id, `${what}.id`, HASH_BYTES) };
}

/** null: the chain has no block. */
export function readTip(value: unknown) {
  const point = readPoint(value, 'tip');
  if (point === null) return null;
  return { ...point, height: countOf(objectOf(value, 'tip').height, 'tip.height') };
}
