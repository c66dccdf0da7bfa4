/**
 * Numbers as people read them. Amounts come as exact integers or decimal strings and are cut or
 * grouped as text: no floating point between the API and the eye.
 */
import { formatUnits } from '../engine/market/decimal.ts';

const ADA_DECIMALS = 6;
/** No-break, so that a number stays on one line. */
const SPACE = '\u00a0';
const THIN = '\u202f';

/** `1234567` → `1,234,567`; leaves sign and fraction alone. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const separated = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? separated : `${separated}.${fraction}`;
}

/** At most `digits` after the point, cut and not rounded up: never more than there is. */
export function cut(decimal: string, digits: number): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const kept = fraction.slice(0, digits).replace(/0+$/, '');
  return kept === '' ? whole : `${whole}.${kept}`;
}

/** Lovelace as ADA with a fixed number of digits, so that columns line up. */
export function ada(lovelace: bigint | number | string, digits = 2): string {
  const exact = formatUnits(BigInt(lovelace), ADA_DECIMALS);
  const [whole = '', fraction = ''] = exact.split('.');
  if (digits === 0) return `${grouped(whole)}${SPACE}₳`;
  return `${grouped(whole)}.${fraction.slice(0, digits).padEnd(digits, '0')}${SPACE}₳`;
}

/** `18188400000` → `18.18k ₳`, for places without room. */
export function shortAda(lovelace: bigint | number | string): string {
  return `${short(BigInt(lovelace) / 1_000_000n)}${SPACE}₳`;
}

/** An amount of ADA as a decimal, for columns: `18188.4` → `18.1k ₳`. */
export function shortDecimal(decimal: string): string {
  const [whole = '0'] = decimal.split('.');
  return whole.length < 3 ? `${cut(decimal, 2)}${SPACE}₳` : `${short(whole)}${SPACE}₳`;
}

const STEPS = [
  [1_000_000_000_000n, 'T'],
  [1_000_000_000n, 'B'],
  [1_000_000n, 'M'],
  [1_000n, 'k'],
] as const;

/** Three or four digits and a letter, cut. */
export function short(amount: bigint | string): string {
  const value = BigInt(amount);
  const step = STEPS.find(([size]) => value >= size);
  if (step === undefined) return String(value);
  const [size, letter] = step;
  const whole = value / size;
  if (whole >= 100n) return `${whole}${letter}`;
  const hundredths = String(((value % size) * 100n) / size).padStart(2, '0');
  return `${cut(`${whole}.${hundredths}`, whole >= 10n ? 1 : 2)}${letter}`;
}

/** The first significant digits of a price: `0.000002545182…` keeps its zeros and six digits. */
export function shortPrice(decimal: string, significant = 6): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  if (whole !== '0') return cut(`${grouped(whole)}.${fraction}`, Math.max(2, significant - 3));
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  return cut(decimal, zeros + significant);
}

const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';
/** Fewer zeros than this are read at a glance. */
const LEAST_ZEROS = 4;

/** As `shortPrice`, with many zeros counted instead of written: `0.00000795` → `0.0₅795`. */
export function subscriptZeros(decimal: string, significant = 8): string {
  const text = shortPrice(decimal, significant);
  const [, zeros = '', rest = ''] = /^0\.(0+)(\d+)$/.exec(text) ?? [];
  if (zeros.length < LEAST_ZEROS) return text;
  const count = Array.from(String(zeros.length), (digit) => SUBSCRIPTS[Number(digit)]).join('');
  return `0.0${count}${rest}`;
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** How long ago, in one unit: it fits a narrow column and never jumps in width much. */
export function age(seconds: number): string {
  const past = Math.max(0, Math.floor(seconds));
  if (past < MINUTE) return `${past}${THIN}s`;
  if (past < HOUR) return `${Math.floor(past / MINUTE)}${THIN}min`;
  if (past < 2 * DAY) return `${Math.floor(past / HOUR)}${THIN}h`;
  return `${Math.floor(past / DAY)}${THIN}d`;
}

/** Unix seconds as the reader's date and time. */
export const moment = writerOf({ dateStyle: 'medium', timeStyle: 'medium' });

/** As `moment`, for places without room. */
export const shortMoment = writerOf({ dateStyle: 'short', timeStyle: 'short' });

/** As `moment`, where the day goes without saying. */
export const timeOfDay = writerOf({ timeStyle: 'medium' });

/** Made once, when it is first needed: making one takes as long as a hundred uses of it. */
function writerOf(options: Intl.DateTimeFormatOptions): (seconds: number) => string {
  let format: Intl.DateTimeFormat | null = null;
  return (seconds) => {
    format ??= new Intl.DateTimeFormat(undefined, options);
    return format.format(seconds * 1000);
  };
}

/** The two ends of a long id. */
export function ends(id: string, kept = 6): string {
  return id.length <= 2 * kept + 1 ? id : `${id.slice(0, kept)}…${id.slice(-kept)}`;
}

/** `part` of `whole` in percent with two digits, cut. */
export function percent(part: bigint, whole: bigint): string {
  if (whole === 0n) return '0';
  const hundredths = String((part * 10_000n) / whole).padStart(3, '0');
  return `${hundredths.slice(0, -2)}.${hundredths.slice(-2)}`;
}
