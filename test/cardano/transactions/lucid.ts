/**
 * Lucid's own evaluator (Aiken's machine) on bytes that are finished: the second opinion.
 *
 * Its `serialiseData` gives data back as it was written, where the chain always writes non-empty
 * lists indefinite. Our redeemers are definite, so for it they are written as the chain would;
 * what scripts see is the same data.
 */
import { CML } from '@lucid-evolution/lucid';
import { eval_phase_two_raw } from '@lucid-evolution/uplc';
import {
  elementsOf,
  entriesOf,
  numberOf,
  readCbor,
  span,
} from '../../../src/cardano/codec/cbor.ts';
import { array, encodeRef, integer, map } from '../../../src/cardano/codec/encode.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import type { Utxo } from '../../../src/cardano/codec/output.ts';
import { decodePlutusData, encodePlutusData } from '../../../src/cardano/codec/plutusData.ts';
import type { ProtocolParameters } from '../../../src/cardano/ledger/parameters.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { SLOTS } from './world.ts';

/** `memory/cpu` by `purpose index`; throws where a script fails. */
export function budgetsByLucid(
  bytes: Uint8Array,
  utxos: readonly Utxo[],
  { costModels, maxCpu, maxMemory }: ProtocolParameters = PARAMETERS,
): Map<string, string> {
  const ran = eval_phase_two_raw(
    chainForm(bytes),
    utxos.map(({ ref }) => encodeRef(ref)),
    utxos.map(({ output }) => fromHex(output.cbor)),
    map(costModels.map((costs, language) => [integer(language), array(costs.map(integer))])),
    maxCpu,
    maxMemory,
    BigInt(SLOTS.zeroTimeMs),
    BigInt(SLOTS.zeroSlot),
    SLOTS.slotLengthMs,
  );
  return new Map(
    ran.map((each: Uint8Array): [string, string] => {
      const redeemer = CML.LegacyRedeemer.from_cbor_bytes(each);
      const purpose = redeemer.tag() === CML.RedeemerTag.Mint ? 'mint' : 'spend';
      const units = redeemer.ex_units();
      return [`${purpose} ${redeemer.index()}`, `${units.mem()}/${units.steps()}`];
    }),
  );
}

function chainForm(bytes: Uint8Array): Uint8Array {
  const [, witnessSet] = elementsOf(readCbor(bytes));
  const field = witnessSet && entriesOf(witnessSet).find(([key]) => numberOf(bytes, key) === 5);
  if (!field) return bytes;
  const [, redeemers] = field;
  const rewritten = entriesOf(redeemers).map(([key, value]): [Uint8Array, Uint8Array] => {
    const [data, units] = elementsOf(value);
    if (!data || !units) throw new Error('half a redeemer');
    const written = encodePlutusData(decodePlutusData(span(bytes, data)));
    return [span(bytes, key), array([written, span(bytes, units)])];
  });
  const before = bytes.subarray(0, redeemers.start);
  return Buffer.concat([before, map(rewritten), bytes.subarray(redeemers.end)]);
}
