/** Our outputs, values and scripts as Ogmios writes them. Source: its schema, cardano.json. */
import { base58 } from '@scure/base';
import {
  bytesOf,
  elementsOf,
  entriesOf,
  type Item,
  MAP,
  numberOf,
  readCbor,
  setElementsOf,
} from '../../cardano/codec/cbor.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import type { Output, OutputRef, Utxo } from '../../cardano/codec/output.ts';
import type { Value } from '../../cardano/codec/value.ts';
import type { JsonValue } from './json.ts';

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
  return {
    address: address.startsWith('addr') ? address : base58.encode(fromHex(address)),
    value: valueJson(value),
    ...(datum === null ? datumHashOf(output) : { datum }),
    ...referenceScript(output),
  };
}

export function utxoJson({ ref, output }: Utxo): Members {
  return { ...refJson(ref), ...outputJson(output) };
}

/** A field of an output that `Output` leaves out, from its bytes; null where it is not there. */
export function fieldOf(output: Output, key: number): { bytes: Uint8Array; item: Item } | null {
  if (output.cbor === '') return null;
  const bytes = fromHex(output.cbor);
  const root = readCbor(bytes);
  if (root.major !== MAP) {
    // Before Babbage a third element is the hash of the datum.
    const third = elementsOf(root)[2];
    return key === 2 && third !== undefined ? { bytes, item: third } : null;
  }
  const found = entriesOf(root).find(([name]) => numberOf(bytes, name) === key);
  return found === undefined ? null : { bytes, item: found[1] };
}

function datumHashOf(output: Output): Members {
  const field = fieldOf(output, 2);
  if (field === null) return {};
  const { bytes, item } = field;
  const hash = item.items[1] ?? item;
  return { datumHash: toHex(bytesOf(bytes, hash)) };
}

const LANGUAGES = ['native', 'plutus:v1', 'plutus:v2', 'plutus:v3'] as const;

function referenceScript(output: Output): Members {
  const field = fieldOf(output, 3);
  const [wrapped] = field?.item.items ?? [];
  if (field === null || wrapped === undefined) return {};
  const inner = bytesOf(field.bytes, wrapped);
  const [language, script] = elementsOf(readCbor(inner));
  if (language === undefined || script === undefined) return {};
  return { script: scriptJson(inner, script, numberOf(inner, language)) };
}

/** `language`: 0 native, then the versions of Plutus. */
export function scriptJson(bytes: Uint8Array, item: Item, language: number): Members {
  const name = LANGUAGES[language];
  if (name === undefined) throw new Error(`language ${language} is not known`);
  if (name === 'native') return { language: name, json: clauseJson(bytes, item) };
  return { language: name, cbor: toHex(bytesOf(bytes, item)) };
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
      return { clause: 'some', atLeast: numberOf(bytes, first), from: each(second) };
    case 4:
      return { clause: 'after', slot: numberOf(bytes, first) };
    default:
      return { clause: 'before', slot: numberOf(bytes, first) };
  }
}

/** A reference as `refJson` writes it; null for anything else. */
export function readRef(value: unknown): OutputRef | null {
  if (typeof value !== 'object' || value === null) return null;
  // trust: an object
  const { transaction, index } = value as { transaction?: { id?: unknown }; index?: unknown };
  const txHash = transaction?.id;
  if (typeof txHash !== 'string' || !/^[0-9a-f]{64}$/.test(txHash)) return null;
  return typeof index === 'number' && Number.isInteger(index) ? { txHash, index } : null;
}
