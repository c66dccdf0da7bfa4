/**
 * Our transactions and blocks as Ogmios writes them: empty fields are left out, inputs are in the
 * ledger's order. `cbor` only on demand, as with `--include-transaction-cbor`. Fields that our own
 * reader skips (scripts, datums, metadata, withdrawals) are read from the bytes, if there are any.
 */
import { bech32 } from '@scure/base';
import {
  ARRAY,
  bytesOf,
  elementsOf,
  entriesOf,
  type Item,
  integerOf,
  numberOf,
  readCbor,
  setElementsOf,
  span,
} from '../../cardano/codec/cbor.ts';
import { blake2b256, languageScriptHash } from '../../cardano/codec/hash.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import {
  adaJson,
  assetsJson,
  outputJson,
  refJson,
  scriptJson,
} from '../../cardano/codec/outputJson.ts';
import { encodePlutusData } from '../../cardano/codec/plutusData.ts';
import {
  metadataLabels,
  type Transaction,
  witnessDatums,
} from '../../cardano/codec/transaction.ts';
import { type JsonValue, jsonText } from '../../engine/runtime/exactJson.ts';
import type { BlockHead } from '../ledgerFile.ts';
import type { ServedTransaction } from './served.ts';

type Members = Readonly<Record<string, JsonValue | undefined>>;

/** The JSON of Ogmios 6.14 or of 7.0. */
export type OgmiosMajor = 6 | 7;

export interface TransactionOptions {
  readonly includeCbor?: boolean;
  /** Absent: 6. */
  readonly ogmiosMajor?: OgmiosMajor;
}

export function servedTransaction(
  tx: Transaction,
  options: TransactionOptions = {},
): ServedTransaction {
  const text = jsonText(transactionJson(tx, options));
  return { id: tx.id, bytes: tx.bytes.length || Math.ceil(text.length / 4), text };
}

export function transactionJson(
  tx: Transaction,
  { includeCbor = false, ogmiosMajor = 6 }: TransactionOptions = {},
): JsonValue {
  return {
    id: tx.id,
    spends: tx.isValid ? 'inputs' : 'collaterals',
    inputs: tx.inputs.map(refJson),
    references: unlessEmpty(tx.referenceInputs.map(refJson)),
    collaterals: unlessEmpty(tx.collateralInputs.map(refJson)),
    totalCollateral:
      tx.totalCollateralLovelace === null ? undefined : adaJson(tx.totalCollateralLovelace),
    collateralReturn: tx.collateralReturn === null ? undefined : outputJson(tx.collateralReturn),
    // From 7.0 on an empty list is left out.
    outputs: ogmiosMajor === 7 && tx.outputs.length === 0 ? undefined : tx.outputs.map(outputJson),
    fee: adaJson(tx.feeLovelace),
    validityInterval:
      tx.validFromSlot === null && tx.validToSlot === null ? undefined : intervalJson(tx),
    mint: tx.mint.size === 0 ? undefined : assetsJson(tx.mint),
    requiredExtraSignatories: unlessEmpty(tx.requiredSigners),
    redeemers: unlessEmpty(redeemersJson(tx)),
    signatories: tx.keyWitnesses.map(({ publicKey, signature }) => ({
      key: publicKey,
      signature: toHex(signature),
    })),
    ...fromBytes(tx),
    cbor: includeCbor && tx.bytes.length > 0 ? toHex(tx.bytes) : undefined,
  };
}

