/**
 * Prices and market caps in dollars, for readers who choose them. Amounts that are traded stay in
 * ADA everywhere: the page does not compute with dollars, and signs nothing from them.
 */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Client } from '../client/index.ts';
import { formatUnits } from '../engine/market/decimal.ts';
import { cut } from '../engine/market/shownNumber.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { ada, grouped, shortDecimal } from './format.ts';
import { locale } from './language.ts';
import { storedSignal } from './stored.ts';

const UNITS = ['ada', 'usd'] as const;
const ASK_EVERY_MS = 60_000;
const ADA_DECIMALS = 6;
const SPACE = '\u00a0';

/** The reader's choice; dollars are shown where there is a rate. */
export const unit: Signal<(typeof UNITS)[number]> = storedSignal(
  'unit',
  'ada',
  (kept): (typeof UNITS)[number] | null => UNITS.find((each) => each === kept) ?? null,
);
/** Dollars for one ADA, a decimal; null: not known, or not told by this server. */
export const rate: Signal<string | null> = signal<string | null>(null);
/** The rate where dollars are shown, else null. */
export const dollars: ReadonlySignal<string | null> = computed(() =>
  unit.value === 'usd' ? rate.value : null,
);

/** For as long as the page is open; a tab that is not looked at asks nothing. */
export async function followRate(
  client: Client,
  clock: Clock,
  isSeen: () => boolean,
): Promise<void> {
  try {
    if (isSeen()) rate.value = (await client.server.adaUsd()).data.rate;
  } catch {
    // The server is away, or its source is: the last rate stays.
  }
  clock.after(ASK_EVERY_MS, () => followRate(client, clock, isSeen));
}

/** Exact: both are decimals. */
export function product(left: string, right: string): string {
  const [a, b] = [left, right].map((text) => text.split('.')[1]?.length ?? 0);
  const digits = BigInt(left.replace('.', '')) * BigInt(right.replace('.', ''));
  return formatUnits(digits, (a ?? 0) + (b ?? 0));
}

/** An amount of ADA as `write` shows it; in dollars with their sign, in ADA without one. */
export function money(decimal: string, write: (decimal: string) => string): string {
  return dollars.value === null ? write(decimal) : signed(write(product(decimal, dollars.value)));
}

/** For columns: `18.1k ₳`, `$8.14k`. */
export function shortMoney(decimal: string): string {
  const text = money(decimal, shortDecimal);
  return dollars.value === null ? `${text}${SPACE}₳` : text;
}

/** Lovelace with a fixed number of digits. */
export function coins(lovelace: number | bigint | string, digits = 2): string {
  if (dollars.value === null) return ada(lovelace, digits);
  const exact = product(formatUnits(BigInt(lovelace), ADA_DECIMALS), dollars.value);
  const [whole = '', fraction = ''] = cut(exact, digits).split('.');
  const point = digits === 0 ? '' : '.';
  return signed(grouped(`${whole}${point}${fraction.padEnd(digits, '0')}`));
}

/** Dollars as the language writes them: `$5`, `5 $`. */
function signed(number: string): string {
  return before + number + after;
}

const [before, after] = signsOf(locale);

function signsOf(language: string): readonly [before: string, after: string] {
  const options = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
  const text = new Intl.NumberFormat(language, { ...options, maximumFractionDigits: 0 }).format(1);
  const [left = '', right = ''] = text.split('1');
  return [left, right];
}

/** For the axis of a chart, whose numbers are pixels. */
export function axisValue(ada: number): number {
  return ada * Number(dollars.peek() ?? '1');
}

/** A number of the axis that was written, with its sign; `unit`: of one in ADA. */
export function axisMoney(text: string, unit: string): string {
  if (text === '' || text === '0') return text;
  if (dollars.peek() !== null) return signed(text);
  return unit === '' ? text : `${text}${SPACE}${unit}`;
}
