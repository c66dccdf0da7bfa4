/**
 * An output as other servers tell it, in JSON: written as CBOR again, because builders and scripts
 * work on bytes. It is the same output, not necessarily the same bytes as in its transaction.
 * Source: Conway CDDL.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import { addressText, bytesOfAddressText } from './address.ts';
import { ARRAY, BYTES, MAP, NEGATIVE, TAG, UNSIGNED } from './cbor.ts';
import { languageScriptHash } from './hash.ts';
import { fromHex, toHex } from './hex.ts';
import type { Output } from './output.ts';
import { remembered } from './remembered.ts';
import type { Value } from './value.ts';

export const SCRIPT_LANGUAGES = ['native', 'plutus:v1', 'plutus:v2', 'plutus:v3'] as const;
type ScriptLanguage = (typeof SCRIPT_LANGUAGES)[number];

export interface ForeignOutput {
  /** bech32, base58 (Byron) or hex. */
  readonly address: string;
  readonly value: Value;
  /** Inline: its CBOR, hex; by hash: the hash. null: none. */
  readonly datum: { readonly inline: string } | { readonly hash: string } | null;
  readonly script: ForeignScript | null;
}

/**
 * `code`: in one layer of CBOR, or a native script's CBOR; hex. `hash`: of a script in a language
 * that is not known here; `UNKNOWN_SCRIPT_HASH` where it cannot be told.
 */
export type ForeignScript =
  | { readonly language: ScriptLanguage; readonly code: string }
  | { readonly hash: string };

/** Stands for the hash of a script that is there and cannot be read. */
export const UNKNOWN_SCRIPT_HASH = 'unknown';

const MAX_KNOWN = 4_096;

/** An address as other servers write it, for CBOR and as we write it. */
const readAddress = remembered((text) => {
  const bytes = bytesOfAddressText(text);
  return bytes === null ? null : { field: byteString(toHex(bytes)), text: addressText(bytes) };
}, MAX_KNOWN);

/**
 * null: the address is none. A script in an unknown language is left out of the CBOR: this program
 * spends no output with a script, except to cancel an order for its owner.
 */
export function foreignOutput({ address, value, datum, script }: ForeignOutput): Output | null {
  const read = readAddress(address);
  if (read === null) return null;
  let fields = `00${read.field}01${valueText(value)}`;
  if (datum !== null) fields += `02${datumText(datum)}`;
  const written = script === null || 'hash' in script ? null : script;
  if (written !== null) fields += `03${embedded(scriptText(written))}`;
  const count = 2 + (datum === null ? 0 : 1) + (written === null ? 0 : 1);
  return {
    address: read.text,
    value,
    datum: datum !== null && 'inline' in datum ? datum.inline : null,
    scriptHash: script === null ? null : hashOf(script),
    cbor: head(MAP, count) + fields,
  };
}

function hashOf(script: ForeignScript): string {
  if ('hash' in script) return script.hash;
  return languageScriptHash(SCRIPT_LANGUAGES.indexOf(script.language), fromHex(script.code));
}

/** Hex characters of a head's argument, the shortest first. */
const SIZES = [2, 4, 8, 16] as const;

/**
 * A head as hex text. Every part of an output comes as hex: put together as text, it takes a tenth
 * of the time that it takes as bytes, and a block has hundreds of outputs.
 */
function head(major: number, argument: number | bigint): string {
  const lead = major << 5;
  if (argument < 24) return byteText(lead | Number(argument));
  const digits = argument.toString(16);
  const size = SIZES.findIndex((characters) => digits.length <= characters);
  return byteText(lead | (24 + size)) + digits.padStart(SIZES[size] ?? 0, '0');
}

function byteText(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function byteString(hex: string): string {
  return head(BYTES, hex.length / 2) + hex;
}

/** CBOR inside a byte string. */
function embedded(hex: string): string {
  return head(TAG, 24) + byteString(hex);
}

function valueText({ lovelace, assets }: Value): string {
  const coins = head(UNSIGNED, BigInt.asUintN(64, lovelace));
  return assets.size === 0 ? coins : `${head(ARRAY, 2)}${coins}${assetsText(assets)}`;
}

/** Policies and names ascending by length, then bytes, as canonical CBOR has them. */
function assetsText(assets: ReadonlyMap<AssetId, bigint>): string {
  const policies = new Map<string, [name: string, amount: bigint][]>();
  for (const [asset, amount] of assets) {
    const [policy = '', name = ''] = asset.split('.');
    const names = policies.get(policy);
    if (names === undefined) policies.set(policy, [[name, amount]]);
    else names.push([name, amount]);
  }
  let text = head(MAP, policies.size);
  for (const [policy, names] of inOrder([...policies])) {
    text += byteString(policy) + head(MAP, names.length);
    for (const [name, amount] of inOrder(names)) text += byteString(name) + integerText(amount);
  }
  return text;
}

function inOrder<T>(entries: [string, T][]): [string, T][] {
  if (entries.length < 2) return entries;
  return entries.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
}

function integerText(value: bigint): string {
  const argument = BigInt.asUintN(64, value < 0n ? -1n - value : value);
  return head(value < 0n ? NEGATIVE : UNSIGNED, argument);
}

function datumText(datum: NonNullable<ForeignOutput['datum']>): string {
  const content = 'hash' in datum ? byteString(datum.hash) : embedded(datum.inline);
  return `${head(ARRAY, 2)}${head(UNSIGNED, 'hash' in datum ? 0 : 1)}${content}`;
}

function scriptText({ language, code }: Exclude<ForeignScript, { hash: string }>): string {
  const content = language === 'native' ? code : byteString(code);
  return `${head(ARRAY, 2)}${head(UNSIGNED, SCRIPT_LANGUAGES.indexOf(language))}${content}`;
}
