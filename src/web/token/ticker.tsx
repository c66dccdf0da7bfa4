/** The token's row of the market's table, live: its changes, its volume and its traders. */
import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Ticker } from '../../client/types.ts';
import { useTickers } from '../home/useTickers.ts';

/** null until it is there. */
export const ticker: Signal<Ticker | null> = signal<Ticker | null>(null);

/** Writes `ticker`, so that only the parts that read it render again. */
export function FollowTicker({ asset }: { readonly asset: string }) {
  const now = useTickers([asset]).listing?.items[0] ?? null;
  useEffect(() => {
    ticker.value = now;
  }, [now]);
  useEffect(
    () => () => {
      ticker.value = null;
    },
    [],
  );
  return null;
}
