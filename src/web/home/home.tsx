/** The market: its best, newest trades, and every token with price, changes, volume and more. */
import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ErrorBox } from '../components/errorBox.tsx';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { Filters } from './filters.tsx';
import { Hero } from './hero.tsx';
import {
  bounds,
  countOf,
  inKeptOrder,
  NO_BOUNDS,
  type Sort,
  shownTickers,
  TAB_SORTS,
  TABS,
  type Tab,
  tickersQuery,
  watchlist,
} from './market.ts';
import { Skeleton, TickerTable } from './tickerTable.tsx';
import { useTickers } from './useTickers.ts';

export function Home() {
  const { network, route } = usePage();
  const tab = route.value.at === 'home' ? route.value.list : 'trending';
  const hasChain = network.value?.name !== 'none';
  return (
    <>
      <h1 class="unseen">{t.home.title}</h1>
      {hasChain ? <Hero /> : <p class="dim">{t.home.replayed}</p>}
      <Market key={tab} tab={tab} />
    </>
  );
}

const AGAIN_MS = 3_000;
const PAGE = 100;
const MOST = 500;

function Market({ tab }: { readonly tab: Tab }) {
  const { time } = usePage();
  const chosen = useSignal<Sort | null>(null);
  const limit = useSignal(PAGE);
  const isOrderKept = useSignal(false);
  const order = useRef<readonly string[]>([]);
  const sort = chosen.value ?? TAB_SORTS[tab];
  const isWatchlist = tab === 'watchlist';
  const question =
    isWatchlist || sort === null
      ? watchlist.value
      : tickersQuery(tab, sort, bounds.value, limit.value);
  const { listing, error } = useTickers(question, AGAIN_MS);
  const items = listing?.items ?? null;
  // The server has sorted and filtered: sorted again because tickers move in between.
  const within = isWatchlist ? bounds.value : NO_BOUNDS;
  const sorted = items && shownTickers(items, sort, within, time.seconds.peek());
  const shown = sorted !== null && isOrderKept.value ? inKeptOrder(sorted, order.current) : sorted;
  order.current = shown?.map(({ asset }) => asset) ?? [];
  const count = isWatchlist ? (shown?.length ?? 0) : (listing?.count ?? 0);
  const counted = shown === null ? '' : t.home.counted(shown.length, count);
  const hasMore = !isWatchlist && count > limit.value && limit.value < MOST;
  return (
    <section class="panel market" aria-label={t.home.tabs[tab]}>
      <Tabs tab={tab} />
      <Filters tab={tab} note={isOrderKept.value ? t.home.orderKept : counted} />
      {error !== null && <ErrorBox error={error} />}
      {shown === null && error === null && <Skeleton />}
      {shown !== null && shown.length === 0 && <Empty tab={tab} />}
      {shown !== null && shown.length > 0 && (
        <div
          class="table-box"
          onPointerEnter={({ pointerType }: PointerEvent) => {
            if (pointerType === 'mouse') isOrderKept.value = true;
          }}
          onPointerLeave={() => {
            isOrderKept.value = false;
          }}
        >
          <TickerTable
            items={shown}
            sort={sort}
            choose={(next) => {
              // Who sorts wants another order, wherever the pointer is.
              order.current = [];
              isOrderKept.value = false;
              chosen.value = next;
            }}
          />
        </div>
      )}
      {hasMore && <More limit={limit} />}
    </section>
  );
}

function More({ limit }: { readonly limit: Signal<number> }) {
  const show = () => {
    limit.value += PAGE;
  };
  return (
    <button type="button" class="button more" onClick={show}>
      {t.home.more}
    </button>
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

function Empty({ tab }: { readonly tab: Tab }) {
  const isFiltered = countOf(bounds.value, tab) > 0;
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
