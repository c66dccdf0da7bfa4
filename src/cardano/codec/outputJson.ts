/** Our outputs, values and scripts as Ogmios writes them. Source: its schema, cardano.json. */
import { base58 } from '@scure/base';
import { integerIn, type JsonValue } from '../../engine/runtime/exactJson.ts';
import { bytesOf, elementsOf, type Item, integerOf, numberOf, setElementsOf } from './cbor.ts';
import { SCRIPT_LANGUAGES } from './foreignOutput.ts';
import { fromHex, toHex } from './hex.ts';
import {
  datumHashOf,
  type Output,
  type OutputRef,
  type ReferenceScriptItem,
  referenceScriptOf,
  type Utxo,
} from './output.ts';
import type { Value } from './value.ts';

type Members = Readonly<Record<string, JsonValue>>;

export function refJson({ txHash, index }: OutputRef): Members {
  return { transaction: { id: txHash }, index };
}

export function adaJson(lovelace: bigint): Members {
  return { ada: { lovelace } };
}

/** Policy → name → amount. */
export function assetsJson(assets: Value['assets']): Members {
  const byPolicy: Record<string, Record<string, bigint>> = {};
  for (const [asset, amount] of assets) {
    const [policy = '', name = ''] = asset.split('.');
    byPolicy[policy] ??= {};
    byPolicy[policy][name] = amount;
  }
  return byPolicy;
}

export function valueJson({ lovelace, assets }: Value): Members {
  return { ...adaJson(lovelace), ...assetsJson(assets) };
}

export function outputJson(output: Output): Members {
  const { address, value, datum } = output;
  const script = referenceScriptOf(output);
  return {
    address: address.startsWith('addr') ? address : base58.encode(fromHex(address)),
    value: valueJson(value),
    ...(datum === null ? unlessNull('datumHash', datumHashOf(output)) : { datum }),
    ...unlessNull('script', script === null ? null : scriptJson(script)),
  };
}

export function utxoJson({ ref, output }: Utxo): Members {
  return { ...refJson(ref), ...outputJson(output) };
}

function unlessNull(name: string, value: JsonValue): Members {
  return value === null ? {} : { [name]: value };
}

export function scriptJson({ bytes, script, language }: ReferenceScriptItem): Members {
  const name = SCRIPT_LANGUAGES[language];
  if (name === undefined) throw new Error(`language ${language} is not known`);
  if (name === 'native') return { language: name, json: clauseJson(bytes, script) };
  return { language: name, cbor: toHex(bytesOf(bytes, script)) };
}

function clauseJson(bytes: Uint8Array, item: Item): Members {
  const [kind, first, second] = elementsOf(item);
  if (kind === undefined || first === undefined) throw new Error('half a native script');
  const each = (list: Item) => setElementsOf(list).map((clause) => clauseJson(bytes, clause));
  switch (numberOf(bytes, kind)) {
    case 0:
      return { clause: 'signature', from: toHex(bytesOf(bytes, first)) };
    case 1:
      return { clause: 'all', from: each(first) };
    case 2:
      return { clause: 'any', from: each(first) };
    case 3:
      if (second === undefined) throw new Error('half a native script');
      return { clause: 'some', atLeast: integerOf(bytes, first), from: each(second) };
    case 4:
      return { clause: 'after', slot: integerOf(bytes, first) };
    default:
      return { clause: 'before', slot: integerOf(bytes, first) };
  }
}

const MAX_INDEX = 65_535n;

/** A reference as `refJson` writes it; null for anything else. */
export function readRef(value: unknown): OutputRef | null {
  if (typeof value !== 'object' || value === null) return null;
  // trust: an object
  const { transaction, index } = value as { transaction?: { id?: unknown }; index?: unknown };
  const txHash = transaction?.id;
  if (typeof txHash !== 'string' || !/^[0-9a-f]{64}$/.test(txHash)) return null;
  const place = integerIn(index);
  return place === null || place < 0n || place > MAX_INDEX
    ? null
    : { txHash, index: Number(place) };
}
