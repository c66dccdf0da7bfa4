/**
 * Reads JSON at the speed of `JSON.parse` and without loss: integers that a `number` may not hold
 * come as their digits. Readers name the expected kind; errors name the field.
 */
import { Fault } from '../../engine/runtime/assert.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unreadable(`${what} is no object`);
  }
  // trust: an object that is no list has members
  return value as JsonObject;
}

/**
 * Matches numbers of sixteen digits or more; it also matches inside texts, which only costs time.
 */
const LONG_INTEGER = /[:[,]\s*-?\d{16}/;
const TEXT_OR_LONG = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;
const DIGITS = /^-?\d{16,}$/;

/** Throws `unreadableMessage`. */
export function parseJson(text: string): unknown {
  const exact = LONG_INTEGER.test(text) ? text.replace(TEXT_OR_LONG, quoted) : text;
  try {
    return JSON.parse(exact);
  } catch (error) {
    throw unreadable(`no JSON: ${String(error)}`);
  }
}

function quoted(found: string): string {
  return found.startsWith('"') ? found : `"${found}"`;
}

/** Absent counts as empty. */
export function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw unreadable(`${what} is no list`);
  return value;
}

export function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw unreadable(`${what} is no text`);
  return value;
}

const HEX = /^(?:[0-9a-f]{2})*$/;

/** `bytes`: how many there must be. */
export function hexOf(value: unknown, what: string, bytes?: number): string {
  const text = textOf(value, what);
  if (!HEX.test(text) || (bytes !== undefined && text.length !== 2 * bytes)) {
    throw unreadable(`${what} is not ${bytes ?? 'any number of'} bytes in hex`);
  }
  return text;
}

export function integerOf(value: unknown, what: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'string' && DIGITS.test(value)) return BigInt(value);
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw unreadable(`${what} is no integer`);
  }
  return BigInt(value);
}

/** Zero or more, and exact as a number: slots, heights, positions. */
export function countOf(value: unknown, what: string): number {
  const count = typeof value === 'bigint' ? Number(value) : value;
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count;
  throw unreadable(`${what} is no count below 2^53: ${String(value)}`);
}

export function unreadable(message: string): Fault {
  return new Fault('unreadableMessage', message);
}
