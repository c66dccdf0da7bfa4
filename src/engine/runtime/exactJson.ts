/**
 * JSON without loss: every integer comes as a bigint, from its digits. A number would round amounts
 * above 2^53. Numbers with a point or an exponent stay numbers.
 * `jsonText` writes bigints as they are.
 */

/** Throws a SyntaxError. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, exact);
}

/** A number that is not written as an integer, such as 1e3, counts where it is exact. */
export function integerIn(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null;
}

function exact(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const digits = context?.source ?? '';
  return /^-?\d+$/.test(digits) ? BigInt(digits) : value;
}

export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** Members that are undefined are left out, as in `JSON.stringify`. */
export function jsonText(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(jsonText).join()}]`;
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [`${JSON.stringify(key)}:${jsonText(member)}`],
  );
  return `{${members.join()}}`;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
