/**
 * Numbers of a price axis, in one form: as many zeros counted, as many decimals, the same unit in
 * each. `0.0₄1` beside `0.0₅8` reads as if the second were more. Numbers are pixels here.
 */
import { localized } from '../format.ts';

export interface AxisForm {
  /** The divisor of a number, and the letter that stands for it. */
  readonly size: number;
  readonly letter: string;
  /** Zeros after the point that are counted, not written. */
  readonly zeros: number;
  readonly decimals: number;
}

const UNITS: readonly (readonly [size: number, letter: string])[] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
];
/** Less is written out. */
const MIN_SHORT = 1e3;
const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';
/** Fewer zeros than this are read at a glance. */
const MIN_ZEROS = 4;
const MAX_DECIMALS = 20;
/** The rounding error that floating point adds to an integer. */
const ROUNDING = 1e-6;

export const PLAIN: AxisForm = { size: 1, letter: '', zeros: 0, decimals: 2 };

/** The form for the numbers at the marks, in any order. */
export function formOf(values: readonly number[]): AxisForm {
  const most = Math.max(0, ...values);
  if (most === 0) return PLAIN;
  const sorted = values.filter((value) => value > most * ROUNDING).sort((a, b) => a - b);
  const [size, letter] =
    most < MIN_SHORT ? [1, ''] : (UNITS.find(([each]) => most >= each) ?? [1, '']);
  const steps = sorted.map((value, index) => (value - (sorted[index - 1] ?? 0)) / size);
  const decimals = decimalsOf(Math.min(...steps));
  const zeros = Math.max(0, -Math.floor(Math.log10(most / size) + ROUNDING) - 1);
  return { size, letter, zeros: zeros < MIN_ZEROS ? 0 : zeros, decimals };
}

/** As many as tell numbers apart that differ by this: 0 of 20, 1 of 0.5, 3 of 0.025. */
function decimalsOf(step: number): number {
  const size = Math.floor(Math.log10(step) + ROUNDING);
  const first = step / 10 ** size;
  const isWhole = Math.abs(first - Math.round(first)) < ROUNDING * 10;
  return Math.max(0, Math.min(MAX_DECIMALS, isWhole ? -size : 1 - size));
}

/**
 * `finer`: digits beyond the digits of the marks, for numbers between them. Cut and not rounded, as
 * all numbers of the page: 32.06k is 32.0k here and above the chart.
 */
export function axisNumber(value: number, form: AxisForm, finer = 0): string {
  // The scale leaves room below the lowest price, which may reach under nothing.
  if (value < 0) return '';
  const { size, letter, zeros } = form;
  const decimals = Math.min(MAX_DECIMALS, form.decimals + finer);
  const [whole = '0', fraction = ''] = cutTo(value / size, decimals).split('.');
  const point = fraction === '' ? '' : '.';
  if (/^0*$/.test(whole + fraction)) return '0';
  const counted = '0'.repeat(zeros);
  if (zeros > 0 && whole === '0' && fraction.startsWith(counted)) {
    return localized(`0.0${subscript(zeros)}${fraction.slice(zeros)}`);
  }
  return localized(`${whole}${point}${fraction}${letter}`);
}

function cutTo(value: number, decimals: number): string {
  const unit = 10 ** decimals;
  return (Math.floor(value * unit + ROUNDING) / unit).toFixed(decimals);
}

function subscript(count: number): string {
  return Array.from(String(count), (digit) => SUBSCRIPTS[Number(digit)]).join('');
}
