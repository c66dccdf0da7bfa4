/**
 * Reference scripts as Ogmios writes them. A script in an unknown language or with an unknown
 * clause is reported and kept as a script of unknown content; its output keeps its value and datum.
 */
import { array, byteString, uint } from '../../cardano/codec/encode.ts';
import {
  type ForeignScript,
  SCRIPT_LANGUAGES,
  UNKNOWN_SCRIPT_HASH,
} from '../../cardano/codec/foreignOutput.ts';
import { languageScriptHash } from '../../cardano/codec/hash.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import {
  hexOf,
  integerOf,
  listOf,
  objectOf,
  textOf,
  unreadable,
} from '../../cardano/codec/json.ts';
import { isFault } from '../../engine/runtime/assert.ts';

const KEY_HASH_BYTES = 28;
const DEEPEST_SCRIPT = 64;
/** Each language's number stands before the code that is hashed: Conway CDDL. */
const PLUTUS = /^plutus:v(\d{1,3})$/;

/** Called for a part that was passed over: `part` names the field and its unknown content. */
export type PassedOver = (part: string) => void;

/** A script that is not known here stays one: its output is not spent without its owner. */
export function readScript(value: unknown, passed: PassedOver): ForeignScript {
  try {
    const { language, cbor, json } = objectOf(value, 'script');
    const known = SCRIPT_LANGUAGES.find((each) => each === language);
    if (known === 'native' && cbor === undefined) {
      return { language: known, code: toHex(encodeClause(json, 'native script', DEEPEST_SCRIPT)) };
    }
    const code = hexOf(cbor, `script in ${language}`);
    if (known !== undefined) return { language: known, code };
    passed(`script in an unknown language: ${language}`);
    const tag = Number(PLUTUS.exec(textOf(language, 'language of a script'))?.[1] ?? Number.NaN);
    const isPlutus = tag >= SCRIPT_LANGUAGES.length && tag < 256;
    return { hash: isPlutus ? languageScriptHash(tag, fromHex(code)) : UNKNOWN_SCRIPT_HASH };
  } catch (error) {
    if (!isFault(error, 'unreadableMessage')) throw error;
    passed(error.message);
    return { hash: UNKNOWN_SCRIPT_HASH };
  }
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
      return array([uint(0), byteString(fromHex(hexOf(from, `${what}.from`, KEY_HASH_BYTES)))]);
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
      throw unreadable(`${what} with an unknown clause: ${clause}`);
  }
}
