/**
 * Below the chart: one list at a time, so that no event is in two of them. The chosen tab stays
 * when the reader opens another token.
 */
import { signal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useId } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { grouped } from '../format.ts';
import { t } from '../messages.ts';
import { About } from './about.tsx';
import { Holders } from './holders.tsx';
import { Locks } from './locks.tsx';
import { Orders } from './orders.tsx';
import { Traders } from './traders.tsx';
import { Trades } from './trades.tsx';

const TABS = ['trades', 'orders', 'holders', 'traders', 'locks', 'about'] as const;
type Tab = (typeof TABS)[number];

const chosen = signal<Tab>('trades');

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** The tabs are one tab stop; arrow keys move between them. */
function walk(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = STEPS[event.key] ?? 0;
  const next = TABS[TABS.indexOf(chosen.value) + step];
  if (step === 0 || next === undefined) return;
  event.preventDefault();
  chosen.value = next;
  const tab = event.currentTarget.children[TABS.indexOf(next)];
  if (tab instanceof HTMLElement) tab.focus();
}

export function Tabs({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const id = useId();
  const { asset } = pool.info;
  const now = chosen.value;
  const parts: Readonly<Record<Tab, () => preact.JSX.Element>> = {
    trades: () => <Trades asset={asset} />,
    orders: () => <Orders asset={asset} />,
    holders: () => <Holders pool={pool} />,
    traders: () => <Traders pool={pool} />,
    locks: () => <Locks pool={pool} />,
    about: () => <About />,
  };
  return (
    <div class="panel tabbed">
      <div class="tab-list" role="tablist" aria-label={t.token.lists} onKeyDown={walk}>
        {TABS.map((tab) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`${id}-${tab}`}
            aria-selected={tab === now}
            aria-controls={`${id}-panel`}
            tabIndex={tab === now ? 0 : -1}
            onClick={() => {
              chosen.value = tab;
            }}
          >
            {nameOf(tab)} <span class="dim">{countOf(tab, pool)}</span>
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${now}`}>
        {parts[now]()}
      </div>
    </div>
  );
}

function nameOf(tab: Tab): string {
  if (tab === 'traders') return t.token.traderList;
  return tab === 'about' ? t.about.title : t.token[tab];
}

/** The count on a tab, from data that comes with the pool. */
function countOf(tab: Tab, { metrics }: LiquidityPoolInfo): string {
  if (tab === 'trades') return grouped(String(metrics.totalTxCount));
  return tab === 'locks' && metrics.locks.length > 0 ? String(metrics.locks.length) : '';
}
