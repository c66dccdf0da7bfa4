/** Outputs and values as Ogmios writes them. Source: its schema, cardano.json. */
import { array, byteString, uint } from '../../cardano/codec/encode.ts';
import {
  type ForeignOutput,
  foreignOutput,
  SCRIPT_LANGUAGES,
} from '../../cardano/codec/foreignOutput.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import type { Output, OutputRef } from '../../cardano/codec/output.ts';
import { asValue, type Value } from '../../cardano/codec/value.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { countOf, hexOf, integerOf, listOf, objectOf, textOf, Unreadable } from './json.ts';

const POLICY_BYTES = 28;
const HASH_BYTES = 32;
const DEEPEST_SCRIPT = 64;

export function readRef(value: unknown, what: string): OutputRef {
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
  if (output === null) throw new Unreadable(`${what}.address is no address: ${fields.address}`);
  return output;
}

export function readLovelace(value: unknown, what: string): bigint {
  const { ada } = objectOf(value, what);
  return integerOf(objectOf(ada, `${what}.ada`).lovelace, `${what}.ada.lovelace`);
}

function readValue(value: unknown, what: string): Value {
  const { ada, ...assets } = objectOf(value, what);
  return asValue(readLovelace({ ada }, what), readAssets(assets, what));
}

/**
 * Policies ascending, names by length, then bytes: as canonical CBOR has them. The order in which
 * they stand in a message is not that of the transaction anyway.
 */
export function readAssets(value: unknown, what: string): [AssetId, bigint][] {
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
  if (known === undefined) throw new Unreadable(`${what}.language is unknown: ${language}`);
  if (known === 'native' && cbor === undefined) {
    return { language: known, code: toHex(encodeClause(json, `${what}.json`, DEEPEST_SCRIPT)) };
  }
  return { language: known, code: hexOf(cbor, `${what}.cbor`) };
}

/**
 * Native scripts are told as clauses; their hash is over CBOR. Of one that is deeper than anybody
 * needs only that it is there counts. Source: Conway CDDL.
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
      throw new Unreadable(`${what}.clause is unknown: ${clause}`);
  }
}
