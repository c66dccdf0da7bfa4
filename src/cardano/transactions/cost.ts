/**
 * The ledger's rules for the cost of a transaction: its least fee, and the least an output holds.
 */

import { ceilDivide } from '../../engine/market/ratio.ts';
import { bytesOf, span } from '../codec/cbor.ts';
import { encodeOutput } from '../codec/encode.ts';
import { type Output, referenceScriptOf } from '../codec/output.ts';
import { totalUnits, type Units } from '../codec/transaction.ts';
import type { ProtocolParameters } from '../ledger/parameters.ts';
import type { PlannedOutput } from './plan.ts';

/** Every output costs as if it had this many bytes more. Source: Babbage, `utxoEntrySize`. */
const ENTRY_BYTES = 160n;
const NATIVE = 0;

function unitsLovelace(parameters: ProtocolParameters, units: readonly Units[]): bigint {
  const { memoryPrice, cpuPrice } = parameters;
  const { memory, cpu } = totalUnits(units);
  return ceilDivide(
    memory * memoryPrice.numerator * cpuPrice.denominator +
      cpu * cpuPrice.numerator * memoryPrice.denominator,
    memoryPrice.denominator * cpuPrice.denominator,
  );
}

/** Rounded down once, over all tiers. Source: Conway, `tierRefScriptFee`. */
export function referencesLovelace(parameters: ProtocolParameters, scriptBytes: bigint): bigint {
  const { referenceByteLovelace, referenceTierBytes } = parameters;
  let [price, scale, sum, left] = [referenceByteLovelace, 1n, 0n, scriptBytes];
  while (left > referenceTierBytes) {
    sum = (sum + referenceTierBytes * price) * 5n;
    [price, scale, left] = [price * 6n, scale * 5n, left - referenceTierBytes];
  }
  return (sum + left * price) / scale;
}

export function minFee(
  parameters: ProtocolParameters,
  sizeBytes: number,
  units: readonly Units[],
  referencedBytes: bigint,
): bigint {
  return (
    parameters.feeFixedLovelace +
    parameters.feePerByteLovelace * BigInt(sizeBytes) +
    unitsLovelace(parameters, units) +
    referencesLovelace(parameters, referencedBytes)
  );
}

/** The least lovelace that `output` may hold, whatever amount is in it now. */
export function minLovelace(parameters: ProtocolParameters, output: PlannedOutput): bigint {
  // The amount's own length counts: begin with the shortest that any least amount has.
  let lovelace = 1_000_000n;
  for (;;) {
    const bytes = encodeOutput({ ...output, value: { ...output.value, lovelace } }).length;
    const least = (ENTRY_BYTES + BigInt(bytes)) * parameters.outputByteLovelace;
    if (least <= lovelace) return least;
    lovelace = least;
  }
}

/** Length of the script that lies in `output`, anybody's of any language; 0 without one. */
export function scriptBytes(output: Output): bigint {
  const found = referenceScriptOf(output);
  if (found === null) return 0n;
  const { language, bytes, script } = found;
  const code = language === NATIVE ? span(bytes, script) : bytesOf(bytes, script);
  return BigInt(code.length);
}
