/**
 * The trades of the token on the screen, whichever list is shown. Trades that a fork removed stay
 * in their places for a while, marked, and a notice says how much was undone.
 */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { TradesMirror } from '../../client/mirrors/trades.ts';
import type { HealthData, TradeRow } from '../../client/types.ts';
import { t } from '../messages.ts';
import { type Followed, useMirror, usePage } from '../page.tsx';

export const tokenTrades: Signal<Followed<TradesMirror> | null> = signal(null);
/** Newest first. */
export const undoneTrades: Signal<readonly TradeRow[]> = signal<readonly TradeRow[]>([]);

const STAY_MS = 20_000;
/** Health comes once a second, trades sooner or later than it. */
const SETTLE_MS = 2_000;
/** On real chains the newest block is often another one, and nothing is lost. */
const MIN_BLOCKS = 2;

export function FollowTrades({ asset }: { readonly asset: string }) {
  const { client, clock } = usePage();
  const followed = useMirror('trades', () => client.trades(asset), [asset]).value;
  const mirror = followed?.mirror ?? null;
  useEffect(() => {
    tokenTrades.value = followed;
  }, [followed]);
  useEffect(() => {
    if (mirror === null) return;
    let known = mirror.state.trades;
    const timers = new Set<{ cancel(): void }>();
    const stop = mirror.onChange(({ trades }, { reason, removed }) => {
      const gone = known.filter(({ id }) => reason === 'revised' && removed.includes(id));
      known = trades;
      if (gone.length === 0) return;
      undoneTrades.value = [...gone, ...undoneTrades.peek()];
      const forget = () => {
        undoneTrades.value = undoneTrades.peek().filter((trade) => !gone.includes(trade));
      };
      timers.add(clock.after(STAY_MS, forget));
    });
    return () => {
      stop();
      for (const timer of timers) timer.cancel();
      undoneTrades.value = [];
    };
  }, [mirror]);
  useEffect(
    () => () => {
      tokenTrades.value = null;
    },
    [],
  );
  useForkNotice();
  return null;
}

/** A rollback that this page has seen happen. */
function useForkNotice(): void {
  const { health, clock, notify } = usePage();
  const last: HealthData['rollback'] = health.value?.rollback ?? null;
  const known = useRef<number | null>(null);
  const isKnown = health.value !== null;
  useEffect(() => {
    if (!isKnown) return;
    const [before, now] = [known.current, last?.seq ?? 0];
    known.current = now;
    if (before === null || now <= before) return;
    const timer = clock.after(SETTLE_MS, () => {
      const [blocks, trades] = [last?.blocks ?? 0, undoneTrades.peek().length];
      if (blocks < MIN_BLOCKS && trades === 0) return;
      const text = `${t.token.forks.blocks(blocks)} ${t.token.forks.trades(trades)}`;
      notify('info', text, { key: 'fork' });
    });
    return () => timer.cancel();
  }, [isKnown, last?.seq]);
}
