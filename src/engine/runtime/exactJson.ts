/**
 * JSON without loss: every integer comes as a bigint, from its digits. A number would round amounts
 * above 2^53. Numbers with a point or an exponent stay numbers.
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
