/**
 * Orders that may be executed in parts, as mainnet's earlier validators hold them: twelve fields,
 * read strictly. Tag 00 is a limit order, tag 01 the first form of the instant order. A part that
 * is executed leaves an output with the same datum, but for the amount and the fee that are left.
 * Source: onchain.md, "Mainnet before the instant order".
 */
import type { AssetId } from '../../engine/market/asset.ts';
import type { Address } from '../codec/address.ts';
import { blake2b224 } from '../codec/hash.ts';
import { fromHex, toHex } from '../codec/hex.ts';
import type { OutputRef } from '../codec/output.ts';
import { Constr, encodePlutusData, type PlutusData } from '../codec/plutusData.ts';
import { addressData, assetData, fieldsOf, readAddressData, readAssetData } from './datums.ts';

interface PartialOrderDatum {
  readonly tag: '00' | '01';
  /** The same in every output of an order, hex. */
  readonly beacon: string;
  readonly redeemer: Address;
  readonly input: AssetId;
  readonly output: AssetId;
  /** The amount that is still offered. */
  readonly amount: bigint;
  /** For the executor of one step; paid beside the fee. */
  readonly stepLovelace: bigint;
  /** The remaining fee for all steps. */
  readonly feeLovelace: bigint;
  /** That each step must bring; 0 where the datum has none. */
  readonly minPartOutput: bigint;
  /** Output per input, at worst. */
  readonly worstPrice: { readonly numerator: bigint; readonly denominator: bigint };
  /** Empty: anybody may execute it. */
  readonly executors: readonly string[];
  /** The owner may cancel it from then on; 0: at any time. */
  readonly cancelAfterMs: bigint;
  readonly owner: string;
}

/** A reader of the fields behind the tag, as one object by name. */
const LAYOUTS = {
  '00': [
    ...['beacon', 'input', 'amount', 'step', 'minPartOutput', 'output', 'price', 'fee'],
    ...['redeemer', 'owner', 'executors'],
  ],
  '01': [
    ...['redeemer', 'input', 'amount', 'step', 'output', 'price', 'fee', 'executors'],
    ...['cancelAfter', 'owner', 'beacon'],
  ],
} as const;

const FIELDS = 12;

/** Checks only the layout: an owner may also take back an order beyond the bounds. */
export function readPartialOrder(
  data: PlutusData | null,
  network: Address['network'],
): PartialOrderDatum | null {
  const [tag, ...values] = fieldsOf(data, FIELDS) ?? [];
  if (tag !== '00' && tag !== '01') return null;
  const named = Object.fromEntries(LAYOUTS[tag].map((name, at) => [name, values[at]]));
  const { amount, step, fee, cancelAfter = 0n, minPartOutput = 0n } = named;
  const redeemer = readAddressData(named.redeemer, network);
  const [input, output] = [readAssetData(named.input), readAssetData(named.output)];
  const [numerator, denominator] = fieldsOf(named.price, 2) ?? [];
  const executors = typeof named.executors === 'string' ? [named.executors] : named.executors;
  const [beacon, owner] = [readHash(named.beacon), readHash(named.owner)];
  if (redeemer === null || input === null || output === null) return null;
  if (typeof amount !== 'bigint' || typeof step !== 'bigint') return null;
  if (typeof fee !== 'bigint' || typeof cancelAfter !== 'bigint') return null;
  if (typeof minPartOutput !== 'bigint') return null;
  if (typeof numerator !== 'bigint' || typeof denominator !== 'bigint') return null;
  if (beacon === null || owner === null || !Array.isArray(executors)) return null;
  const hashes = executors.map(readHash);
  if (hashes.includes(null)) return null;
  return {
    ...{ tag, beacon, redeemer, input, output, amount, minPartOutput, owner },
    ...{ stepLovelace: step, feeLovelace: fee, cancelAfterMs: cancelAfter },
    worstPrice: { numerator, denominator },
    executors: hashes.flatMap((hash) => hash ?? []),
  };
}

function readHash(data: PlutusData | undefined): string | null {
  return typeof data === 'string' && data.length === 56 ? data : null;
}

const NO_BEACON = '00'.repeat(28);

/**
 * Whether the beacon in a datum matches a new order in output `outputIndex`: a hash over one of the
 * transaction's inputs, the output's index, and the datum with zeros for the beacon. Executors
 * accept no other beacon, so no order can pose as another's successor.
 */
export function isNewBeacon(
  beacon: string,
  datumHex: string,
  inputs: readonly OutputRef[],
  outputIndex: number,
): boolean {
  const unnamed = datumHash(datumHex.replace(`581c${beacon}`, `581c${NO_BEACON}`));
  return inputs.some((input) => beaconOf(unnamed, input, outputIndex) === beacon);
}

function datumHash(datumHex: string): Uint8Array {
  return fromHex(blake2b224(fromHex(datumHex)));
}

/** `unnamed`: hash of the datum with zeros for the beacon. */
function beaconOf(unnamed: Uint8Array, input: OutputRef, outputIndex: number): string {
  const message = new Uint8Array(76);
  message.set(fromHex(input.txHash), 0);
  const indexes = new DataView(message.buffer, 32);
  indexes.setBigUint64(0, BigInt(input.index));
  indexes.setBigUint64(8, BigInt(outputIndex));
  message.set(unnamed, 48);
  return blake2b224(message);
}

/** A limit order as it is placed; no executor takes one whose `minPartOutput` is 0. */
export type LimitOrder = Omit<PartialOrderDatum, 'tag' | 'beacon' | 'cancelAfterMs'>;

/** The datum of a limit order in output `outputIndex`, CBOR hex, named after an input. */
export function newLimitOrder(
  order: LimitOrder,
  input: OutputRef,
  outputIndex: number,
): { readonly datum: string; readonly beacon: string } {
  const unnamed = datumHash(limitOrderText(order, NO_BEACON));
  const beacon = beaconOf(unnamed, input, outputIndex);
  return { datum: limitOrderText(order, beacon), beacon };
}

function limitOrderText(order: LimitOrder, beacon: string): string {
  const { numerator, denominator } = order.worstPrice;
  const values: Record<(typeof LAYOUTS)['00'][number], PlutusData> = {
    ...{ beacon, input: assetData(order.input), amount: order.amount },
    ...{ step: order.stepLovelace, minPartOutput: order.minPartOutput },
    ...{ output: assetData(order.output), price: new Constr(0, [numerator, denominator]) },
    ...{ fee: order.feeLovelace, redeemer: addressData(order.redeemer) },
    ...{ owner: order.owner, executors: order.executors },
  };
  const fields = LAYOUTS['00'].map((name) => values[name]);
  return toHex(encodePlutusData(new Constr(0, ['00', ...fields])));
}
