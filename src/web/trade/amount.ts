/** Amounts as people type and read them, exact: integers of the smallest unit, never a float. */
import { formatUnits } from '../../engine/market/decimal.ts';
import { grouped, localized, type Separators, separators } from '../format.ts';
import { t } from '../messages.ts';

export const ADA_DECIMALS = 6;
/** The API takes thirty digits; more than any supply. */
const MAX_DIGITS = 30;
const SHAPE = /^(\d*)(?:\.(\d*))?$/;
/** A character that separates digit groups in some languages, and decimals in others. */
const SEPARATORS = /[.,'’]/gu;

/**
 * The amount in smallest units, or the error in the text, in words. Spaces may group digits. A
 * point or comma is accepted only if it separates decimals in the reader's language: the other
 * would be a thousand times more to one reader than to another.
 */
export function readAmount(
  text: string,
  decimals: number,
  { point }: Pick<Separators, 'point'> = separators,
): bigint | string {
  const words = t.amounts;
  const bare = text.replace(/[\s_]/gu, '');
  if (bare === '') return words.none;
  if (Array.from(bare.matchAll(SEPARATORS)).some(([found]) => found !== point)) {
    return words.grouped;
  }
  const [, whole = '', fraction = ''] = SHAPE.exec(bare.replace(point, '.')) ?? [];
  if (whole + fraction === '') return words.unreadable;
  if (fraction.length > decimals) {
    return decimals === 0 ? words.noDecimals : words.digits({ most: decimals });
  }
  const digits = whole + fraction.padEnd(decimals, '0');
  if (digits.length > MAX_DIGITS) return words.tooMuch;
  const amount = BigInt(digits);
  return amount === 0n ? words.zero : amount;
}

/** For an input field: no grouping, no trailing zeros. */
export function plainAmount(amount: bigint, decimals: number): string {
  return localized(formatUnits(amount, decimals));
}

/** For people: digits in groups of three. */
export function shownAmount(amount: bigint, decimals: number): string {
  return grouped(formatUnits(amount, decimals));
}

export function shownAda(lovelace: bigint): string {
  return `${shownAmount(lovelace, ADA_DECIMALS)} ADA`;
}

/** A percentage of an amount, rounded down. */
export function shareOf(amount: bigint, percent: number): bigint {
  return (amount * BigInt(percent)) / 100n;
}
