/** What the ledger asks of a transaction: its least fee, and the least an output holds. */

import { ceilDivide } from '../../engine/market/ratio.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { bytesOf, elementsOf, entriesOf, numberOf, readCbor } from '../codec/cbor.ts';
import { fromHex } from '../codec/hex.ts';
import type { Output } from '../codec/output.ts';
import type { ProtocolParameters } from '../ledger/parameters.ts';
import { outputCbor } from './encode.ts';
import type { PlannedOutput } from './plan.ts';

/** Every output costs as if it had this many bytes more. Source: Babbage, `utxoEntrySize`. */
const ENTRY_BYTES = 160n;
const SCRIPT_FIELD = 3;
const PLUTUS_V2 = 2;

export interface Units {
  readonly memory: bigint;
  readonly cpu: bigint;
}

function unitsLovelace(parameters: ProtocolParameters, units: readonly Units[]): bigint {
  const { memoryPrice, cpuPrice } = parameters;
  const memory = units.reduce((sum, each) => sum + each.memory, 0n);
  const cpu = units.reduce((sum, each) => sum + each.cpu, 0n);
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

export function leastFee(
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

/** The least lovelace that `output` may hold, whatever it is given now. */
export function leastLovelace(parameters: ProtocolParameters, output: PlannedOutput): bigint {
  // The amount's own length counts: begin with the shortest that any least amount has.
  let lovelace = 1_000_000n;
  for (;;) {
    const bytes = outputCbor({ ...output, value: { ...output.value, lovelace } }).length;
    const least = (ENTRY_BYTES + BigInt(bytes)) * parameters.outputByteLovelace;
    if (least <= lovelace) return least;
    lovelace = least;
  }
}

/** Length of the script that lies in `output`; 0 without one. */
export function scriptBytes({ cbor, scriptHash }: Output): bigint {
  if (scriptHash === null) return 0n;
  const bytes = fromHex(cbor);
  const field = entriesOf(readCbor(bytes)).find(([key]) => numberOf(bytes, key) === SCRIPT_FIELD);
  const [content] = field?.[1].items ?? [];
  assert(content !== undefined, 'an output with a script has it in field 3');
  const inner = bytesOf(bytes, content);
  const [language, script] = elementsOf(readCbor(inner));
  assert(language !== undefined && script !== undefined, 'a script has a language');
  assert(numberOf(inner, language) === PLUTUS_V2, 'our scripts are PlutusV2');
  return BigInt(bytesOf(inner, script).length);
}
