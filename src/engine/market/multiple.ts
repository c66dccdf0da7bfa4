/** By how much a value is a multiple of another one: `2.3×`. Cut, and never rounded up. */
import type { Ratio } from './ratio.ts';
import { cut, grouped, short } from './shownNumber.ts';

const MAX_WRITTEN = 10_000n;

/** Positive ratios; null where it divides by nothing. */
export function multipleText({ numerator, denominator }: Ratio): string | null {
  if (denominator === 0n || numerator < 0n) return null;
  const whole = numerator / denominator;
  if (whole >= MAX_WRITTEN) return `${short(whole)}×`;
  if (whole >= 100n) return `${grouped(String(whole))}×`;
  const hundredths = (numerator * 100n) / denominator;
  if (numerator > 0n && hundredths === 0n) return '<0.01×';
  const text = `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
  // Near 1 a tenth is much: 1.07 is not 1.
  return `${cut(text, whole < 2n ? 2 : 1)}×`;
}
