/** The market in three columns of cards: new, about to graduate, graduated. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Ticker } from '../../client/types.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { Logo } from '../components/logo.tsx';
import { Age, Change } from '../components/numbers.tsx';
import { Spark } from '../components/spark.tsx';
import { TrustBadges } from '../components/trustBadges.tsx';
import { shortMoney } from '../fiat.ts';
import { shortPercent } from '../format.ts';
import { t } from '../messages.ts';
import { memo } from '../page.tsx';
import { routeHash } from '../route.ts';
import {
  bounds,
  countOf,
  inKeptOrder,
  NO_BOUNDS,
  type Sort,
  shownTickers,
  tickersQuery,
  view,
} from './market.ts';
import { nameOf } from './names.ts';
import { useTickers } from './useTickers.ts';

const COLUMNS = ['new', 'graduating', 'graduated'] as const;
type Column = (typeof COLUMNS)[number];

/** As the lists of the same names. */
const SORTS: Readonly<Record<Column, Sort>> = {
  new: { by: 'createdOn', order: 'desc' },
  graduating: { by: 'progress', order: 'desc' },
  graduated: { by: 'marketCap', order: 'desc' },
};

const CARDS = 20;
const SKELETON_CARDS = 6;

export function Board() {
  return (
    <div class="board">
      {COLUMNS.map((column) => (
        <BoardColumn key={column} column={column} />
      ))}
    </div>
  );
}

function BoardColumn({ column }: { readonly column: Column }) {
  const sort = SORTS[column];
  const within = { ...bounds.value, graduated: '' } as const;
  const { listing, error } = useTickers(tickersQuery(column, sort, within, CARDS));
  const isOrderKept = useSignal(false);
  const order = useRef<readonly string[]>([]);
  const list = useRef<HTMLUListElement>(null);
  const sorted = listing && shownTickers(listing.items, sort, NO_BOUNDS, 0);
  const shown = sorted !== null && isOrderKept.value ? inKeptOrder(sorted, order.current) : sorted;
  order.current = shown?.map(({ asset }) => asset) ?? [];
  const isFiltered = countOf(within, column) > 0;
  useSliding(list, order.current.join());
  return (
    <section
      class="board-column"
      aria-label={t.home.tabs[column]}
      onPointerEnter={({ pointerType }: PointerEvent) => {
        if (pointerType === 'mouse') isOrderKept.value = true;
      }}
      onPointerLeave={() => {
        isOrderKept.value = false;
      }}
    >
      <h2>
        <a
          href={routeHash({ at: 'home', list: column })}
          onClick={() => {
            view.value = 'table';
          }}
        >
          {t.home.tabs[column]}
        </a>
      </h2>
      {error !== null && <ErrorBox error={error} />}
      {shown === null && error === null && <ComingCards />}
      {shown?.length === 0 && (
        <p class="empty">{isFiltered ? t.home.noMatch : t.home.empty[column]}</p>
      )}
      <ul ref={list}>
        {shown?.map((ticker) => (
          <li key={ticker.asset} data-key={ticker.asset}>
            <Card ticker={ticker} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Drawn again only with another ticker. */
const Card = memo(({ ticker }: { readonly ticker: Ticker }) => {
  const { asset, marketCap, volume24h, traders24h, createdOn } = ticker;
  return (
    <a class="card panel" href={routeHash({ at: 'token', asset })}>
      <Ring ticker={ticker} />
      <bdi class="name cut">{nameOf(ticker)}</bdi>
      <b class="cap">{marketCap === null ? '–' : shortMoney(marketCap)}</b>
      <span class="small dim cut born">
        <bdi>{ticker.ticker}</bdi>
        {createdOn !== null && (
          <>
            {' · '}
            <Age since={createdOn} hasAgo />
          </>
        )}
      </span>
      <span class="small change">
        <Change ticker={ticker} window="24h" />
      </span>
      <span class="small dim cut traded">
        {t.home.short.volume24h} {shortMoney(volume24h)}
        {traders24h !== null && ` · ${t.home.traders(traders24h)}`}
      </span>
      <Spark ticker={ticker} />
      <TrustBadges ticker={ticker} />
    </a>
  );
});

/** The picture of a token, and around it how much of the curve is bought. */
export function Ring({ ticker }: { readonly ticker: Ticker }) {
  const { asset, logoCID, progress, graduated } = ticker;
  const percent = graduated === true ? '100' : (progress ?? '0');
  const words = graduated === true ? t.home.graduated : `${shortPercent(percent)}%`;
  return (
    <span
      class={graduated === true ? 'ring whole' : 'ring'}
      style={{ '--filled': `${percent}%` }}
      title={`${t.home.columns.progress}: ${words}`}
    >
      <Logo asset={asset} ticker={ticker.ticker} logoCID={logoCID} />
    </span>
  );
}

function ComingCards() {
  return (
    <div class="board-coming" role="status" aria-label={t.home.loading}>
      {Array.from({ length: SKELETON_CARDS }, (_, card) => (
        <div key={card} class="bone" />
      ))}
    </div>
  );
}

const SLIDE_MS = 260;

/** In another order cards slide to their new positions, and new ones fade in. */
function useSliding(list: { readonly current: HTMLElement | null }, order: string): void {
  const tops = useRef<ReadonlyMap<string, number> | null>(null);
  useLayoutEffect(() => {
    const cards = Array.from(list.current?.children ?? []).filter(
      (each) => each instanceof HTMLElement,
    );
    const before = tops.current;
    tops.current = new Map(cards.map((card) => [card.dataset.key ?? '', card.offsetTop]));
    if (before === null || before.size === 0) return;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const options = { duration: SLIDE_MS, easing: 'ease-out' };
    for (const card of cards) {
      const top = before.get(card.dataset.key ?? '');
      const far = top === undefined ? 0 : top - card.offsetTop;
      if (top === undefined) {
        card.animate([{ opacity: 0, transform: 'translateY(-12px)' }, {}], options);
      } else if (far !== 0) {
        card.animate([{ transform: `translateY(${far}px)` }, {}], options);
      }
    }
  }, [order]);
}
