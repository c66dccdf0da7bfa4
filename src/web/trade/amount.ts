/** Amounts as people type and read them, exact: integers of the smallest unit, never a float. */
import { formatUnits } from '../../engine/market/decimal.ts';
import { grouped } from '../format.ts';

export const ADA_DECIMALS = 6;
/** The API takes thirty digits; more than any supply. */
const MAX_DIGITS = 30;
const SHAPE = /^(\d*)(?:\.(\d*))?$/;

/** Smallest units, or in words what is wrong with the text. Spaces may group digits. */
export function readAmount(text: string, decimals: number): bigint | string {
  const bare = text.replace(/[\s_]/gu, '');
  if (bare === '') return 'Enter an amount.';
  if (bare.includes(',')) {
    return 'Write the amount without commas; a point separates decimals.';
  }
  const [, whole = '', fraction = ''] = SHAPE.exec(bare) ?? [];
  if (whole + fraction === '') return 'This is no amount: digits and one decimal point.';
  if (fraction.length > decimals) {
    return decimals === 0
      ? 'Tokens have no decimals: enter a whole number.'
      : `At most ${decimals} digits may follow the point.`;
  }
  const digits = whole + fraction.padEnd(decimals, '0');
  if (digits.length > MAX_DIGITS) return 'This is more than there can be.';
  const amount = BigInt(digits);
  return amount === 0n ? 'Enter an amount above 0.' : amount;
}

/** For an input field: no grouping, no trailing zeros. */
export function plainAmount(amount: bigint, decimals: number): string {
  return formatUnits(amount, decimals);
}

/** For people: digits in groups of three. */
export function shownAmount(amount: bigint, decimals: number): string {
  return grouped(formatUnits(amount, decimals));
}

export function shownAda(lovelace: bigint): string {
  return `${shownAmount(lovelace, ADA_DECIMALS)} ADA`;
}

/** So many percent of an amount, rounded down. */
export function shareOf(amount: bigint, percent: number): bigint {
  return (amount * BigInt(percent)) / 100n;
}
