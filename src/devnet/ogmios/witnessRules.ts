/** Rules of scripts, datums, redeemers, metadata and signatures. Source: Conway, rule UTXOW. */

import { parseAddress } from '../../cardano/codec/address.ts';
import { BYTES, elementsOf, type Item, readCbor, span, TEXT } from '../../cardano/codec/cbor.ts';
import { isWellFormed } from '../../cardano/codec/flatScript.ts';
import { blake2b224, blake2b256 } from '../../cardano/codec/hash.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import { datumHashOf } from '../../cardano/codec/output.ts';
import { refJson } from '../../cardano/codec/outputJson.ts';
import { metadataLabels, witnessDatums } from '../../cardano/codec/transaction.ts';
import { integrityHash } from '../../cardano/transactions/integrityHash.ts';
import { isSignedBy } from '../../cardano/transactions/witness.ts';
import { type JudgedTransaction, nativeHolds, type RuleFailure, unlessEmpty } from './judged.ts';
import { PURPOSES } from './transactionJson.ts';

const PLUTUS_V3 = 3;

/** Before V3 a script needs the datum of its output; an output without one cannot be spent. */
export function missingDatumOfInput(judged: JudgedTransaction): RuleFailure | null {
  const orphans = judged.neededPlutus().flatMap(({ spends, language }) => {
    const isOrphan = spends !== null && language < PLUTUS_V3 && datumHashOf(spends.output) === null;
    return isOrphan ? [refJson(spends.ref)] : [];
  });
  return unlessEmpty(3114, 'orphanScriptInputs', orphans);
}

function pointerText({ purpose, index }: { purpose: string; index: number }): string {
  return `${PURPOSES[purpose] ?? purpose} ${index}`;
}

export function missingRedeemers(judged: JudgedTransaction): RuleFailure | null {
  const given = new Set(judged.tx.redeemers.map(pointerText));
  const missing = judged.neededPlutus().filter(({ pointer }) => !given.has(pointerText(pointer)));
  return unlessEmpty(
    3109,
    'missingRedeemers',
    missing.map(({ purpose }) => purpose),
  );
}

/** Hashes of the datums in the witness set. */
function givenDatums({ tx }: JudgedTransaction): string[] {
  return witnessDatums(tx.witnessSet, readCbor(tx.witnessSet)).map(([hash]) => hash);
}

/** Hashes of datums of script inputs that carry only the hash. */
function wantedDatums(judged: JudgedTransaction): string[] {
  return judged.neededPlutus().flatMap(({ spends }) => {
    const hash =
      spends === null || spends.output.datum !== null ? null : datumHashOf(spends.output);
    return hash ?? [];
  });
}

export function missingDatums(judged: JudgedTransaction): RuleFailure | null {
  const given = new Set(givenDatums(judged));
  const missing = wantedDatums(judged).filter((hash) => !given.has(hash));
  return unlessEmpty(3111, 'missingDatums', [...new Set(missing)]);
}

export function missingScripts(judged: JudgedTransaction): RuleFailure | null {
  const provided = judged.provided();
  const missing = judged.needed().flatMap(({ hash }) => (provided.has(hash) ? [] : [hash]));
  return unlessEmpty(3102, 'missingScripts', [...new Set(missing)]);
}

/** Scripts in the witness set that are not needed, or already in a reference. */
export function extraneousScripts(judged: JudgedTransaction): RuleFailure | null {
  const needed = new Set(judged.needed().map(({ hash }) => hash));
  const extra = [...judged.provided()].flatMap(([hash, { isReference }]) =>
    isReference || needed.has(hash) ? [] : [hash],
  );
  return unlessEmpty(3104, 'extraneousScripts', extra);
}

export function extraneousRedeemers(judged: JudgedTransaction): RuleFailure | null {
  const pointers = uselessRedeemers(judged).map(({ pointer }) => pointer);
  return unlessEmpty(3110, 'extraneousRedeemers', pointers);
}

/** Redeemers that run nothing: nothing is there, or a script is and is missing. */
export function uselessRedeemers(judged: JudgedTransaction) {
  const wanted = new Set(judged.neededPlutus().map(({ pointer }) => pointerText(pointer)));
  const guarded = new Set(judged.needed().map(({ pointer }) => pointerText(pointer)));
  return judged.tx.redeemers
    .filter((redeemer) => !wanted.has(pointerText(redeemer)))
    .map(({ purpose, index }) => {
      const pointer = { purpose: PURPOSES[purpose] ?? purpose, index };
      return { pointer, isScriptMissing: guarded.has(pointerText(pointer)) };
    });
}

/** Datums of created or referenced outputs are allowed, too. */
export function extraneousDatums(judged: JudgedTransaction): RuleFailure | null {
  const referred = judged.utxosOf(judged.tx.referenceInputs).map(({ output }) => output);
  const known = [...judged.tx.outputs, ...referred].map(datumHashOf);
  const allowed = new Set<string | null>([...wantedDatums(judged), ...known]);
  const extra = givenDatums(judged).filter((hash) => !allowed.has(hash));
  return unlessEmpty(3112, 'extraneousDatums', extra);
}

