/**
 * Exact fractions of integers. Rounding is always named; only `roundHalfEven` sees negative
 * numbers.
 */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Negative when `a` is less. The denominators are positive. */
export function compareRatios(a: Ratio, b: Ratio): number {
  const left = a.numerator * b.denominator;
  const right = b.numerator * a.denominator;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function reduced(numerator: bigint, denominator: bigint): Ratio {
  const divisor = greatestDivisor(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

export function ceilDivide(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}

/** To the nearest integer, a half upwards. */
export function roundRatio({ numerator, denominator }: Ratio): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}

/** To the nearest integer, a half to the even one. The denominator is positive. */
export function roundHalfEven({ numerator, denominator }: Ratio): bigint {
  if (numerator < 0n) return -roundHalfEven({ numerator: -numerator, denominator });
  const quotient = numerator / denominator;
  const twiceRest = (numerator - quotient * denominator) * 2n;
  const isUp = twiceRest > denominator || (twiceRest === denominator && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}
