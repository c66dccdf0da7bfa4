/** The market: its best, newest trades, and every token with price, changes, volume and more. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { MAX_LISTED_TICKERS } from '../../engine/runtime/limits.ts';
import { Choices } from '../components/choices.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { grouped } from '../format.ts';
import { frames } from '../frames.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { Board } from './board.tsx';
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
  VIEWS,
  view,
  watchlist,
} from './market.ts';
import { Tape } from './tape.tsx';
import { TickerRows } from './tickerRows.ts';
import { Skeleton, TickerTable } from './tickerTable.tsx';
import { useTickers } from './useTickers.ts';

export function Home() {
  const { network, route } = usePage();
  const tab = route.value.at === 'home' ? route.value.list : 'trending';
  const hasChain = network.value?.name !== 'none';
  return (
    <>
      <h1 class="unseen">{t.home.title}</h1>
      {hasChain ? <Hero /> : <p class="dim replayed">{t.home.replayed}</p>}
      {hasChain && <Tape />}
      {hasChain && view.value === 'board' ? (
        <BoardPanel tab={tab} />
      ) : (
        <TokenTable key={tab} tab={tab} />
      )}
    </>
  );
}

/** Its columns choose between curve and AMM themselves. */
const BOARD_TAB = 'graduating';

function BoardPanel({ tab }: { readonly tab: Tab }) {
  return (
    <section class="panel market" aria-label={t.home.title}>
      <Tabs tab={tab} />
      <Filters tab={BOARD_TAB} note="" hasColumns={false} />
      <Board />
    </section>
  );
}

/** Rows to begin with, and more whenever the reader comes near their end. */
const STEP = 30;
/** A press on the button loads more rows than a scroll does. */
const PAGE = 100;
const MOST = 500;

function TokenTable({ tab }: { readonly tab: Tab }) {
  const { time } = usePage();
  const chosen = useSignal<Sort | null>(null);
  const limit = useSignal(STEP);
  const isOrderKept = useSignal(false);
  const order = useRef<readonly string[]>([]);
  const rows = useMemo(() => new TickerRows(frames), []);
  const sort = chosen.value ?? TAB_SORTS[tab];
  const isWatchlist = tab === 'watchlist';
  const question =
    isWatchlist || sort === null
      ? watchlist.value
      : tickersQuery(tab, sort, bounds.value, limit.value);
  const { listing, error } = useTickers(question);
  const items = listing?.items ?? null;
  // The server has sorted and filtered: sorted again because tickers move in between.
  const within = isWatchlist ? bounds.value : NO_BOUNDS;
  const sorted = items && shownTickers(items, sort, within, time.seconds.peek());
  const shown = sorted !== null && isOrderKept.value ? inKeptOrder(sorted, order.current) : sorted;
  rows.show(shown ?? []);
  order.current = sameOr(order.current, shown?.map(({ asset }) => asset) ?? []);
  const count = isWatchlist ? (shown?.length ?? 0) : (listing?.count ?? null);
  const isCut = !isWatchlist && shown !== null && shown.length >= limit.value;
  const hasMore = isCut && limit.value < MOST && (count === null || count > limit.value);
  const note = isOrderKept.value ? t.home.orderKept : countText(shown?.length ?? null, count);
  return (
    <section class="panel market" aria-label={t.home.tabs[tab]}>
      <Tabs tab={tab} />
      <Filters tab={tab} note={note} hasColumns />
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
            order={order.current}
            rows={rows}
            sort={sort}
            choose={(next) => {
              // A reader who sorts wants the new order, even with the pointer over a row.
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

/** The same list where it has the same tokens in the same order. */
function sameOr(before: readonly string[], now: readonly string[]): readonly string[] {
  const isSame = before.length === now.length && before.every((asset, at) => asset === now[at]);
  return isSame ? before : now;
}

function countText(shown: number | null, count: number | null): string {
  if (shown === null) return '';
  const text = grouped(String(shown));
  return count === null ? t.home.first({ shown: text }) : t.home.counted(count, { shown: text });
}

/** How far below the window the end of the list may be until more of it is asked for. */
const AHEAD = '600px';

/** Until the topic has no more rows they come by themselves; then a press of the button asks. */
function More({ limit }: { readonly limit: Signal<number> }) {
  const end = useRef<HTMLDivElement>(null);
  const isByItself = limit.value < MAX_LISTED_TICKERS;
  useEffect(() => {
    if (end.current === null || !isByItself) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const isNear = entries.some(({ isIntersecting }) => isIntersecting);
        if (isNear) limit.value = Math.min(limit.value + STEP, MAX_LISTED_TICKERS);
      },
      { rootMargin: AHEAD },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [limit.value]);
  const show = () => {
    limit.value = Math.min(limit.value + PAGE, MOST);
  };
  return (
    <div ref={end}>
      {!isByItself && (
        <button type="button" class="button more" onClick={show}>
          {t.home.more}
        </button>
      )}
    </div>
  );
}

/** Lists are tables; the columns show three of them at once. */
function Tabs({ tab }: { readonly tab: Tab }) {
  const isBoard = view.value === 'board';
  const toTable = () => {
    view.value = 'table';
  };
  return (
    <div class="lists">
      <nav class="tabs" aria-label={t.home.lists}>
        {TABS.map((each) => (
          <a
            key={each}
            href={routeHash({ at: 'home', list: each })}
            aria-current={each === tab && !isBoard ? 'page' : undefined}
            onClick={toTable}
          >
            {t.home.tabs[each]}
          </a>
        ))}
      </nav>
      <Choices
        name={t.home.view}
        options={VIEWS.map((value) => ({ value, label: t.home.views[value], icon: value }))}
        value={view.value}
        choose={(chosen) => {
          view.value = chosen;
        }}
      />
    </div>
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
