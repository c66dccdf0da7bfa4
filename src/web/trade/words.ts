/** Slippage in words for people. */
import type { OrderBody } from '../../client/types.ts';

export type Slippage = OrderBody['slippage'];

/** Percent that the fill may bring less than the quote. */
export const SLIPPAGES: readonly {
  readonly value: Slippage;
  readonly label: string;
  readonly words: string;
}[] = [
  {
    value: '15',
    label: '15 %',
    words: 'Fills for at least 85 % of the quote, else it stays open.',
  },
  {
    value: '30',
    label: '30 %',
    words: 'Fills for at least 70 % of the quote, else it stays open.',
  },
  {
    value: '50',
    label: '50 %',
    words: 'Fills for at least half of the quote, else it stays open.',
  },
  {
    value: '75',
    label: '75 %',
    words: 'Fills for at least a quarter of the quote, else it stays open.',
  },
  { value: 'infinity', label: 'Any', words: 'Fills at any price: you may get next to nothing.' },
];
