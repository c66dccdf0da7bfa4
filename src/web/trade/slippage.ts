/** How much less than the quote an order may bring, and the remembered choice. */
import { storedSignal } from '../stored.ts';

/** Percent; `own` is a typed value, `any` accepts any output. */
export const SLIPPAGES = ['1', '5', '15', '30', 'own', 'any'] as const;
export type SlippageChoice = (typeof SLIPPAGES)[number];

interface Slippage {
  readonly choice: SlippageChoice;
  /** Percent as typed, for `own`. */
  readonly own: string;
}

export const slippage = storedSignal<Slippage>('slippage', { choice: '15', own: '2' }, (kept) => {
  if (typeof kept !== 'object' || kept === null) return null;
  const choice = SLIPPAGES.find((each) => each === Reflect.get(kept, 'choice'));
  const own: unknown = Reflect.get(kept, 'own');
  return choice === undefined || typeof own !== 'string' ? null : { choice, own: own.slice(0, 8) };
});

/** Without groups of digits, a comma can only separate decimals. */
const PERCENT = /^(\d{1,2})(?:[.,](\d{1,2}))?$/;

/**
 * In hundredths of a percent; null: any output will do. `notAPercentage`: the text is not a
 * percentage.
 */
export function slippageOf({ choice, own }: Slippage): bigint | null | 'notAPercentage' {
  if (choice === 'any') return null;
  const text = choice === 'own' ? own.trim() : choice;
  const [, whole, fraction = ''] = PERCENT.exec(text) ?? [];
  if (whole === undefined) return 'notAPercentage';
  return BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'));
}