const INTEGRITY_HASH = 11;

const DATUMS = 4;

const REDEEMERS = 5;

export function integrityHashMismatch(judged: JudgedTransaction): RuleFailure | null {
  const { witnessSet } = judged.tx;
  const written = (key: number) => {
    const item = judged.witness(key);
    return item === undefined || item.items.length === 0 ? null : span(witnessSet, item);
  };
  const runs = {
    redeemers: written(REDEEMERS),
    datums: written(DATUMS),
    languages: [...new Set(judged.neededPlutus().map(({ language }) => language))],
  };
  const computed = integrityHash(runs, judged.context.parameters.costModels);
  const provided = judged.bytesIn(INTEGRITY_HASH);
  if (computed === provided) return null;
  const data = { providedScriptIntegrity: provided, computedScriptIntegrity: computed };
  return { code: 3113, data };
}

const METADATA_HASH = 7;

const LONGEST_METADATUM = 64;

function auxiliaryOf({ tx }: JudgedTransaction): { bytes: Uint8Array; item: Item } | null {
  const item = elementsOf(readCbor(tx.bytes))[3];
  const isThere = item !== undefined && toHex(span(tx.bytes, item)) !== 'f6';
  return isThere ? { bytes: tx.bytes, item } : null;
}

export function longMetadata(judged: JudgedTransaction): RuleFailure | null {
  const found = auxiliaryOf(judged);
  const labels = found && metadataLabels(found.bytes, found.item);
  const isLong = (item: Item): boolean =>
    (item.major === BYTES || item.major === TEXT) && item.items.length === 0
      ? item.end - item.contentStart > LONGEST_METADATUM
      : item.items.some(isLong);
  return labels && isLong(labels) ? { code: 3108 } : null;
}

export function missingMetadata(judged: JudgedTransaction): RuleFailure | null {
  const hash = judged.bytesIn(METADATA_HASH);
  if (hash === null || auxiliaryOf(judged) !== null) return null;
  return { code: 3106, data: { metadata: { hash } } };
}

function metadataHash(judged: JudgedTransaction): string | null {
  const found = auxiliaryOf(judged);
  return found === null ? null : blake2b256(span(found.bytes, found.item));
}

export function missingMetadataHash(judged: JudgedTransaction): RuleFailure | null {
  const hash = metadataHash(judged);
  if (hash === null || judged.bytesIn(METADATA_HASH) !== null) return null;
  return { code: 3105, data: { metadata: { hash } } };
}

export function metadataHashMismatch(judged: JudgedTransaction): RuleFailure | null {
  const [provided, computed] = [judged.bytesIn(METADATA_HASH), metadataHash(judged)];
  if (provided === null || computed === null || provided === computed) return null;
  return { code: 3107, data: { provided: { hash: provided }, computed: { hash: computed } } };
}

/** In the witness set, and in outputs that it makes. */
export function malformedScripts(judged: JudgedTransaction): RuleFailure | null {
  const malformed = [...judged.provided(), ...judged.published()].flatMap(([hash, script]) => {
    const isRead = script.language === 0 || script.isReference || isWellFormed(script.code);
    return isRead ? [] : [hash];
  });
  return unlessEmpty(3116, 'malformedScripts', [...new Set(malformed)]);
}

export function invalidSignatures({ tx }: JudgedTransaction): RuleFailure | null {
  const message = fromHex(tx.id);
  const invalid = tx.keyWitnesses.filter(
    ({ publicKey, signature }) => !isSignedBy(publicKey, message, signature),
  );
  return unlessEmpty(
    3100,
    'invalidSignatories',
    invalid.map(({ publicKey }) => publicKey),
  );
}

function signers({ tx }: JudgedTransaction): Set<string> {
  return new Set(tx.keyWitnesses.map(({ publicKey }) => blake2b224(fromHex(publicKey))));
}

export function missingSignatures(judged: JudgedTransaction): RuleFailure | null {
  const { inputs, collateralInputs, requiredSigners } = judged.tx;
  const owners = judged.utxosOf([...inputs, ...collateralInputs]).flatMap(({ output }) => {
    const payment = parseAddress(output.address)?.payment;
    return payment?.kind === 'key' ? [payment.hash] : [];
  });
  const accounts = judged
    .withdrawals()
    .filter(({ account }) => ((account[0] ?? 0) & 0x10) === 0)
    .map(({ account }) => toHex(account.subarray(1)));
  const signed = signers(judged);
  const missing = [...owners, ...requiredSigners, ...accounts].filter((key) => !signed.has(key));
  return unlessEmpty(3101, 'missingSignatories', [...new Set(missing)]);
}

export function failingNativeScripts(judged: JudgedTransaction): RuleFailure | null {
  const provided = judged.provided();
  const holder = { keys: signers(judged), tx: judged.tx };
  const failing = judged.needed().flatMap(({ hash }) => {
    const script = provided.get(hash);
    return script?.language === 0 && !nativeHolds(script.code, holder) ? [hash] : [];
  });
  return unlessEmpty(3103, 'failingNativeScripts', [...new Set(failing)]);
}
