/** Kupo's JSON, as its OpenAPI (v2.10 and later) and its own code have it. */
import {
  bytesOf,
  elementsOf,
  entriesOf,
  numberOf,
  readCbor,
} from '../../../src/cardano/codec/cbor.ts';
import { SCRIPT_LANGUAGES } from '../../../src/cardano/codec/foreignOutput.ts';
import { blake2b256 } from '../../../src/cardano/codec/hash.ts';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import type { Output } from '../../../src/cardano/codec/output.ts';
import type { Point } from '../../../src/chain/port.ts';
import type { Indexed } from './index.ts';

const MARK = '\u0001';

/** Bigints as plain digits: amounts pass 2^53 there. */
export function writeJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'bigint' ? `${MARK}${each}${MARK}` : each,
  );
  return text.replaceAll(/"\\u0001(\d+)\\u0001"/g, '$1');
}

export function pointJson({ slot, hash }: Point) {
  return { slot_no: slot, header_hash: hash };
}

export function matchJson(indexed: Indexed, isResolved: boolean) {
  const { utxo, transactionIndex, createdAt, spent } = indexed;
  const { output } = utxo;
  const datum = output.datum === null ? null : fromHex(output.datum);
  return {
    transaction_index: transactionIndex,
    transaction_id: utxo.ref.txHash,
    output_index: utxo.ref.index,
    address: output.address,
    value: valueJson(output),
    datum_hash: datum === null ? null : blake2b256(datum),
    ...(datum === null ? {} : { datum_type: 'inline' }),
    ...(isResolved ? { datum: output.datum, script: scriptJson(output) } : {}),
    script_hash: output.scriptHash,
    created_at: pointJson(createdAt),
    spent_at:
      spent === null
        ? null
        : {
            ...pointJson(spent.at),
            transaction_id: spent.txHash,
            input_index: spent.inputIndex,
            redeemer: null,
          },
  };
}

function valueJson({ value }: Output) {
  const assets = [...value.assets].map(([asset, amount]) => [asset.replace(/\.$/, ''), amount]);
  return { coins: value.lovelace, assets: Object.fromEntries(assets) };
}

/** Field 3 of the output: `24(bytes)` of language and code. */
function scriptJson({ cbor, scriptHash }: Output) {
  if (scriptHash === null) return null;
  const bytes = fromHex(cbor);
  const fields = entriesOf(readCbor(bytes));
  const [, wrapped] = fields.find(([key]) => numberOf(bytes, key) === 3) ?? [];
  const [content] = wrapped?.items ?? [];
  if (content === undefined) throw new Error('an output with a script has its field 3');
  const inner = bytesOf(bytes, content);
  const [language, code] = elementsOf(readCbor(inner));
  if (language === undefined || code === undefined) throw new Error('a script has two parts');
  return {
    language: SCRIPT_LANGUAGES[numberOf(inner, language)],
    script: toHex(bytesOf(inner, code)),
  };
}
