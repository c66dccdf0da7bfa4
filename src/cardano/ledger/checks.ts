/**
 * Ledger rules that Scalus does not check, found by trial (refusals.test.ts). Scalus compares
 * execution units as a pair, so that CPU is free below the memory limit; it takes an input named
 * twice, keys named twice, and amounts of 0 or below. And state beyond unspent outputs
 * (certificates, withdrawals, votes) would not survive a restart of ours. Source: Conway CDDL.
 */
import { isFault } from '../../engine/runtime/assert.ts';
import { parseAddress } from '../codec/address.ts';
import {
  ARRAY,
  BYTES,
  bytesOf,
  elementsOf,
  entriesOf,
  type Item,
  integerOf,
  MAP,
  NEGATIVE,
  readCbor,
  span,
  UNSIGNED,
} from '../codec/cbor.ts';
import { toHex } from '../codec/hex.ts';
import { type Output, refText } from '../codec/output.ts';
import { namedRefs, type Transaction, totalUnits } from '../codec/transaction.ts';
import type { ProtocolParameters } from './parameters.ts';
import type { Refusal } from './refusals.ts';

/** null: nothing to object. */
export function ruleViolation(
  tx: Transaction,
  parameters: ProtocolParameters,
  slot: number,
): Refusal | null {
  try {
    return (
      formFault(tx) ??
      unsignedFault(tx) ??
      amountFault(tx) ??
      intervalFault(tx, slot) ??
      limitFault(tx, parameters) ??
      kindFault(tx)
    );
  } catch (error) {
    // Any error of a reader is the fault of the submitted bytes.
    return malformed(isFault(error, 'malformedCbor') ? error.message : 'it cannot be read');
  }
}

function malformed(message: string): Refusal {
  return { reason: 'MALFORMED', message: `This is no transaction: ${message}` };
}

function formFault(tx: Transaction): Refusal | null {
  const sets: [string, readonly string[]][] = [
    ['an input', tx.inputs.map(refText)],
    ['a reference input', tx.referenceInputs.map(refText)],
    ['a collateral input', tx.collateralInputs.map(refText)],
    ['a required signer', tx.requiredSigners],
    ['a key', tx.keyWitnesses.map(({ publicKey }) => publicKey)],
  ];
  for (const [what, names] of sets) {
    if (new Set(names).size < names.length) return malformed(`it names ${what} twice`);
  }
  const repeated = repeatedKey(tx.body) ?? repeatedKey(tx.witnessSet);
  return repeated === null ? null : malformed(`a map has the key ${repeated} twice`);
}

const MAX_UNSIGNED = (1n << 64n) - 1n;
const MAX_INDEX = 65_535;

/** Our reader takes any integer where the CDDL has unsigned ones, of 8 bytes, or 2 in inputs. */
function unsignedFault(tx: Transaction): Refusal | null {
  const numbers: [string, bigint | number | null][] = [
    ['fee', tx.feeLovelace],
    ['start of validity', tx.validFromSlot],
    ['end of validity', tx.validToSlot],
    ['total collateral', tx.totalCollateralLovelace],
    ...tx.redeemers.flatMap(({ index, memory, cpu }): [string, bigint | number][] => [
      ['redeemer index', index],
      ['memory', memory],
      ['CPU', cpu],
    ]),
  ];
  for (const [what, value] of numbers) {
    if (value !== null && (value < 0 || value > MAX_UNSIGNED)) {
      return malformed(`its ${what} is ${String(value).slice(0, 40)}`);
    }
  }
  const odd = namedRefs(tx).find(({ index }) => index < 0 || index > MAX_INDEX);
  return odd === undefined ? null : malformed(`it names the output ${refText(odd)}`);
}

/** A key that a map has twice, in any encoding; datums are not examined. */
function repeatedKey(bytes: Uint8Array): string | null {
  const waiting: Item[] = [readCbor(bytes)];
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    waiting.push(...item.items);
    if (item.major !== MAP) continue;
    const keys = new Set<string>();
    for (const [key] of entriesOf(item)) {
      const text = keyText(bytes, key);
      if (keys.has(text)) return text.slice(0, 80);
      keys.add(text);
    }
  }
  return null;
}

