/**
 * Trades as they happened, newest first: every trade, or only the trades that pass a filter.
 */
import { type Signal, useSignal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TradesMirror } from '../../client/mirrors/trades.ts';
import type { TradeRow, TradesQuery } from '../../client/types.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { More, roomFor, useReach } from '../components/more.tsx';
import { Age } from '../components/numbers.tsx';
import { TxLink } from '../components/txLink.tsx';
import { coins, money } from '../fiat.ts';
import { columnPrice, ends, localized, moment, short } from '../format.ts';
import { flash } from '../frames.ts';
import { t } from '../messages.ts';
import { type Followed, memo, usePage } from '../page.tsx';
import { useQuery } from '../useQuery.ts';
import { RowFilters, useOwnKey } from './filters.tsx';
import { tokenTrades, undoneTrades } from './followTrades.tsx';
import { Maker } from './maker.tsx';
import {
  isFiltered,
  isWithin,
  NO_FILTER,
  queryOf,
  type RowFilter,
  type TradesPage,
  tradesPage,
} from './rowFilter.ts';
import { TabPart } from './tabPart.tsx';

/** Shown at first, and added with each press on the button for older ones. */
const PAGE_ROWS = 100;
const MAX_ROWS = 1_000;
/** A short form of a wallet's key, in a row. */
const MAKER_DIGITS = 4;

export function Trades({ asset }: { readonly asset: string }) {
  const filter = useSignal<RowFilter>(NO_FILTER);
  const followed = tokenTrades.value;
  return (
    <TabPart
      class="trades"
      title={t.token.trades}
      tools={<RowFilters filter={filter} of={t.token.trades} />}
    >
      <div class="tape-head" aria-hidden="true">
        {t.token.tradeColumns.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      {filter.value.maker !== null && (
        <Maker
          asset={asset}
          pkh={filter.value.maker}
          leave={() => {
            filter.value = { ...filter.value, maker: null };
          }}
        />
      )}
      {isFiltered(filter.value) ? (
        <FilteredTape
          // Another filter is another list.
          key={JSON.stringify({ ...filter.value, minLovelace: `${filter.value.minLovelace}` })}
          asset={asset}
          filter={filter}
          followed={followed}
        />
      ) : (
        <WholeTape followed={followed} filter={filter} />
      )}
    </TabPart>
  );
}

type FollowedTrades = Followed<TradesMirror> | null;

interface WholeTapeProps {
  readonly followed: FollowedTrades;
  readonly filter: Signal<RowFilter>;
}

function WholeTape({ followed, filter }: WholeTapeProps) {
  const wanted = useSignal(PAGE_ROWS);
  const mirror = followed?.mirror ?? null;
  const trades = mirror?.state.trades ?? [];
  const hasMore = trades.length > wanted.value || mirror?.hasOlder === true;
  return (
    <Tape
      rows={withUndone(trades.slice(0, wanted.value), undoneTrades.value)}
      filter={filter}
      isLoaded={followed?.isLoaded === true}
      error={followed?.error ?? null}
      hasMore={hasMore && wanted.value < MAX_ROWS}
      load={async () => {
        if (mirror === null) return;
        if (mirror.state.trades.length < wanted.value + PAGE_ROWS) await mirror.loadOlder();
        if (mirror.state.trades.length > wanted.value) {
          wanted.value = Math.min(MAX_ROWS, wanted.value + PAGE_ROWS);
        }
      }}
    />
  );
}

/** Ids sort as the chain does. */
function withUndone(rows: readonly TradeRow[], undone: readonly TradeRow[]): readonly TradeRow[] {
  if (undone.length === 0) return rows;
  const there = new Set(rows.map(({ id }) => id));
  const gone = undone.filter(({ id }) => !there.has(id));
  return [...rows, ...gone].sort((a, b) => (a.id < b.id ? 1 : -1));
}

interface FilteredTapeProps {
  readonly asset: string;
  readonly filter: Signal<RowFilter>;
  readonly followed: FollowedTrades;
}

/** New trades come from the mirror; the page requests older trades with the same filter. */
function FilteredTape({ asset, filter, followed }: FilteredTapeProps) {
  const { client } = usePage();
  const ownKey = useOwnKey();
  const pkh = filter.value.isOwn ? ownKey : filter.value.maker;
  const older = useSignal<TradesPage | null>(null);
  const query = queryOf(asset, PAGE_ROWS, filter.value, pkh);
  const live = followed?.mirror.state.trades ?? [];
  const first = useQuery(
    'filteredTrades',
    (signal) => tradesPage((asked) => client.trades.list(asked, { signal }), query),
    [JSON.stringify(query)],
  ).value;
  const shown = [...(first.data?.rows ?? []), ...(older.value?.rows ?? [])];
  const oldestLive = live.at(-1)?.id ?? '';
  // A rollback takes trades out of the mirror: where it reaches, it alone is asked.
  const before = live.length === 0 ? [] : shown.filter(({ id }) => id < oldestLive);
  const rows = [...live.filter((trade) => isWithin(trade, filter.value, pkh)), ...before];
  const next = older.value === null ? (first.data?.next ?? null) : older.value.next;
  return (
    <Tape
      rows={rows}
      filter={filter}
      isLoaded={first.data !== null && followed?.isLoaded === true}
      error={first.error ?? followed?.error ?? null}
      hasMore={next !== null && rows.length < MAX_ROWS}
      load={async () => {
        if (next === null) return;
        const list = (asked: TradesQuery) => client.trades.list(asked);
        const page = await tradesPage(list, { ...query, before: next });
        older.value = { rows: [...(older.value?.rows ?? []), ...page.rows], next: page.next };
      }}
    />
  );
}

interface TapeProps {
  readonly rows: readonly TradeRow[];
  readonly filter: Signal<RowFilter>;
  readonly isLoaded: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly load: () => Promise<void>;
}

function Tape({ rows, filter, isLoaded, error, hasMore, load }: TapeProps) {
  const list = useRef<HTMLOListElement>(null);
  const reach = useReach(rows.length);
  /** Id of the newest trade when the list came up: later trades are new. */
  const settled = useRef<string | null>(null);
  if (isLoaded) settled.current ??= rows[0]?.id ?? '';
  const isNews = ({ id }: TradeRow) => settled.current !== null && id > settled.current;
  return (
    <>
      <ol
        class="tape"
        aria-label={t.token.tradesNewestFirst}
        style={{ '--rows': roomFor(rows.length) }}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
        tabIndex={0}
        ref={list}
        onKeyDown={walk}
        onScroll={reach.onScroll}
      >
        {rows.slice(0, reach.rows).map((trade) => (
          <TapeRow
            key={trade.id}
            trade={trade}
            filter={filter}
            isNews={isNews(trade)}
            isUndone={undoneTrades.value.includes(trade)}
          />
        ))}
      </ol>
      <More
        list={list}
        label={t.token.olderTrades}
        words={t.token.newest(rows.length)}
        hasMore={hasMore}
        load={() => {
          reach.all();
          return load();
        }}
      />
      {error === null && isLoaded && rows.length === 0 && !hasMore && (
        <p class="empty">
          {isFiltered(filter.value) ? t.token.noFilteredTrades : t.token.noTrades}
        </p>
      )}
      {error !== null && <ErrorBox error={error} />}
    </>
  );
}

/** Rows down, controls to the right. */
const STEPS: Readonly<Record<string, readonly [down: number, right: number]>> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
};

