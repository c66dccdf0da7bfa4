/** Tokens as a table that sorts by every column. On a phone each row becomes a card. */
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { Logo } from '../components/logo.tsx';
import { Age, Price } from '../components/numbers.tsx';
import { shortDecimal } from '../format.ts';
import { t } from '../messages.ts';
import { memo } from '../page.tsx';
import { routeHash } from '../route.ts';
import {
  COLUMNS,
  type Column,
  type MarketRow,
  type Sort,
  toggleWatched,
  watchlist,
} from './market.ts';

interface TickerTableProps {
  readonly items: readonly MarketRow[];
  readonly sort: Sort;
  readonly choose: (sort: Sort) => void;
}

export function TickerTable({ items, sort, choose }: TickerTableProps) {
  return (
    <table class="tickers">
      <thead>
        <tr>
          <th class="col-star">
            <span class="unseen">{t.home.watch}</span>
          </th>
          <th class="col-token">{t.home.token}</th>
          {COLUMNS.map((column) => (
            <Heading key={column} column={column} sort={sort} choose={choose} />
          ))}
        </tr>
      </thead>
      <tbody class="pools" onKeyDown={walk}>
        {items.map((row) => (
          <Row key={row.asset} row={row} />
        ))}
      </tbody>
    </table>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** Arrow keys move from token to token. */
function walk(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = STEPS[event.key];
  const links: (Element | null)[] = Array.from(event.currentTarget.querySelectorAll('a.pool'));
  const at = links.indexOf(document.activeElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  const next = links[at + step];
  if (next instanceof HTMLElement) next.focus();
}

interface HeadingProps extends Omit<TickerTableProps, 'items'> {
  readonly column: Column;
}

function Heading({ column, sort, choose }: HeadingProps) {
  const isChosen = sort?.by === column;
  const isDown = isChosen && sort?.order === 'desc';
  return (
    <th
      class={`col-${column} num`}
      aria-sort={isChosen ? (isDown ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" onClick={() => choose({ by: column, order: isDown ? 'asc' : 'desc' })}>
        {t.home.columns[column]}
        <span aria-hidden="true" class="arrow">
          {isChosen ? (isDown ? '▼' : '▲') : ''}
        </span>
      </button>
    </th>
  );
}

/** Drawn again only where its row is another object. */
const Row = memo(({ row }: { readonly row: MarketRow }) => {
  const { asset, name, ticker, logoCID, price, progress } = row;
  return (
    <tr data-key={asset}>
      <td class="col-star">
        <Star asset={asset} name={name} />
      </td>
      <th scope="row" class="col-token">
        <a class="pool who" href={routeHash({ at: 'token', asset })}>
          <Logo asset={asset} ticker={ticker} logoCID={logoCID} />
          <bdi class="name cut">{name}</bdi>
          <bdi class="ticker cut dim">{ticker}</bdi>
        </a>
      </th>
      <Cell column="price">{price === null ? '–' : <Price value={price} />}</Cell>
      <Cell column="marketCap">{shortDecimal(row.marketCap)}</Cell>
      <Cell column="liquidity">{shortDecimal(row.liquidity)}</Cell>
      <Cell column="volume">{shortDecimal(row.volume)}</Cell>
      <Cell column="trades">{row.trades}</Cell>
      <Cell column="progress">
        <span class="meter" style={{ '--filled': `${progress}%` }}>
          <span />
        </span>
        <span>{progress}%</span>
      </Cell>
      <Cell column="createdOn">
        <Age since={row.createdOn} />
      </Cell>
      <Cell column="lastTradeTime">
        <Age since={row.lastTradeTime} />
      </Cell>
    </tr>
  );
});

/** The label is seen where there is no line of headings above. */
function Cell(props: { readonly column: Column; readonly children: ComponentChildren }) {
  const { column, children } = props;
  return (
    <td class={`col-${column} num`} data-label={t.home.short[column] ?? ''}>
      {children}
    </td>
  );
}

function Star({ asset, name }: { readonly asset: string; readonly name: string }) {
  const isWatched = watchlist.value.includes(asset);
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isWatched}
      aria-label={t.home.watchOne(name)}
      onClick={() => toggleWatched(asset)}
    >
      {isWatched ? '★' : '☆'}
    </button>
  );
}

const SKELETON_ROWS = 8;

/** In the place of rows that are on their way. */
export function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label={t.home.loading}>
      {Array.from({ length: SKELETON_ROWS }, (_, row) => (
        <div key={row} />
      ))}
    </div>
  );
}
