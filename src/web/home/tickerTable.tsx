/** Tokens as a table that sorts by every column. On a phone each row becomes a card. */
import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import type { Ticker } from '../../client/types.ts';
import { Logo } from '../components/logo.tsx';
import { Age, Change, Price } from '../components/numbers.tsx';
import { Spark } from '../components/spark.tsx';
import { Star } from '../components/star.tsx';
import { TrustBadges } from '../components/trustBadges.tsx';
import { shortMoney } from '../fiat.ts';
import { grouped, shortPercent } from '../format.ts';
import { t } from '../messages.ts';
import { memo, useRowsInSteps } from '../page.tsx';
import { routeHash } from '../route.ts';
import { type Column, isSparkShown, type Sort, shownColumns } from './market.ts';
import { lettersOf, nameOf, tickerOf } from './names.ts';
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
  const columns = shownColumns.value;
  const widths = [...columns, ...(isSparkShown.value ? ['spark'] : [])];
  return (
    <table
      class="tickers"
      style={{ '--columns': widths.map((name) => `var(--${name})`).join(' ') }}
    >
      <thead>
        <tr>
          <th class="col-star">
            <span class="unseen">{t.home.watch}</span>
          </th>
          <th class="col-token">{t.home.token}</th>
          {columns.map((column) => (
            <Heading key={column} column={column} sort={sort} choose={choose} />
          ))}
          {isSparkShown.value && <th class="col-spark">{t.home.day}</th>}
        </tr>
      </thead>
      <Body order={order} rows={rows} />
    </table>
  );
}

/** Drawn again only in another order. */
const Body = memo(({ order, rows }: Pick<TickerTableProps, 'order' | 'rows'>) => {
  const drawn = useRowsInSteps(order.length);
  return (
    <tbody class="pools" style={{ '--rows': order.length }} onKeyDown={walk}>
      {order.slice(0, drawn).map((asset) => {
        const row = rows.find(asset);
        return row && <Row key={asset} row={row} />;
      })}
    </tbody>
  );
});

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

/** Drawn again only with another ticker. Labels are seen where there is no line of headings. */
const Row = memo(({ row: { value: row } }: { readonly row: ReadonlySignal<Ticker> }) => {
  const { asset, logoCID } = row;
  const name = nameOf(row);
  return (
    <tr data-key={asset}>
      <td class="col-star">
        <Star asset={asset} name={name} />
      </td>
      <th scope="row" class="col-token">
        <a class="pool who" href={routeHash({ at: 'token', asset })}>
          <Logo asset={asset} ticker={lettersOf(row)} logoCID={logoCID} />
          <bdi class="name cut">{name}</bdi>
          <span class="below">
            <bdi class="ticker cut dim">{tickerOf(row)}</bdi>
            <TrustBadges ticker={row} isShort />
          </span>
        </a>
      </th>
      {shownColumns.value.map((column) => (
        <td key={column} class={`col-${column} num`} data-label={t.home.short[column] ?? ''}>
          {CELLS[column](row)}
        </td>
      ))}
      {isSparkShown.value && (
        <td class="col-spark">
          <Spark ticker={row} />
        </td>
      )}
    </tr>
  );
});

const orNone = (decimal: string | null) => (decimal === null ? '–' : shortMoney(decimal));
const percentOrNone = (percent: string | null) =>
  percent === null ? '–' : `${shortPercent(percent)}%`;
const CELLS: Readonly<Record<Column, (ticker: Ticker) => ComponentChildren>> = {
  price: ({ price }) => <Price value={price} />,
  change5m: (ticker) => <Change ticker={ticker} window="5m" />,
  change1h: (ticker) => <Change ticker={ticker} window="1h" />,
  change24h: (ticker) => <Change ticker={ticker} window="24h" />,
  volume24h: ({ volume24h }) => shortMoney(volume24h),
  marketCap: ({ marketCap }) => orNone(marketCap),
  liquidity: ({ liquidity }) => orNone(liquidity),
  traders24h: ({ traders24h }) => traders24h ?? '–',
  createdOn: ({ createdOn }) => (createdOn === null ? '–' : <Age since={createdOn} />),
  holders: ({ holders }) => (holders === null ? '–' : grouped(String(holders))),
  top10Percent: ({ top10Percent }) => percentOrNone(top10Percent),
  authorPercent: ({ authorPercent }) => percentOrNone(authorPercent),
  snipersPercent: ({ snipersPercent }) => percentOrNone(snipersPercent),
  progress: (ticker) => <Progress ticker={ticker} />,
};

function Progress({ ticker: { progress, graduated } }: { readonly ticker: Ticker }) {
  if (graduated === true) return <span class="mark">{t.home.graduated}</span>;
  if (progress === null) return '–';
  return (
    <span class="curve-part">
      <span class="meter" style={{ '--filled': `${progress}%` }}>
        <span />
      </span>
      <span>{shortPercent(progress)}%</span>
    </span>
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
