/**
 * Kupo's answers, read strictly. Source: Kupo's OpenAPI, v2.10 and later (`resolve_hashes`), and
 * Kupo's code, which writes an asset with an empty name without its dot.
 */
import {
  type ForeignOutput,
  foreignOutput,
  SCRIPT_LANGUAGES,
} from '../../cardano/codec/foreignOutput.ts';
import type { Utxo } from '../../cardano/codec/output.ts';
import { asValue, type Value } from '../../cardano/codec/value.ts';

export class KupoError extends Error {
  /** A retry is useless. */
  readonly isFinal: boolean;

  constructor(reason: string, isFinal = false) {
    super(reason);
    this.isFinal = isFinal;
  }
}

export interface KupoHealth {
  /** Kupo to its Cardano node. */
  readonly connected: boolean;
  /** Newest block of Kupo, and of its node; null: none yet. */
  readonly checkpointSlot: number | null;
  readonly nodeTipSlot: number | null;
}

export interface Match {
  readonly utxo: Utxo;
  /** In a block. */
  readonly isSpent: boolean;
  /** Slot of the block that created the output. */
  readonly createdSlot: number;
}

/** Throws `KupoError` for a body that does not have the shape of Kupo's answers. */
export function readMatches(body: unknown): Match[] {
  if (!Array.isArray(body)) throw new KupoError('its matches are no list');
  return body.map(readMatch);
}

/** The block that Kupo has in a slot; null: none. */
export function readCheckpoint(body: unknown): string | null {
  if (body === null) return null;
  return hexOf(body, 'header_hash', 32);
}

export function readHealth(body: unknown): KupoHealth {
  const slot = (name: string): number | null => {
    const value = fieldOf(body, name);
    return value === null ? null : countOf(value, name);
  };
  return {
    connected: fieldOf(body, 'connection_status') === 'connected',
    checkpointSlot: slot('most_recent_checkpoint'),
    nodeTipSlot: slot('most_recent_node_tip'),
  };
}

/** Zero or more, and exact as a number. */
function countOf(value: unknown, name: string): number {
  if (typeof value === 'bigint' && value >= 0n && value <= Number.MAX_SAFE_INTEGER) {
    return Number(value);
  }
  throw new KupoError(`${name} is no count below 2^53`);
}

function readMatch(match: unknown): Match {
  const index = fieldOf(match, 'output_index');
  const address = fieldOf(match, 'address');
  if (typeof address !== 'string') throw new KupoError('a match has no address');
  const script = readScript(match);
  const parts = { address, value: readValue(fieldOf(match, 'value')), datum: readDatum(match) };
  const output = foreignOutput({ ...parts, script });
  if (output === null) throw new KupoError(`${address.slice(0, 120)} is no address`);
  if (fieldOf(match, 'script_hash') !== output.scriptHash)
    throw new KupoError('a script does not have its hash');
  const ref = { txHash: hexOf(match, 'transaction_id', 32), index: countOf(index, 'output_index') };
  const createdSlot = countOf(fieldOf(fieldOf(match, 'created_at'), 'slot_no'), 'slot_no');
  return { utxo: { ref, output }, isSpent: fieldOf(match, 'spent_at') !== null, createdSlot };
}

function readValue(value: unknown): Value {
  const coins = fieldOf(value, 'coins');
  const assets = typeof value === 'object' && value !== null ? Reflect.get(value, 'assets') : null;
  if (typeof coins !== 'bigint') throw new KupoError('a value has no coins');
  const read = Object.entries(assets ?? {}).map(([name, amount]): [string, bigint] => {
    const found = /^([0-9a-f]{56})(?:\.((?:[0-9a-f]{2}){0,32}))?$/.exec(name);
    if (found === null || typeof amount !== 'bigint') throw new KupoError('an asset without id');
    return [`${found[1]}.${found[2] ?? ''}`, amount];
  });
  return asValue(coins, read);
}

function readDatum(match: unknown): ForeignOutput['datum'] {
  if (fieldOf(match, 'datum_hash') === null) return null;
  if (fieldOf(match, 'datum_type') === 'hash') return { hash: hexOf(match, 'datum_hash', 32) };
  return { inline: hexOf(match, 'datum') };
}

function readScript(match: unknown): ForeignOutput['script'] {
  if (fieldOf(match, 'script_hash') === null) return null;
  const script = fieldOf(match, 'script');
  const name = fieldOf(script, 'language');
  const language = SCRIPT_LANGUAGES.find((each) => each === name);
  // A language that this program does not know: the output keeps its value and datum.
  if (language === undefined) return { hash: hexOf(match, 'script_hash', 28) };
  return { language, code: hexOf(script, 'script') };
}

/** Hex text of a field, of `bytes` bytes where that is given. */
function hexOf(from: unknown, name: string, bytes?: number): string {
  const text = fieldOf(from, name);
  const isHex = typeof text === 'string' && /^(?:[0-9a-f]{2})+$/.test(text);
  if (!isHex || (bytes !== undefined && text.length !== 2 * bytes)) {
    throw new KupoError(`${name} is no hex`);
  }
  return text;
}

function fieldOf(from: unknown, name: string): unknown {
  if (typeof from !== 'object' || from === null || !Object.hasOwn(from, name)) {
    throw new KupoError(`${name} is missing: Kupo 2.10 or later is needed`);
  }
  return Reflect.get(from, name);
}
