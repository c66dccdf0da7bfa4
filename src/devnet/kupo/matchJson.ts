/** Kupo's JSON, as its OpenAPI (2.10 and later) has it. */
import { bytesOf, span } from '../../cardano/codec/cbor.ts';
import { SCRIPT_LANGUAGES } from '../../cardano/codec/foreignOutput.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import {
  datumHashOf,
  type Output,
  referenceScriptOf,
  type Utxo,
} from '../../cardano/codec/output.ts';
import { type JsonValue, jsonText } from '../../engine/runtime/exactJson.ts';

/** A point of the chain; genesis has slot 0 and a hash of zeros. */
export interface KupoPoint {
  readonly slot: number;
  readonly hash: string;
}

export interface Match {
  readonly utxo: Utxo;
  readonly transactionIndex: number;
  readonly createdAt: KupoPoint;
  /** CBOR hex of the datum that the output names by its hash, where a witness showed it. */
  readonly shownDatum?: string | null;
  readonly spent: {
    readonly at: KupoPoint;
    readonly txHash: string;
    readonly inputIndex: number;
    /** CBOR hex; null where it was spent without a script. */
    readonly redeemer: string | null;
  } | null;
}

/** Bigints as plain digits: amounts may pass 2^53. */
export function writeJson(value: unknown): string {
  // trust: callers pass what JSON can say
  return jsonText(value as JsonValue);
}

export function pointJson({ slot, hash }: KupoPoint) {
  return { slot_no: slot, header_hash: hash };
}

interface MatchOptions {
  /** With the datum and the script themselves, as with `?resolve_hashes`. */
  readonly isResolved?: boolean;
  /** As `Accept: application/json;asset-quantity=string` asks for. */
  readonly areAmountsTexts?: boolean;
}

export function matchJson(match: Match, options: MatchOptions = {}) {
  const { isResolved = false, areAmountsTexts = false } = options;
  const { utxo, transactionIndex, createdAt, spent } = match;
  const { output } = utxo;
  const hash = datumHashOf(output);
  return {
    transaction_index: transactionIndex,
    transaction_id: utxo.ref.txHash,
    output_index: utxo.ref.index,
    address: output.address,
    value: valueJson(output, areAmountsTexts ? String : (amount) => amount),
    datum_hash: hash,
    ...(hash === null ? {} : { datum_type: output.datum === null ? 'hash' : 'inline' }),
    ...(isResolved
      ? { datum: output.datum ?? match.shownDatum ?? null, script: scriptJson(output) }
      : {}),
    script_hash: output.scriptHash,
    created_at: pointJson(createdAt),
    spent_at:
      spent === null
        ? null
        : {
            ...pointJson(spent.at),
            transaction_id: spent.txHash,
            input_index: spent.inputIndex,
            redeemer: spent.redeemer,
          },
  };
}

function valueJson({ value }: Output, written: (amount: bigint) => bigint | string) {
  const assets = [...value.assets].map(([asset, amount]) => {
    return [asset.replace(/\.$/, ''), written(amount)] as const;
  });
  return { coins: written(value.lovelace), assets: Object.fromEntries(assets) };
}

export function scriptJson(output: Output): { language: string; script: string } | null {
  const found = referenceScriptOf(output);
  const language = found === null ? undefined : SCRIPT_LANGUAGES[found.language];
  if (found === null || language === undefined) return null;
  const { bytes, script } = found;
  return {
    language,
    script: toHex(language === 'native' ? span(bytes, script) : bytesOf(bytes, script)),
  };
}
