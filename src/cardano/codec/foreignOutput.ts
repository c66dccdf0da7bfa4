/**
 * An output as other servers tell it, in JSON: written as CBOR again, because builders and scripts
 * work on bytes. It is the same output, not necessarily the same bytes as in its transaction.
 * Source: Conway CDDL.
 */
import { addressText, bytesOfAddressText } from './address.ts';
import { array, byteString, embedded, encodeValue, map, uint } from './encode.ts';
import { languageScriptHash } from './hash.ts';
import { fromHex, toHex } from './hex.ts';
import type { Output } from './output.ts';
import type { Value } from './value.ts';

export const SCRIPT_LANGUAGES = ['native', 'plutus:v1', 'plutus:v2', 'plutus:v3'] as const;
type ScriptLanguage = (typeof SCRIPT_LANGUAGES)[number];

export interface ForeignOutput {
  /** bech32, base58 (Byron) or hex. */
  readonly address: string;
  readonly value: Value;
  /** Inline: its CBOR, hex; by hash: the hash. null: none. */
  readonly datum: { readonly inline: string } | { readonly hash: string } | null;
  /** Code in one layer of CBOR, or a native script's CBOR; hex. */
  readonly script: { readonly language: ScriptLanguage; readonly code: string } | null;
}

/** null: the address is none. */
export function foreignOutput({ address, value, datum, script }: ForeignOutput): Output | null {
  const bytes = bytesOfAddressText(address);
  if (bytes === null) return null;
  const fields: [Uint8Array, Uint8Array][] = [
    [uint(0), byteString(bytes)],
    [uint(1), encodeValue(value)],
  ];
  if (datum !== null) fields.push([uint(2), encodeDatum(datum)]);
  if (script !== null) fields.push([uint(3), embedded(encodeScript(script))]);
  return {
    address: addressText(bytes),
    value,
    datum: datum !== null && 'inline' in datum ? datum.inline : null,
    scriptHash: script === null ? null : hashOf(script),
    cbor: toHex(map(fields)),
  };
}

function hashOf({ language, code }: NonNullable<ForeignOutput['script']>): string {
  return languageScriptHash(SCRIPT_LANGUAGES.indexOf(language), fromHex(code));
}

function encodeDatum(datum: NonNullable<ForeignOutput['datum']>): Uint8Array {
  if ('hash' in datum) return array([uint(0), byteString(fromHex(datum.hash))]);
  return array([uint(1), embedded(fromHex(datum.inline))]);
}

function encodeScript({ language, code }: NonNullable<ForeignOutput['script']>): Uint8Array {
  const bytes = fromHex(code);
  const content = language === 'native' ? bytes : byteString(bytes);
  return array([uint(SCRIPT_LANGUAGES.indexOf(language)), content]);
}
