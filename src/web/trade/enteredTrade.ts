/**
 * The amount in the form of a trade, for the picture of the curve, and the amount that the reader
 * drags there.
 */
import { type Signal, signal } from '@preact/signals';
import type { QuoteQuery } from '../../client/types.ts';

export interface EnteredTrade {
  readonly kind: QuoteQuery['side'];
  /** Lovelace of a buy by its cost, else tokens; null while there is none. */
  readonly amount: bigint | null;
}

/** null: there is no form of a market order on the screen. */
export const enteredTrade: Signal<EnteredTrade | null> = signal<EnteredTrade | null>(null);

/** An amount of the same kind, for the form to take; null once it is taken. */
export const dragged: Signal<bigint | null> = signal<bigint | null>(null);
