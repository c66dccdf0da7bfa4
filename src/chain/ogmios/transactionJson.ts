/**
 * Blocks, transactions and outputs of all eras, as Ogmios writes them. A transaction with its bytes
 * (`--include-transaction-cbor`) is decoded from them; otherwise `bytes`, `body` and `witnessSet`
 * are empty and the rest is the same. Source: Ogmios's schema, cardano.json, 6.14 and 7.0.
 *
 * Nodes grow: a part that is not known here (a redeemer's purpose, a script's language, a clause, a
 * witness) is passed over and reported, and never stops the chain. Inputs, outputs with address and
 * value, and the mint decide the meaning of a transaction; if such a part is unreadable, reading
 * throws.
 */

import { type ForeignOutput, foreignOutput } from '../../cardano/codec/foreignOutput.ts';
import { fromHex, isHex } from '../../cardano/codec/hex.ts';
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
import { type PassedOver, readScript } from './scriptJson.ts';

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
export function readTransaction(value: unknown, what: string, passed: PassedOver): Transaction {
  const fields = objectOf(value, what);
  const id = hexOf(fields.id, `${what}.id`, HASH_BYTES);
  const decodedTransaction = decoded(fields, id, `transaction ${id}`);
  return decodedTransaction ?? fromJson(fields, id, `transaction ${id}`, passed);
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

function fromJson(fields: JsonObject, id: string, what: string, passed: PassedOver): Transaction {
  const refs = (name: string) =>
    listOf(fields[name], `${what}.${name}`).map((ref, at) => readRef(ref, `${what}.${name}.${at}`));
  const { collateralReturn, spends } = fields;
  if (spends !== 'inputs' && spends !== 'collaterals' && spends !== undefined) {
    passed(`a transaction that spends something unknown: ${spends}`);
  }
  const output = (each: unknown, where: string) => readOutput(each, `${what}.${where}`, passed);
  const outputs = listOf(fields.outputs, `${what}.outputs`);
  const aside = new Aside(fields, passed);
  return {
    id,
    bytes: NO_BYTES,
    body: NO_BYTES,
    witnessSet: NO_BYTES,
    // A nested transaction does not say it.
    isValid: spends !== 'collaterals',
    inputs: refs('inputs').sort(compareRefs),
    referenceInputs: aside.each('references', readRef),
    collateralInputs: refs('collaterals'),
    outputs: outputs.map((each, at) => output(each, `outputs.${at}`)),
    collateralReturn:
      collateralReturn === undefined ? null : output(collateralReturn, 'collateralReturn'),
    totalCollateralLovelace: aside.one('totalCollateral', null, readLovelace),
    // Byron transactions state none.
    feeLovelace: aside.one('fee', 0n, readLovelace),
    mint: new Map(readAssets(fields.mint ?? {}, `${what}.mint`, passed)),
    ...aside.one('validityInterval', NO_BOUNDS, readBounds),
    requiredSigners: aside.each('requiredExtraSignatories', (hash, where) =>
      hexOf(hash, where, KEY_HASH_BYTES),
    ),
    hasCertificates: aside.each('certificates', (each) => each).length > 0,
    hasWithdrawals: aside.one('withdrawals', false, holdsAny),
    redeemers: aside.each('redeemers', readRedeemer),
    keyWitnesses: aside.each('signatories', readWitness).flat(),
  };
}

/** Fields that no row of the market depends on: unknown content in them is passed over. */
class Aside {
  readonly #fields: JsonObject;
  readonly #passed: PassedOver;

  constructor(fields: JsonObject, passed: PassedOver) {
    this.#fields = fields;
    this.#passed = passed;
  }

  /** `absent`: where the field is missing or cannot be read. */
  one<T>(name: string, absent: T, read: (value: unknown, what: string) => T): T {
    const value = this.#fields[name];
    if (value === undefined) return absent;
    try {
      return read(value, name);
    } catch (error) {
      if (!isFault(error, 'unreadableMessage')) throw error;
      this.#passed(error.message);
      return absent;
    }
  }

  /** The readable items of a list. */
  each<T>(name: string, read: (value: unknown, what: string) => T): T[] {
    const list = this.one(name, [], listOf);
    return list.flatMap((value) => this.#element(value, name, read));
  }

  #element<T>(value: unknown, name: string, read: (value: unknown, what: string) => T): T[] {
    try {
      return [read(value, name)];
    } catch (error) {
      if (!isFault(error, 'unreadableMessage')) throw error;
      this.#passed(error.message);
      return [];
    }
  }
}

type Bounds = Pick<Transaction, 'validFromSlot' | 'validToSlot'>;

const NO_BOUNDS: Bounds = { validFromSlot: null, validToSlot: null };

function readBounds(value: unknown, what: string): Bounds {
  const { invalidBefore, invalidAfter } = objectOf(value, what);
  return {
    validFromSlot: slotOrNull(invalidBefore, `${what}.invalidBefore`),
    validToSlot: slotOrNull(invalidAfter, `${what}.invalidAfter`),
  };
}

function holdsAny(value: unknown, what: string): boolean {
  return Object.keys(objectOf(value, what)).length > 0;
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
  if (purpose === undefined) throw unreadable(`${what} for an unknown purpose: ${named}`);
  return {
    purpose,
    index: countOf(index, `${what}.validator.index`),
    data: readData(redeemer, `${what}.redeemer`),
    memory: integerOf(units.memory, `${what}.executionUnits.memory`),
    cpu: integerOf(units.cpu, `${what}.executionUnits.cpu`),
  };
}

/** Data that our reader refuses belongs to another program and must not stop the chain. */
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

function readRef(value: unknown, what: string): OutputRef {
  const { transaction, index } = objectOf(value, what);
  const { id } = objectOf(transaction, `${what}.transaction`);
  return {
    txHash: hexOf(id, `${what}.transaction.id`, HASH_BYTES),
    index: countOf(index, `${what}.index`),
  };
}

export function readOutput(value: unknown, what: string, passed: PassedOver): Output {
  const fields = objectOf(value, what);
  const output = foreignOutput({
    address: textOf(fields.address, `${what}.address`),
    value: readValue(fields.value, `${what}.value`, passed),
    datum: readDatum(fields.datum, fields.datumHash, what),
    script: fields.script === undefined ? null : readScript(fields.script, passed),
  });
  if (output === null) throw unreadable(`${what}.address is no address: ${fields.address}`);
  return output;
}

function readLovelace(value: unknown, what: string): bigint {
  const { ada } = objectOf(value, what);
  return integerOf(objectOf(ada, `${what}.ada`).lovelace, `${what}.ada.lovelace`);
}

function readValue(value: unknown, what: string, passed: PassedOver): Value {
  const { ada, ...assets } = objectOf(value, what);
  return asValue(readLovelace({ ada }, what), readAssets(assets, what, passed));
}

/**
 * In the order of canonical CBOR: policies ascending, names by length, then bytes. A message does
 * not keep the transaction's order.
 */
function readAssets(value: unknown, what: string, passed: PassedOver): [AssetId, bigint][] {
  const policies = byPolicy(objectOf(value, what), passed);
  return policies.flatMap(([policy, names]) => {
    const where = `${what}.${policy}`;
    return sorted(objectOf(names, where), where).map(([name, amount]): [AssetId, bigint] => [
      `${policy}.${name}`,
      integerOf(amount, `${where}.${name}`),
    ]);
  });
}

/** The tokens of a value, by policy id; a key that is not a policy id is passed over. */
function byPolicy(object: JsonObject, passed: PassedOver): [string, unknown][] {
  const policies = Object.entries(object).filter(([key]) => {
    const isPolicy = key.length === 2 * POLICY_BYTES && isHex(key);
    if (!isPolicy) passed(`a value with the unknown key ${key}`);
    return isPolicy;
  });
  return inOrder(policies);
}

function sorted(object: JsonObject, what: string): [string, unknown][] {
  for (const key in object) hexOf(key, `a key of ${what}`);
  return inOrder(Object.entries(object));
}

function inOrder(entries: [string, unknown][]): [string, unknown][] {
  return entries.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
}

function readDatum(inline: unknown, hash: unknown, what: string): ForeignOutput['datum'] {
  if (inline !== undefined && inline !== null) return { inline: hexOf(inline, `${what}.datum`) };
  if (hash === undefined || hash === null) return null;
  return { hash: hexOf(hash, `${what}.datumHash`, HASH_BYTES) };
}

export interface BlockHeader {
  readonly hash: string;
  /** Hash of the block before; 'genesis' before the first one (in Byron, a hash). */
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
  return listOf(block.transactions, `${what}s`).flatMap((value, at) =>
    withSubTransactions(objectOf(value, `${what} ${at}`), `${what} ${at}`),
  );
}

/**
 * The transactions nested in a transaction (from Dijkstra on), then the transaction itself. Each
 * has its own id, inputs and outputs. If the outer one failed, the nested ones have no effect.
 */
export function withSubTransactions(fields: JsonObject, what: string): ListedTransaction[] {
  const own = { id: hexOf(fields.id, `${what}: id`, HASH_BYTES), fields };
  if (fields.subTransactions === undefined || fields.spends === 'collaterals') return [own];
  const nested = listOf(fields.subTransactions, `${what}: subTransactions`);
  return [
    ...nested.flatMap((value, at) => {
      const where = `${what}: subTransactions.${at}`;
      return withSubTransactions(objectOf(value, where), where);
    }),
    own,
  ];
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
