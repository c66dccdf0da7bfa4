/**
 * Transactions as text, to cross from the node's thread to the main one: a text is copied whole,
 * while a clone of objects is built field by field, on both sides, and costs four times as much.
 * The text is parsed when its block is applied, so waiting blocks do not fill the old generation.
 *
 * Amounts are digits, bytes and Plutus data hex; lists stand for objects.
 */
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import type { Output, OutputRef } from '../../cardano/codec/output.ts';
import { decodePlutusHex, encodePlutusData } from '../../cardano/codec/plutusData.ts';
import type { Redeemer, Transaction } from '../../cardano/codec/transaction.ts';

type Ref = readonly [txHash: string, index: number];
type Assets = readonly (readonly [asset: string, amount: string])[];
type OutputRow = readonly [
  address: string,
  lovelace: string,
  assets: Assets,
  datum: string | null,
  scriptHash: string | null,
  cbor: string,
];
type RedeemerRow = readonly [
  purpose: Redeemer['purpose'],
  index: number,
  data: string,
  memory: string,
  cpu: string,
];
type Row = readonly [
  head: readonly [
    id: string,
    isValid: boolean,
    fee: string,
    bytes: string,
    body: string,
    witnessSet: string,
  ],
  inputs: readonly Ref[],
  referenceInputs: readonly Ref[],
  collateralInputs: readonly Ref[],
  outputs: readonly OutputRow[],
  collateralReturn: OutputRow | null,
  totalCollateral: string | null,
  mint: Assets,
  validity: readonly [from: number | null, to: number | null],
  requiredSigners: readonly string[],
  hasCertificates: boolean,
  hasWithdrawals: boolean,
  redeemers: readonly RedeemerRow[],
  keyWitnesses: readonly (readonly [publicKey: string, signature: string])[],
];

/** JSON; the texts of several, with commas between and brackets around them, are a list. */
export function transactionText(tx: Transaction): string {
  const { collateralReturn, totalCollateralLovelace } = tx;
  const bytes = [toHex(tx.bytes), toHex(tx.body), toHex(tx.witnessSet)] as const;
  const row: Row = [
    [tx.id, tx.isValid, String(tx.feeLovelace), ...bytes],
    tx.inputs.map(refRow),
    tx.referenceInputs.map(refRow),
    tx.collateralInputs.map(refRow),
    tx.outputs.map(outputRow),
    collateralReturn === null ? null : outputRow(collateralReturn),
    totalCollateralLovelace === null ? null : String(totalCollateralLovelace),
    assetsRow(tx.mint),
    [tx.validFromSlot, tx.validToSlot],
    tx.requiredSigners,
    tx.hasCertificates,
    tx.hasWithdrawals,
    tx.redeemers.map(({ purpose, index, data, memory, cpu }): RedeemerRow => {
      return [purpose, index, toHex(encodePlutusData(data)), String(memory), String(cpu)];
    }),
    tx.keyWitnesses.map(({ publicKey, signature }) => [publicKey, toHex(signature)]),
  ];
  return JSON.stringify(row);
}

/** Parses a list of transactions. */
export function readTransactionTexts(list: string): Transaction[] {
  // trust: written by `transactionText`, in a thread of ours
  return (JSON.parse(list) as readonly Row[]).map(readRow);
}

function readRow(row: Row): Transaction {
  const [head, inputs, references, collaterals, outputs, ...others] = row;
  const [id, isValid, fee, bytes, body, witnessSet] = head;
  const [collateralReturn, totalCollateral, mint, [validFromSlot, validToSlot], ...more] = others;
  const [requiredSigners, hasCertificates, hasWithdrawals, redeemers, keyWitnesses] = more;
  return {
    id,
    bytes: bytesOf(bytes),
    body: bytesOf(body),
    witnessSet: bytesOf(witnessSet),
    isValid,
    inputs: inputs.map(readRef),
    referenceInputs: references.map(readRef),
    collateralInputs: collaterals.map(readRef),
    outputs: outputs.map(readOutput),
    collateralReturn: collateralReturn === null ? null : readOutput(collateralReturn),
    totalCollateralLovelace: totalCollateral === null ? null : BigInt(totalCollateral),
    feeLovelace: BigInt(fee),
    mint: readAssets(mint),
    validFromSlot,
    validToSlot,
    requiredSigners,
    hasCertificates,
    hasWithdrawals,
    redeemers: redeemers.map(([purpose, index, data, memory, cpu]) => {
      const units = { memory: BigInt(memory), cpu: BigInt(cpu) };
      return { purpose, index, data: decodePlutusHex(data), ...units };
    }),
    keyWitnesses: keyWitnesses.map(([publicKey, signature]) => {
      return { publicKey, signature: fromHex(signature) };
    }),
  };
}

const NO_BYTES = new Uint8Array(0);

function bytesOf(hex: string): Uint8Array {
  return hex === '' ? NO_BYTES : fromHex(hex);
}

function refRow({ txHash, index }: OutputRef): Ref {
  return [txHash, index];
}

function readRef([txHash, index]: Ref): OutputRef {
  return { txHash, index };
}

function assetsRow(assets: ReadonlyMap<string, bigint>): Assets {
  const row: [string, string][] = [];
  for (const [asset, amount] of assets) row.push([asset, String(amount)]);
  return row;
}

function readAssets(row: Assets): Map<string, bigint> {
  const assets = new Map<string, bigint>();
  for (const [asset, amount] of row) assets.set(asset, BigInt(amount));
  return assets;
}

function outputRow({ address, value, datum, scriptHash, cbor }: Output): OutputRow {
  return [address, String(value.lovelace), assetsRow(value.assets), datum, scriptHash, cbor];
}

function readOutput([address, lovelace, assets, datum, scriptHash, cbor]: OutputRow): Output {
  const value = { lovelace: BigInt(lovelace), assets: readAssets(assets) };
  return { address, value, datum, scriptHash, cbor };
}
