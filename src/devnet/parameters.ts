/**
 * The protocol parameters of a devnet: as Ogmios prints them, and read for its ledger. Where none
 * are given they are mainnet's of epoch 645 (November 2026, protocol version 11).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, objectOf, unreadable } from '../cardano/codec/json.ts';
import { readParameters } from '../cardano/ledger/ogmiosParameters.ts';
import type { ProtocolParameters } from '../cardano/ledger/parameters.ts';
import { type JsonValue, jsonText, parseExactJson } from '../engine/runtime/exactJson.ts';
import type { OgmiosMajor } from './ogmios/transactionJson.ts';

export interface DevnetParameters {
  readonly values: ProtocolParameters;
  /** Answer of `queryLedgerState/protocolParameters`. */
  readonly json: Readonly<Record<string, JsonValue>>;
}

/** Scalus knows no other size. */
const REFERENCE_TIER_BYTES = 25_600n;

/**
 * Reads Ogmios' JSON: the answer to `queryLedgerState/protocolParameters`, or its `result`. Throws
 * `unreadableMessage`.
 */
export function readDevnetParameters(text: string): DevnetParameters {
  const parsed = membersOf(text);
  return devnetParameters('result' in parsed ? objectOf(parsed.result, 'result') : parsed);
}

/**
 * The parameters in force, with the members of `text` replaced. `text` may be a complete set of
 * parameters or an answer of Ogmios. Throws `unreadableMessage`.
 */
export function changedParameters({ json }: DevnetParameters, text: string): DevnetParameters {
  const members = membersOf(text);
  const isWhole = Object.keys(json).every((name) => Object.hasOwn(members, name));
  if (isWhole || 'result' in members) return readDevnetParameters(text);
  const unknown = Object.keys(members).find((name) => !Object.hasOwn(json, name));
  if (unknown !== undefined) throw unreadable(`${unknown} is no protocol parameter of this devnet`);
  return readDevnetParameters(jsonText({ ...json, ...jsonMembers(members) }));
}

function devnetParameters(members: JsonObject): DevnetParameters {
  const values = readParameters(members);
  if (values.referenceTierBytes !== REFERENCE_TIER_BYTES) {
    throw unreadable(`minFeeReferenceScripts.range is not ${REFERENCE_TIER_BYTES}`);
  }
  const fits =
    values.maxBytes <= values.maxBlockBytes &&
    values.maxMemory <= values.maxBlockMemory &&
    values.maxCpu <= values.maxBlockCpu;
  if (!fits) throw unreadable('a limit of a block is below that of a transaction');
  return { values, json: jsonMembers(members) };
}

function jsonMembers(members: JsonObject): DevnetParameters['json'] {
  // trust: they come from JSON
  return members as DevnetParameters['json'];
}

/** Integers of any size stay exact. */
function membersOf(text: string): JsonObject {
  try {
    return objectOf(parseExactJson(text), 'protocol parameters');
  } catch (error) {
    throw error instanceof SyntaxError ? unreadable(`no JSON: ${error.message}`) : error;
  }
}

/** Ogmios 7.0 gave one parameter another name. */
const NAMES = {
  6: ['maxReferenceScriptsSizePerTransaction', 'maxReferenceScriptsSize'],
  7: ['maxReferenceScriptsSize', 'maxReferenceScriptsSizePerTransaction'],
} as const;

/** As this version of Ogmios prints them, whichever version they came from. */
export function spokenBy(
  ogmios: OgmiosMajor,
  { json }: DevnetParameters,
): DevnetParameters['json'] {
  const [other, own] = NAMES[ogmios];
  const names = Object.entries(json).map(([name, value]) => [name === other ? own : name, value]);
  return Object.fromEntries(names);
}

/** Mainnet's of November 2026. */
export const MAINNET_645: DevnetParameters = readDevnetParameters(
  readFileSync(join(import.meta.dirname, 'mainnet645.json'), 'utf8'),
);