function keyText(bytes: Uint8Array, key: Item): string {
  if (key.major === BYTES) return toHex(bytesOf(bytes, key));
  if (key.major === UNSIGNED || key.major === NEGATIVE) return String(integerOf(bytes, key));
  if (key.major === ARRAY) return `[${elementsOf(key).map((each) => keyText(bytes, each))}]`;
  return `0x${toHex(span(bytes, key))}`;
}

function amountFault({ body, outputs, collateralReturn, mint }: Transaction): Refusal | null {
  const made = collateralReturn === null ? outputs : [...outputs, collateralReturn];
  for (const [at, output] of made.entries()) {
    const fault = outputFault(output);
    if (fault !== null) return malformed(`output ${at} ${fault}`);
  }
  if ([...mint.keys()].some((asset) => !ASSET.test(asset))) {
    return malformed('it mints an asset without a proper id');
  }
  return zeroAmount(body) ? malformed('it holds or mints the amount 0 of an asset') : null;
}

const ASSET = /^[0-9a-f]{56}\.([0-9a-f]{2}){0,32}$/;

function outputFault({ address, value }: Output): string | null {
  const parsed = parseAddress(address);
  if (parsed === null || parsed.pointer) return 'goes to no base or enterprise address';
  if (value.lovelace < 0n) return 'holds less than nothing';
  for (const [asset, amount] of value.assets) {
    if (amount < 0n) return `holds less than nothing of ${asset}`;
    if (!ASSET.test(asset)) return 'holds an asset without a proper id';
  }
  return null;
}

/** Decoded values drop amounts of 0, so they are looked for in the bytes: in maps of maps. */
function zeroAmount(body: Uint8Array): boolean {
  const bundles = (item: Item): Item[] => [
    ...(item.major === MAP && entriesOf(item).every(isPolicy) ? [item] : []),
    ...item.items.flatMap(bundles),
  ];
  const isPolicy = ([key, names]: readonly [Item, Item]) =>
    key.major === BYTES && names.major === MAP;
  const isZero = ([, amount]: readonly [Item, Item]) =>
    (amount.major === UNSIGNED || amount.major === NEGATIVE) && integerOf(body, amount) === 0n;
  return bundles(readCbor(body)).some((bundle) =>
    entriesOf(bundle).some(([, names]) => entriesOf(names).some(isZero)),
  );
}

function intervalFault({ validFromSlot, validToSlot }: Transaction, slot: number): Refusal | null {
  if (validToSlot !== null && slot >= validToSlot) {
    const message = `It was valid before slot ${validToSlot}; this is slot ${slot}`;
    return { reason: 'EXPIRED', message };
  }
  if (validFromSlot === null || slot >= validFromSlot) return null;
  const message = `It is valid from slot ${validFromSlot}; this is slot ${slot}`;
  return { reason: 'NOT_YET_VALID', message };
}

function limitFault(
  { bytes, redeemers }: Transaction,
  { maxBytes, maxMemory, maxCpu }: ProtocolParameters,
): Refusal | null {
  const limit = (what: string, used: bigint | number, most: bigint | number): Refusal | null => {
    if (used <= most) return null;
    return { reason: 'LIMITS_EXCEEDED', message: `Too large: ${used} ${what}, at most ${most}` };
  };
  const units = totalUnits(redeemers);
  return (
    limit('bytes', bytes.length, maxBytes) ??
    limit('units of memory', units.memory, maxMemory) ??
    limit('units of CPU', units.cpu, maxCpu)
  );
}

const FIRST_GOVERNANCE_KEY = 19;
const LAST_GOVERNANCE_KEY = 22;

function kindFault({ hasCertificates, hasWithdrawals, body }: Transaction): Refusal | null {
  const governs = entriesOf(readCbor(body)).some(([key]) => {
    const name = Number(integerOf(body, key));
    return name >= FIRST_GOVERNANCE_KEY && name <= LAST_GOVERNANCE_KEY;
  });
  if (!hasCertificates && !hasWithdrawals && !governs) return null;
  const message = 'This devnet knows no staking and no governance: no certificates, withdrawals,';
  return { reason: 'REFUSED', message: `${message} votes, proposals or donations` };
}