function titleOf(price: string, time: number, pkh: string): string {
  const trade = { price: localized(price), when: moment(time) };
  return pkh === ''
    ? t.token.tradeTitle(trade)
    : t.token.tradeTitleOf({ ...trade, key: ends(pkh) });
}

/** The list is one tab stop; arrow keys move between the wallets and transactions of its rows. */
function walk(event: TargetedKeyboardEvent<HTMLOListElement>): void {
  const [down, right] = STEPS[event.key] ?? [0, 0];
  const rows: Element[] = Array.from(event.currentTarget.children);
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const column = controlsOf(rows[at]).indexOf(document.activeElement);
  const controls = controlsOf(rows[at + down]);
  const next = controls[Math.max(0, column) + right] ?? (down === 0 ? null : controls.at(-1));
  if (!(next instanceof HTMLElement) || down + right === 0) return;
  event.preventDefault();
  next.focus();
}

function controlsOf(row: Element | undefined): readonly (Element | null)[] {
  return Array.from(row?.querySelectorAll('a, button') ?? []);
}

interface TapeRowProps {
  readonly trade: TradeRow;
  readonly filter: Signal<RowFilter>;
  /** When it came up. */
  readonly isNews: boolean;
  /** A fork took it away. */
  readonly isUndone: boolean;
}

const TapeRow = memo(({ trade, filter, isNews, isUndone }: TapeRowProps) => {
  const element = useRef<HTMLLIElement>(null);
  const { id, side, price, baseAmount, quoteAmount, time, pkh, txHash } = trade;
  const isBuy = side === 'buy';
  useEffect(() => {
    if (isNews && element.current !== null) flash(element.current, isBuy ? 'up' : 'down');
  }, []);
  return (
    <li
      ref={element}
      data-key={id}
      class={isUndone ? 'undone' : ''}
      title={isUndone ? t.token.forks.undone : titleOf(price, time, pkh)}
    >
      <span class="unseen">
        {isUndone && `${t.token.forks.undone} `}
        {isBuy ? t.token.buyAt : t.token.sellAt}{' '}
      </span>
      <span class={`num ${isBuy ? 'up' : 'down'}`}>
        {isBuy ? '▲' : '▼'} {money(price, (text) => columnPrice(text, 4))}
      </span>
      <span class="num">{short(baseAmount)}</span>
      <span class="num">{coins(quoteAmount)}</span>
      {pkh === '' ? (
        <span />
      ) : (
        <button
          type="button"
          class="maker code dim"
          tabIndex={-1}
          aria-label={t.token.tradesOf({ wallet: pkh.slice(-MAKER_DIGITS) })}
          title={t.token.tradesOf({ wallet: ends(pkh) })}
          onClick={() => {
            filter.value = { ...filter.value, isOwn: false, maker: pkh };
          }}
        >
          {pkh.slice(-MAKER_DIGITS)}
        </button>
      )}
      <span class="num dim">
        <TxLink txHash={txHash} what={t.notices.txOfTrade} tabIndex={-1}>
          <Age since={time} />
        </TxLink>
      </span>
    </li>
  );
});
