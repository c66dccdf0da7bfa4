/** Exact rationals, written the slow and plain way; shares no code with src/engine/market. */

export interface Ratio {
  readonly n: bigint;
  /** Above zero. */
  readonly d: bigint;
}

export const LOVELACE_PER_ADA = 1_000_000n;
const CHART_DIGITS = 18;

/** The nearest integer, a half to the even one. */
export function halfEven({ n, d }: Ratio): bigint {
  if (n < 0n) return -halfEven({ n: -n, d });
  const whole = n / d;
  const rest = 2n * (n % d);
  return rest > d || (rest === d && whole % 2n === 1n) ? whole + 1n : whole;
}

/** The nearest integer, a half upwards; not below zero. */
export function halfUp({ n, d }: Ratio): bigint {
  return (2n * n + d) / (2n * d);
}

export function ceiling({ n, d }: Ratio): bigint {
  return (n + d - 1n) / d;
}

export function compareRatios(a: Ratio, b: Ratio): number {
  const [left, right] = [a.n * b.d, b.n * a.d];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Exactly `digits` fractional digits. */
export function fixed(ratio: Ratio, digits: number): string {
  const scaled = halfEven({ n: ratio.n * 10n ** BigInt(digits), d: ratio.d });
  const text = String(scaled < 0n ? -scaled : scaled).padStart(digits + 1, '0');
  const at = text.length - digits;
  return `${scaled < 0n ? '-' : ''}${text.slice(0, at)}.${text.slice(at)}`;
}

/** As charts write it: at most 18 fractional digits, no zeros at the end. */
export function decimal(ratio: Ratio): string {
  return fixed(ratio, CHART_DIGITS).replace(/\.?0+$/, '');
}

/** Lovelace as ADA with 6 decimals. */
export function ada(lovelace: bigint): string {
  return fixed({ n: lovelace, d: LOVELACE_PER_ADA }, 6);
}

/** Lovelace per token as ADA per token. */
export function adaPrice({ n, d }: Ratio): string {
  return decimal({ n, d: d * LOVELACE_PER_ADA });
}

export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((all, one) => all + one, 0n);
}
