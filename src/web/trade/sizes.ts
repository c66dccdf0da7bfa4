/** Sizes of buys that one presses instead of typing: remembered, and one's own. */
import { type Signal, signal } from '@preact/signals';
import { separators } from '../format.ts';
import { storedSignal } from '../stored.ts';
import { ADA_DECIMALS, readAmount } from './amount.ts';

const FIRST = ['10', '50', '100', '500'];

/** ADA as typed; always four. */
export const buySizes = storedSignal<readonly string[]>('buySizes', FIRST, (kept) => {
  if (!Array.isArray(kept) || kept.length !== FIRST.length) return null;
  // Typed in another language: there are no groups of digits, so this can only be decimals.
  const sizes = kept.map((size) => String(size).replace(/[.,]/, separators.point));
  return sizes.every(isSize) ? sizes : null;
});

export function isSize(text: unknown): text is string {
  return typeof text === 'string' && typeof readAmount(text, ADA_DECIMALS) === 'bigint';
}

/**
 * Whether a press on a size buys at once. Switched on by hand on each visit: the browser does not
 * remember a setting that spends.
 */
export const oneClick: Signal<boolean> = signal(false);

/** Which side the form is on; buttons elsewhere on the page choose it too. */
export const side: Signal<'buy' | 'sell'> = signal<'buy' | 'sell'>('buy');
