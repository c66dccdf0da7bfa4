/**
 * Numbers as people read them. Amounts come as exact integers or decimal strings and are cut or
 * grouped as text: no floating point between the API and the eye.
 */
import { formatUnits } from '../engine/market/decimal.ts';
import {
  cut,
  grouped as groupedText,
  shortPrice as shortPriceText,
  short as shortText,
  subscriptZeros as subscriptText,
} from '../engine/market/shownNumber.ts';
import { locale } from './language.ts';
import { t } from './messages.ts';

/** For programs: a decimal as the API writes them. */
export { cut };

/** The separators of digit groups and of decimals. */
export interface Separators {
  readonly group: string;
  readonly point: string;
}

export function separatorsOf(language: string): Separators {
  const parts = new Intl.NumberFormat(language, { useGrouping: 'always' }).formatToParts(1234.5);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  return { group: of('group'), point: of('decimal') };
}

/** Separators of the reader's language. */
export const separators: Separators = separatorsOf(locale);

/** Replaces the English separators of a number by the reader's. */
export function localized(number: string, { group, point }: Separators = separators): string {
  return number.replace(/[,.]/g, (separator) => (separator === ',' ? group : point));
}

export const grouped = (decimal: string): string => localized(groupedText(decimal));
export const short = (amount: bigint | string): string => localized(shortText(amount));
export const shortPrice = (decimal: string, significant?: number): string =>
  localized(shortPriceText(decimal, significant));
/** For an input field: no groups. */
export const typedPrice = (decimal: string): string =>
  localized(shortPriceText(decimal, 4).replaceAll(',', ''));
export const subscriptZeros = (decimal: string, significant?: number): string =>
  localized(subscriptText(decimal, significant));

const ADA_DECIMALS = 6;
/** No-break, so that a number stays on one line. */
const SPACE = '\u00a0';
const THIN = '\u202f';

/** Lovelace as ADA with a fixed number of digits, so that columns line up. */
export function ada(lovelace: bigint | number | string, digits = 2): string {
  const exact = formatUnits(BigInt(lovelace), ADA_DECIMALS);
  const [whole = '', fraction = ''] = exact.split('.');
  if (digits === 0) return `${grouped(whole)}${SPACE}₳`;
  return `${grouped(`${whole}.${fraction.slice(0, digits).padEnd(digits, '0')}`)}${SPACE}₳`;
}

/** `18188400000` → `18.18k ₳`, for places without room. */
export function shortAda(lovelace: bigint | number | string): string {
  return `${short(BigInt(lovelace) / 1_000_000n)}${SPACE}₳`;
}

/** A decimal for columns, three digits of it: `18188.4` → `18.1k`, `11000` → `11.0k`. */
export function shortDecimal(decimal: string): string {
  const [whole = '0'] = decimal.split('.');
  const text = whole.length < 3 ? cut(decimal, 3 - whole.length) : shortText(whole);
  const [, shown = '', fraction = '', unit = ''] = /^(\d+)\.?(\d*)(\D?)$/.exec(text) ?? [];
  const digits = Math.max(0, 3 - shown.length);
  return localized(digits === 0 ? text : `${shown}.${fraction.padEnd(digits, '0')}${unit}`);
}

/**
 * A price for columns: like `subscriptZeros`, but with trailing zeros, so that every price has the
 * same number of digits.
 */
export function columnPrice(decimal: string, significant: number): string {
  const text = subscriptText(decimal, significant);
  const [, zeros, rest = ''] = /^0\.(0[₀-₉]+|0*)(\d+)$/.exec(text) ?? [];
  if (zeros !== undefined) return localized(`0.${zeros}${rest.padEnd(significant, '0')}`);
  const [whole = '', fraction = ''] = text.split('.');
  if (whole === '0') return text;
  return localized(`${whole}.${fraction.padEnd(Math.max(2, significant - 3), '0')}`);
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** How long ago, in one unit: it fits a narrow column and never jumps in width much. */
export function age(seconds: number): string {
  const past = Math.max(0, Math.floor(seconds));
  const { d, h, min, s } = t.words.units;
  if (past < MINUTE) return `${past}${THIN}${s}`;
  if (past < HOUR) return `${Math.floor(past / MINUTE)}${THIN}${min}`;
  if (past < 2 * DAY) return `${Math.floor(past / HOUR)}${THIN}${h}`;
  return `${Math.floor(past / DAY)}${THIN}${d}`;
}

/** Unix seconds as the reader's date and time. */
export const moment = writerOf({ dateStyle: 'medium', timeStyle: 'medium' });

/** As `moment`, for places without room. */
export const shortMoment = writerOf({ dateStyle: 'short', timeStyle: 'short' });

/** As `moment`, where the day goes without saying. */
export const timeOfDay = writerOf({ timeStyle: 'medium' });

/** As `timeOfDay`, without seconds. */
export const shortTime = writerOf({ timeStyle: 'short' });

/** Made once, when it is first needed: making one takes as long as a hundred uses of it. */
function writerOf(options: Intl.DateTimeFormatOptions): (seconds: number) => string {
  let format: Intl.DateTimeFormat | null = null;
  return (seconds) => {
    format ??= new Intl.DateTimeFormat(locale, options);
    return format.format(seconds * 1000);
  };
}

/** The two ends of a long id. */
export function ends(id: string, kept = 6): string {
  return id.length <= 2 * kept + 1 ? id : `${id.slice(0, kept)}…${id.slice(-kept)}`;
}

/** `part` of `whole` in percent with two digits, cut; `localized` is for people. */
export function percent(part: bigint, whole: bigint): string {
  if (whole === 0n) return '0';
  const hundredths = String((part * 10_000n) / whole).padStart(3, '0');
  return `${hundredths.slice(0, -2)}.${hundredths.slice(-2)}`;
}

/** A percentage without a sign, cut: a rise of a hundred times needs no decimals. */
export function shortPercent(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  if (whole.length > 4) return short(whole);
  if (whole.length > 2) return grouped(whole);
  return localized(`${whole}.${fraction.slice(0, 2).padEnd(2, '0')}`);
}
