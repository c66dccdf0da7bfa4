/** The market: its top, newest trades, and every token with price, changes, volume and more. */
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { Filters } from './filters.tsx';
import { Hero } from './hero.tsx';
import {
  bounds,
  countOf,
  inKeptOrder,
  LISTS,
  rowOf,
  type Sort,
  shownRows,
  TABS,
  type Tab,
  watchlist,
} from './market.ts';
import { Skeleton, TickerTable } from './tickerTable.tsx';

export function Home() {
  const { network, route } = usePage();
  const tab = route.value.at === 'home' ? route.value.list : 'trending';
  if (network.value?.name === 'none') return <ChartsOnly />;
  return (
    <>
      <h1 class="unseen">{t.home.title}</h1>
      <Hero />
      <Market tab={tab} />
    </>
  );
}

function Market({ tab }: { readonly tab: Tab }) {
  const { time, network } = usePage();
  const sort = useSignal<Sort>(null);
  const isOrderKept = useSignal(false);
  const order = useRef<readonly string[]>([]);
  useEffect(() => {
    sort.value = null;
    order.current = [];
  }, [tab]);
  const pools = usePools(tab).value;
  const supply = network.value?.supply ?? null;
  const all = pools?.items?.map((pool) => rowOf(pool, supply)) ?? null;
  const sorted =
    all === null ? null : shownRows(all, sort.value, bounds.value, time.seconds.peek());
  const shown = sorted !== null && isOrderKept.value ? inKeptOrder(sorted, order.current) : sorted;
  order.current = shown?.map(({ asset }) => asset) ?? [];
  const hold = ({ pointerType }: PointerEvent) => {
    if (pointerType === 'mouse') isOrderKept.value = true;
  };
  return (
    <section class="panel market" aria-label={t.home.tabs[tab]}>
      <Tabs tab={tab} />
      <Filters isOrderKept={isOrderKept.value} />
      {pools?.error ? <ErrorBox error={pools.error} /> : null}
      {shown === null && !pools?.error && <Skeleton />}
      {shown !== null && shown.length === 0 && <Empty tab={tab} />}
      {shown !== null && shown.length > 0 && (
        <div
          class="table-box"
          onPointerEnter={hold}
          onPointerLeave={() => {
            isOrderKept.value = false;
          }}
        >
          <TickerTable
            items={shown}
            sort={sort.value}
            choose={(chosen) => {
              // Who sorts wants another order, wherever the pointer is.
              order.current = [];
              isOrderKept.value = false;
              sort.value = chosen;
            }}
          />
        </div>
      )}
    </section>
  );
}

function Tabs({ tab }: { readonly tab: Tab }) {
  return (
    <nav class="tabs" aria-label={t.home.lists}>
      {TABS.map((each) => (
        <a
          key={each}
          href={routeHash({ at: 'home', list: each })}
          aria-current={each === tab ? 'page' : undefined}
        >
          {t.home.tabs[each]}
        </a>
      ))}
    </nav>
  );
}

interface Pools {
  /** null until they are there; what the list before had stays until then. */
  readonly items: readonly LiquidityPoolInfo[] | null;
  readonly error: unknown;
}

function usePools(tab: Tab): ReadonlySignal<Pools | null> {
  const { client } = usePage();
  const list = LISTS[tab];
  const watched = useWatched(list === null);
  const followed = useMirror(() => client.pools(list ?? 'New'), [list]);
  return useComputed(() => {
    const now = followed.value;
    if (list === null) return watched.value;
    return now === null
      ? null
      : { items: now.isLoaded ? now.mirror.state : null, error: now.error };
  });
}

/** Pools of the watchlist have no topic: they are asked for again after this time. */
const AGAIN_MS = 3_000;

function useWatched(isShown: boolean): ReadonlySignal<Pools | null> {
  const { client, clock } = usePage();
  const found = useSignal<Pools | null>(null);
  const assets = isShown ? watchlist.value : [];
  useEffect(() => {
    if (!isShown) return;
    const ended = new AbortController();
    const ask = async () => {
      try {
        const { data } = await client.pools.following(assets, {}, { signal: ended.signal });
        found.value = { items: data.items, error: null };
      } catch (error) {
        // What is shown stays while the server is away: the banner says so.
        if (ended.signal.aborted) return;
        if (found.value === null) found.value = { items: null, error };
      }
      if (!ended.signal.aborted) timer = clock.after(AGAIN_MS, ask);
    };
    let timer = clock.after(0, ask);
    return () => {
      timer.cancel();
      ended.abort();
    };
  }, [isShown, assets]);
  return found;
}

function Empty({ tab }: { readonly tab: Tab }) {
  const isFiltered = countOf(bounds.value) > 0;
  const canLaunch = !isFiltered && tab !== 'watchlist';
  return (
    <div class="empty">
      <strong>{isFiltered ? t.home.noMatch : t.home.empty[tab]}</strong>
      {tab === 'watchlist' && t.home.howToWatch}
      {canLaunch && t.home.howToBegin}
      {canLaunch && (
        <div>
          <a class="button primary" href="#/launch">
            {t.home.launch}
          </a>
        </div>
      )}
    </div>
  );
}

function ChartsOnly() {
  return (
    <div class="panel empty">
      <strong>{t.home.chartsOnly}</strong>
      {t.home.noChain}
    </div>
  );
}
