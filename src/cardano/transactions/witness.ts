/**
 * Signatures put into a transaction without touching anything else: the body's bytes stay as they
 * came, existing witnesses too, whatever form (set tags, indefinite lengths) their writer chose.
 */

import { createPublicKey, verify } from 'node:crypto';
import { isFault } from '../../engine/runtime/assert.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import {
  ARRAY,
  cborHead,
  elementsOf,
  entriesOf,
  type Item,
  MAP,
  malformedCbor,
  numberOf,
  readCbor,
  TAG,
} from '../codec/cbor.ts';
import { array, byteString, hexString, integer } from '../codec/encode.ts';
import { fromHex, isHex } from '../codec/hex.ts';
import { decodeTransaction, type KeyWitness, readKeyWitnesses } from '../codec/transaction.ts';

/** DER before the 32 raw bytes of a public key. Source: RFC 8410, section 4. */
const PUBLIC_DER = '302a300506032b6570032100';
const INDEFINITE = -1n;
const KEY_WITNESSES = 0;
/** Each witness costs a verification. No wallet signs with more keys. */
const MAX_WITNESSES = 50;

/**
 * Merges the key witnesses of `witnessSetHex`; other contents are ignored. Every signature is
 * checked against the body as received first.
 */
export function mergeWitnesses(
  transaction: Uint8Array,
  witnessSetHex: string,
): Uint8Array | Failure {
  try {
    const { id } = decodeTransaction(transaction);
    const witnesses = keyWitnessesOf(witnessSetHex);
    if (witnesses === null) return garbage('the witness set holds no key witness');
    if (witnesses.length > MAX_WITNESSES) return garbage(`more than ${MAX_WITNESSES} witnesses`);
    const forged = witnesses.find(
      ({ publicKey, signature }) => !isSignedBy(publicKey, fromHex(id), signature),
    );
    if (forged === undefined) return addWitnesses(transaction, witnesses);
    const message = `signature: the one of key ${forged.publicKey} is not for this transaction`;
    return new Failure('SERVER_ERROR', message, { reason: 'BAD_SIGNATURE' });
  } catch (error) {
    if (isFault(error, 'malformedCbor')) return garbage(error.message);
    throw error;
  }
}

function garbage(why: string): Failure {
  return new Failure('SERVER_ERROR', `decode: ${why}`, { reason: 'MALFORMED' });
}

function keyWitnessesOf(witnessSetHex: string): KeyWitness[] | null {
  if (!isHex(witnessSetHex)) throw malformedCbor('a witness set is hex');
  const bytes = fromHex(witnessSetHex);
  const field = fieldOf(bytes, readCbor(bytes));
  const witnesses = field === null ? [] : readKeyWitnesses(bytes, field);
  return witnesses.length === 0 ? null : witnesses;
}

function fieldOf(bytes: Uint8Array, set: Item): Item | null {
  const entry = entriesOf(set).find(([key]) => numberOf(bytes, key) === KEY_WITNESSES);
  return entry?.[1] ?? null;
}

/**
 * Puts witnesses in, unchecked; a witness that is already there is not added twice. Throws
 * `malformedCbor`.
 */
export function addWitnesses(
  transaction: Uint8Array,
  witnesses: readonly KeyWitness[],
): Uint8Array {
  const [, set] = elementsOf(readCbor(transaction));
  if (set === undefined) throw malformedCbor('a transaction has a witness set');
  const field = fieldOf(transaction, set);
  const known = field === null ? [] : readKeyWitnesses(transaction, field);
  const added = new Map(witnesses.map((witness) => [witness.publicKey, witness]));
  for (const { publicKey } of known) added.delete(publicKey);
  const pairs = [...added.values()].map(({ publicKey, signature }) =>
    array([hexString(publicKey), byteString(signature)]),
  );
  if (pairs.length === 0) return transaction;
  return field === null
    ? withField(transaction, set, array(pairs))
    : withElements(transaction, field, pairs);
}

/** The first entry of a map: its key 0 comes before all others. */
function withField(bytes: Uint8Array, set: Item, list: Uint8Array): Uint8Array {
  const head =
    set.argument === INDEFINITE
      ? bytes.subarray(set.start, set.contentStart)
      : cborHead(MAP, set.argument + 1n);
  const after = bytes.subarray(set.contentStart);
  return join(bytes.subarray(0, set.start), head, integer(KEY_WITNESSES), list, after);
}

/** At the end of the list, within its tag if it has one. */
function withElements(bytes: Uint8Array, field: Item, pairs: readonly Uint8Array[]): Uint8Array {
  const [content] = field.items;
  const list = field.major === TAG && content !== undefined ? content : field;
  const isOpen = list.argument === INDEFINITE;
  const contentEnd = isOpen ? list.end - 1 : list.end;
  const head = isOpen
    ? bytes.subarray(list.start, list.contentStart)
    : cborHead(ARRAY, list.argument + BigInt(pairs.length));
  return join(
    bytes.subarray(0, list.start),
    head,
    bytes.subarray(list.contentStart, contentEnd),
    ...pairs,
    bytes.subarray(contentEnd),
  );
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

/** On Node's own crypto, which is several times as fast here as what browsers sign with. */
export function isSignedBy(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 64 || signature.length !== 64) return false;
  const der = Buffer.from(PUBLIC_DER + publicKey, 'hex');
  return verify(
    null,
    message,
    createPublicKey({ key: der, format: 'der', type: 'spki' }),
    signature,
  );
}
