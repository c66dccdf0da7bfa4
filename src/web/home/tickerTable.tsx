/** Tokens as a table that sorts by every column. On a phone each row becomes a card. */
import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import type { Ticker } from '../../client/types.ts';
import { Logo } from '../components/logo.tsx';
import { Age, Percent, Price } from '../components/numbers.tsx';
import { Spark } from '../components/spark.tsx';
import { Star } from '../components/star.tsx';
import { shortMoney } from '../fiat.ts';
import { ends, shortPercent } from '../format.ts';
import { t } from '../messages.ts';
import { memo } from '../page.tsx';
import { routeHash } from '../route.ts';
import { COLUMNS, type Column, type Sort } from './market.ts';
import type { TickerRows } from './tickerRows.ts';

interface TickerTableProps {
  /** Asset ids. */
  readonly order: readonly string[];
  readonly rows: TickerRows;
  /** null: the reader's own order. */
  readonly sort: Sort | null;
  readonly choose: (sort: Sort) => void;
}

export function TickerTable({ order, rows, sort, choose }: TickerTableProps) {
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
          <th class="col-spark">{t.home.day}</th>
        </tr>
      </thead>
      <Body order={order} rows={rows} />
    </table>
  );
}

/** Drawn again only in another order. */
const Body = memo(({ order, rows }: Pick<TickerTableProps, 'order' | 'rows'>) => (
  <tbody class="pools" onKeyDown={walk}>
    {order.map((asset) => {
      const row = rows.find(asset);
      return row && <Row key={asset} row={row} />;
    })}
  </tbody>
));

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

interface HeadingProps extends Pick<TickerTableProps, 'sort' | 'choose'> {
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
      <button
        type="button"
        title={t.home.meanings[column]}
        onClick={() => choose({ by: column, order: isDown ? 'asc' : 'desc' })}
      >
        {t.home.columns[column]}
        <span aria-hidden="true" class="arrow">
          {isChosen ? (isDown ? '▼' : '▲') : ''}
        </span>
      </button>
    </th>
  );
}

/** Drawn again only with another ticker. */
const Row = memo(({ row: { value: row } }: { readonly row: ReadonlySignal<Ticker> }) => {
  const { asset, ticker, logoCID } = row;
  const name = nameOf(row);
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
      <Cell column="price">
        <Price value={row.price} />
      </Cell>
      <Cell column="change5m">
        <Percent value={row.change5m} />
      </Cell>
      <Cell column="change1h">
        <Percent value={row.change1h} />
      </Cell>
      <Cell column="change24h">
        <Percent value={row.change24h} />
      </Cell>
      <Cell column="volume24h">{shortMoney(row.volume24h)}</Cell>
      <Cell column="marketCap">{row.marketCap === null ? '–' : shortMoney(row.marketCap)}</Cell>
      <Cell column="liquidity">{row.liquidity === null ? '–' : shortMoney(row.liquidity)}</Cell>
      <Cell column="traders24h">{row.traders24h ?? '–'}</Cell>
      <Cell column="createdOn">{row.createdOn === null ? '–' : <Age since={row.createdOn} />}</Cell>
      <Cell column="progress">
        <Progress ticker={row} />
      </Cell>
      <td class="col-spark">
        <Spark closes={row.spark.closes} />
      </td>
    </tr>
  );
});

/** Replayed tokens have no name. */
export function nameOf({ name, asset }: Pick<Ticker, 'name' | 'asset'>): string {
  return name === '' ? ends(asset, 8) : name;
}

function Progress({ ticker: { progress, graduated } }: { readonly ticker: Ticker }) {
  if (graduated === true) return <span class="mark">{t.home.graduated}</span>;
  if (progress === null) return '–';
  return (
    <>
      <span class="meter" style={{ '--filled': `${progress}%` }}>
        <span />
      </span>
      <span>{shortPercent(progress)}%</span>
    </>
  );
}

/** The label is seen where there is no line of headings above. */
function Cell(props: { readonly column: Column; readonly children: ComponentChildren }) {
  const { column, children } = props;
  return (
    <td class={`col-${column} num`} data-label={t.home.short[column] ?? ''}>
      {children}
    </td>
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