function unlessEmpty(list: readonly JsonValue[]): readonly JsonValue[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Read from the bytes, if there are any, because a slot may exceed 2^53. */
export function intervalJson(tx: Transaction): Members {
  const body = tx.body.length === 0 ? null : fieldsOf(tx.body, readCbor(tx.body));
  const slot = (key: number, known: number | null): bigint | number | undefined => {
    const written = body?.get(key);
    return written === undefined ? (known ?? undefined) : integerOf(tx.body, written);
  };
  return { invalidBefore: slot(8, tx.validFromSlot), invalidAfter: slot(3, tx.validToSlot) };
}

/** Ogmios' names for the purposes of scripts. */
export const PURPOSES: Readonly<Record<string, string>> = {
  spend: 'spend',
  mint: 'mint',
  certificate: 'publish',
  reward: 'withdraw',
  vote: 'vote',
  propose: 'propose',
};

function redeemersJson(tx: Transaction): JsonValue[] {
  const written = redeemerBytes(tx);
  return tx.redeemers.map(({ purpose, index, data, memory, cpu }, at) => ({
    validator: { purpose: PURPOSES[purpose] ?? purpose, index },
    redeemer: toHex(written[at] ?? encodePlutusData(data)),
    executionUnits: { memory, cpu },
  }));
}

/** As they stand in the witness set: a list of tuples, or a map from (purpose, index). */
function redeemerBytes({ witnessSet }: Transaction): Uint8Array[] {
  const item =
    witnessSet.length === 0 ? undefined : fieldsOf(witnessSet, readCbor(witnessSet)).get(5);
  if (item === undefined) return [];
  const data =
    item.major === ARRAY
      ? item.items.map((tuple) => elementsOf(tuple)[2])
      : entriesOf(item).map(([, value]) => elementsOf(value)[0]);
  return data.flatMap((each) => (each === undefined ? [] : [span(witnessSet, each)]));
}

function fromBytes(tx: Transaction): Members {
  if (tx.bytes.length === 0) return {};
  const body = fieldsOf(tx.body, readCbor(tx.body));
  const integrity = body.get(11);
  const withdrawals = body.get(5);
  return {
    scriptIntegrityHash: integrity && toHex(bytesOf(tx.body, integrity)),
    withdrawals: withdrawals && withdrawalsJson(tx.body, withdrawals),
    ...witnessJson(tx.witnessSet),
    metadata: metadataJson(tx, body.get(7)),
  };
}

function fieldsOf(bytes: Uint8Array, map: Item): Map<number, Item> {
  return new Map(entriesOf(map).map(([key, value]) => [numberOf(bytes, key), value]));
}

function withdrawalsJson(bytes: Uint8Array, map: Item): JsonValue {
  return Object.fromEntries(
    entriesOf(map).map(([account, amount]) => {
      return [rewardAccountText(bytesOf(bytes, account)), adaJson(integerOf(bytes, amount))];
    }),
  );
}

export function rewardAccountText(account: Uint8Array): string {
  const prefix = ((account[0] ?? 0) & 15) === 1 ? 'stake' : 'stake_test';
  return bech32.encode(prefix, bech32.toWords(account), 200);
}

/** Key of the witness set, and the language of the scripts there. */
const SCRIPTS = [
  [1, 0],
  [3, 1],
  [6, 2],
  [7, 3],
] as const;

function witnessJson(bytes: Uint8Array): Members {
  const fields = fieldsOf(bytes, readCbor(bytes));
  const listed = (key: number) => {
    const list = fields.get(key);
    return list === undefined ? [] : setElementsOf(list);
  };
  const scripts = SCRIPTS.flatMap(([key, language]) =>
    listed(key).map((script) => {
      const content = language === 0 ? span(bytes, script) : bytesOf(bytes, script);
      return [
        languageScriptHash(language, content),
        scriptJson({ bytes, script, language }),
      ] as const;
    }),
  );
  const datums = witnessDatums(bytes, readCbor(bytes)).map(
    ([hash, datum]) => [hash, toHex(datum)] as const,
  );
  return {
    scripts: scripts.length === 0 ? undefined : Object.fromEntries(scripts),
    datums: datums.length === 0 ? undefined : Object.fromEntries(datums),
  };
}

/** Labels are given as CBOR alone, as Ogmios does where JSON could not say them. */
function metadataJson({ bytes, body }: Transaction, hash: Item | undefined): Members | undefined {
  const auxiliary = elementsOf(readCbor(bytes))[3];
  const map = auxiliary === undefined ? undefined : metadataLabels(bytes, auxiliary);
  if (hash === undefined || map === undefined) return undefined;
  const labels = entriesOf(map).map(([label, content]) => {
    return [String(integerOf(bytes, label)), { cbor: toHex(span(bytes, content)) }] as const;
  });
  return { hash: toHex(bytesOf(body, hash)), labels: Object.fromEntries(labels) };
}

/**
 * A block's JSON as Ogmios writes it. The devnet has no stake pools: the issuer in a header is
 * derived from the block's hash, so that it has the right shape and never changes.
 */
export function blockText(
  { height, slot, hash }: BlockHead,
  parent: BlockHead | null,
  transactions: readonly ServedTransaction[],
): string {
  const proof = { output: bytes(64, hash, 'output'), proof: bytes(80, hash, 'proof') };
  const head = {
    type: 'praos',
    era: 'conway',
    id: hash,
    ancestor: parent?.hash ?? 'genesis',
    height,
    size: { bytes: transactions.reduce((sum, each) => sum + each.bytes, 0) },
    slot,
    protocol: { version: { major: 10, minor: 0 } },
    issuer: {
      verificationKey: bytes(32, '', 'issuer'),
      vrfVerificationKey: bytes(32, '', 'vrf'),
      leaderValue: proof,
      operationalCertificate: {
        count: 0,
        sigma: bytes(64, '', 'sigma'),
        kes: { period: 0, verificationKey: bytes(32, '', 'kes') },
      },
    },
  };
  const list = transactions.map(({ text }) => text).join();
  return `${jsonText(head).slice(0, -1)},"transactions":[${list}]}`;
}

function bytes(count: number, hash: string, what: string): string {
  const seed = Buffer.from(`${hash} ${what}`);
  return blake2b256(seed)
    .repeat(Math.ceil(count / 32))
    .slice(0, 2 * count);
}
