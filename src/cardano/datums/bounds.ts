/**
 * Bounds of the integers in datums: of values, not of encodings. Plutus has integers of any length,
 * so anybody could make rows and answers kilobytes longer. An order or pool with a larger or
 * negative integer is not listed and not filled; its owner can take it back. Source: onchain.md,
 * "Bounds in datums".
 */

/** Numerator or denominator of a price, or a parameter of a curve. */
export function isRatioTerm(value: unknown): value is bigint {
  return isBelow(value, 1n << 128n);
}

/** An amount or a fee, as the ledger bounds them. */
export function isAmount(value: unknown): value is bigint {
  return isBelow(value, 1n << 64n);
}

/** Unix ms, exact as a number. */
export function isTime(value: unknown): value is bigint {
  return isBelow(value, 1n << 53n);
}

/** The index of an output in its transaction. */
export function isOutputIndex(value: unknown): value is bigint {
  return isBelow(value, 1n << 16n);
}

function isBelow(value: unknown, bound: bigint): value is bigint {
  return typeof value === 'bigint' && value >= 0n && value < bound;
}
